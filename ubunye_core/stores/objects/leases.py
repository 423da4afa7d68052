"""Claims in a bucket: one object for each, changed by compare-and-set only."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.claims import Claim, ClaimKey, Held
from ubunye_core.stores.deciding import (
    KnownClaim,
    decide_claim,
    holder_of,
    own_claim,
    reading_claim,
    renewable,
    the_time_decides,
)
from ubunye_core.stores.objects.bucket import Bucket, Stored
from ubunye_core.stores.objects.clock import A_SECOND, ServerClock
from ubunye_core.stores.objects.patience import turns
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.takeover import end_of_the_old_holder
from ubunye_core.times import parse_instant, utc_now

CLAIMS = ".claims"


@dataclass(frozen=True, kw_only=True)
class _Lease:
    """A claim as its object says; its lease begins when the object is written."""

    run_id: str
    token: int
    lease: timedelta
    claimed_at: datetime | None
    """None where an older version of this library wrote it."""
    is_open: bool = True
    is_lost: bool = False
    change: int = 0
    """Counts the writes, so that no two versions of the object are the same."""

    def encode(self) -> bytes:
        said = {
            "version": 1,
            "run_id": self.run_id,
            "token": self.token,
            "lease_seconds": self.lease.total_seconds(),
            "claimed_at": None if self.claimed_at is None else self.claimed_at.isoformat(),
            "is_open": self.is_open,
            "is_lost": self.is_lost,
            "change": self.change,
        }
        return json.dumps(said).encode()


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """An object of a claim, and what it says."""

    stored: Stored
    lease: _Lease
    claim: KnownClaim


class Leases:
    """The claims of a store."""

    def __init__(self, bucket: Bucket, store: ReceiptStore) -> None:
        self._bucket, self._store = bucket, store
        self.clock = ServerClock(bucket)

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        for _ in turns():
            seen = self._seen(key)
            known = None if seen is None else seen.claim
            now = self.clock.now() if the_time_decides(known, run_id) else None
            decided = decide_claim(known, key, run_id=run_id, lease=lease, now=now)
            if isinstance(decided, Held):
                return decided
            if seen is not None and decided.lost is not None:
                seen = self._ended(key, seen)
                if seen is None:
                    continue
            mine = _Lease(
                run_id=run_id, token=decided.claim.token, lease=lease, claimed_at=utc_now()
            )
            if self._write(key, mine, over=seen):
                return decided.claim
        raise self._too_many(key)

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""
        for _ in turns():
            seen = self._seen(claim.key)
            renewable(None if seen is None else seen.claim, claim)
            if seen and self._write(claim.key, replace(seen.lease, lease=claim.lease), over=seen):
                return
        raise self._too_many(claim.key)

    def release(self, claim: Claim) -> None:
        """Give the right back."""
        for _ in turns():
            seen = self._seen(claim.key)
            if seen is None or own_claim(seen.claim, claim) is None:
                return
            if self._write(claim.key, replace(seen.lease, is_open=False), over=seen):
                return
        raise self._too_many(claim.key)

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now."""
        seen = self._seen(key)
        if seen is None or not seen.claim.is_standing:
            return None
        return holder_of(seen.claim, key, self.clock.now())

    def _ended(self, key: ClaimKey, seen: _Seen) -> _Seen | None:
        """The claim of a run that can neither renew it nor succeed any more.

        None where another run has changed it first. One that dies in between leaves a claim that
        the next one takes over from here.
        """
        is_lost = seen.lease.is_lost
        if not is_lost and not self._write(key, replace(seen.lease, is_lost=True), over=seen):
            return None
        end_of_the_old_holder(self._store, key, seen.claim, now=self.clock.now())
        again = self._seen(key)
        return again if again is not None and again.lease.is_lost else None

    def _write(self, key: ClaimKey, lease: _Lease, *, over: _Seen | None) -> bool:
        """Write a claim in the place of what was seen; False where another has changed that."""
        change = 0 if over is None else over.lease.change + 1
        stored = None if over is None else over.stored
        return self._bucket.write(_key(key), replace(lease, change=change).encode(), over=stored)

    def _seen(self, key: ClaimKey) -> _Seen | None:
        """What is on record now."""
        stored = self._bucket.get(_key(key))
        if stored is None:
            return None
        with reading_claim(self._bucket.where(_key(key))):
            lease = _decoded(stored)
            claim = KnownClaim(
                run_id=lease.run_id,
                token=lease.token,
                claimed_at=lease.claimed_at or stored.modified,
                # Both times, this and the clock's, are known to the second only.
                until=stored.modified + A_SECOND + lease.lease,
                is_open=lease.is_open,
                is_lost=lease.is_lost,
            )
        return _Seen(stored=stored, lease=lease, claim=claim)

    def _too_many(self, key: ClaimKey) -> StoreUnavailableError:
        return StoreUnavailableError(f"The claim on {key.task} is changed by too many at once.")


def _key(key: ClaimKey) -> str:
    return f"{CLAIMS}/{key.task}/{key.digest}"


def _decoded(stored: Stored) -> _Lease:
    """What an object says. Anything may be raised where it is none of ours."""
    said = json.loads(stored.document)
    if said["version"] != 1:
        raise ValueError(said["version"])
    began = said.get("claimed_at")
    return _Lease(
        run_id=said["run_id"],
        token=int(said["token"]),
        lease=timedelta(seconds=float(said["lease_seconds"])),
        claimed_at=None if began is None else parse_instant(began),
        is_open=said["is_open"],
        is_lost=said["is_lost"],
        change=int(said["change"]),
    )
