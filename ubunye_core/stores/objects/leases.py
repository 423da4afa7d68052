"""Claims in a bucket: one object for each, changed by compare-and-set only."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.names import is_segment
from ubunye_core.stores.claims import Claim, ClaimKey, Held, check_claim
from ubunye_core.stores.objects.bucket import Bucket, Stored
from ubunye_core.stores.objects.clock import A_SECOND, ServerClock
from ubunye_core.stores.objects.patience import turns
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.refusals import claim_lost
from ubunye_core.stores.takeover import end_of_the_old_holder

CLAIMS = ".claims"


@dataclass(frozen=True, kw_only=True)
class _Lease:
    """A claim on record; its lease begins when the object was written, by the server's clock."""

    run_id: str
    token: int
    lease: timedelta
    is_open: bool = True
    is_lost: bool = False
    """The lease has run out, and another run is about to take over: it cannot be renewed."""
    change: int = 0
    """Counts the writes, so that no two versions of the object are the same."""

    def encode(self) -> bytes:
        return json.dumps(
            {
                "version": 1,
                "run_id": self.run_id,
                "token": self.token,
                "lease_seconds": self.lease.total_seconds(),
                "is_open": self.is_open,
                "is_lost": self.is_lost,
                "change": self.change,
            }
        ).encode()


class Leases:
    """The claims of a store."""

    def __init__(self, bucket: Bucket, store: ReceiptStore) -> None:
        self._bucket, self._store = bucket, store
        self.clock = ServerClock(bucket)

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        check_claim(run_id, lease)
        for _ in turns():
            stored = self._bucket.get(_key(key))
            if stored is None:
                mine = _Lease(run_id=run_id, token=1, lease=lease)
            else:
                known = self._decode(key, stored)
                mine = replace(
                    known, run_id=run_id, lease=lease, is_open=True, change=known.change + 1
                )
                if not known.is_open:
                    mine = replace(mine, token=known.token + 1, is_lost=False)
                elif known.run_id != run_id or known.is_lost:
                    if not known.is_lost and not self._is_over(stored, known):
                        return _held(key, stored, known)
                    stored = self._ended(key, stored, known)
                    if stored is None:
                        continue
                    change = self._decode(key, stored).change + 1
                    mine = replace(mine, token=known.token + 1, is_lost=False, change=change)
            if self._bucket.write(_key(key), mine.encode(), over=stored):
                return Claim(key=key, run_id=run_id, token=mine.token, lease=lease)
        raise self._too_many(key)

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""
        for _ in turns():
            stored, known = self._own(claim)
            if stored is None or known is None:
                raise claim_lost(claim)
            anew = replace(known, lease=claim.lease, change=known.change + 1)
            if self._bucket.write(_key(claim.key), anew.encode(), over=stored):
                return
        raise self._too_many(claim.key)

    def release(self, claim: Claim) -> None:
        """Give the right back."""
        for _ in turns():
            stored, known = self._own(claim)
            if stored is None or known is None:
                return
            given_back = replace(known, is_open=False, change=known.change + 1)
            if self._bucket.write(_key(claim.key), given_back.encode(), over=stored):
                return
        raise self._too_many(claim.key)

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now."""
        stored = self._bucket.get(_key(key))
        if stored is None:
            return None
        known = self._decode(key, stored)
        if not known.is_open or known.is_lost or self._is_over(stored, known):
            return None
        return _held(key, stored, known)

    def _ended(self, key: ClaimKey, stored: Stored, known: _Lease) -> Stored | None:
        """The claim of a run that can neither renew it nor succeed any more.

        None where another run has changed it first. One that dies in between leaves a claim that
        the next one takes over from here.
        """
        if not known.is_lost:
            lost = replace(known, is_lost=True, change=known.change + 1)
            if not self._bucket.write(_key(key), lost.encode(), over=stored):
                return None
        end_of_the_old_holder(
            self._store,
            _held(key, stored, known),
            claimed_at=stored.modified,
            now=self.clock.now(),
        )
        again = self._bucket.get(_key(key))
        if again is None or not self._decode(key, again).is_lost:
            return None
        return again

    def _is_over(self, stored: Stored, known: _Lease) -> bool:
        """Whether a lease is over for certain: both times are known to the second only."""
        return self.clock.now() >= stored.modified + A_SECOND + known.lease

    def _own(self, claim: Claim) -> tuple[Stored | None, _Lease | None]:
        """The claim on record, if it is still this one."""
        stored = self._bucket.get(_key(claim.key))
        if stored is None:
            return None, None
        known = self._decode(claim.key, stored)
        is_own = known.is_open and not known.is_lost
        is_own = is_own and (known.run_id, known.token) == (claim.run_id, claim.token)
        return stored, known if is_own else None

    def _decode(self, key: ClaimKey, stored: Stored) -> _Lease:
        """The claim in an object.

        Raises:
            StoreUnavailableError: it cannot be understood, so nobody gets it.
        """
        try:
            known = json.loads(stored.document)
            lease = _Lease(
                run_id=known["run_id"],
                token=int(known["token"]),
                lease=timedelta(seconds=float(known["lease_seconds"])),
                is_open=bool(known["is_open"]),
                is_lost=bool(known["is_lost"]),
                change=int(known["change"]),
            )
            good = known["version"] == 1 and is_segment(lease.run_id)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            good = False
        if not good:
            raise StoreUnavailableError(
                f"The claim {self._bucket.where(_key(key))} cannot be read.",
                hint="Remove it when no run of this batch is under way.",
            )
        return lease

    def _too_many(self, key: ClaimKey) -> StoreUnavailableError:
        return StoreUnavailableError(f"The claim on {key.task} is changed by too many at once.")


def _key(key: ClaimKey) -> str:
    return f"{CLAIMS}/{key.task}/{key.digest}"


def _held(key: ClaimKey, stored: Stored, known: _Lease) -> Held:
    until = stored.modified + A_SECOND + known.lease
    return Held(key=key, run_id=known.run_id, token=known.token, until=until)
