"""Claims as events of a ledger, by the lock that its writers hold."""

from __future__ import annotations

from datetime import datetime, timedelta

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.claims import Claim, ClaimKey, Held, check_claim
from ubunye_core.stores.jsonl.events import Claimed, What, claimed_line
from ubunye_core.stores.jsonl.index import ClaimState
from ubunye_core.stores.jsonl.ledger import Change, Ledger
from ubunye_core.stores.jsonl.reading import Reading
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.refusals import claim_lost
from ubunye_core.stores.takeover import end_of_the_old_holder
from ubunye_core.times import utc_now


class LedgerClaims:
    """The claims of a ledger's store. Leases go by the clocks of those who write."""

    def __init__(self, ledger: Ledger, store: ReceiptStore) -> None:
        self._ledger, self._store = ledger, store

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        check_claim(run_id, lease)
        return self._ledger.change(lambda change: self._claim(change, key, run_id, lease))

    def _claim(self, change: Change, key: ClaimKey, run_id: str, lease: timedelta) -> Claim | Held:
        known, now, token = _state(change, key), utc_now(), 1
        if known is not None:
            if known.is_held_at(now) and known.run_id != run_id:
                return _held(key, known)
            if known.is_open and known.run_id != run_id:
                end_of_the_old_holder(
                    self._store, _held(key, known), claimed_at=known.claimed_at, now=now
                )
            again = known.is_open and known.run_id == run_id
            token = known.token if again else known.token + 1
        _record(change, What.CLAIM, key, run_id, token, lease)
        return Claim(key=key, run_id=run_id, token=token, lease=lease)

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""

        def work(change: Change) -> None:
            if _own(change, claim) is None:
                raise claim_lost(claim)
            _record(change, What.RENEW, claim.key, claim.run_id, claim.token, claim.lease)

        self._ledger.change(work)

    def release(self, claim: Claim) -> None:
        """Give the right back."""

        def work(change: Change) -> None:
            if _own(change, claim) is not None:
                nothing = timedelta(0)
                _record(change, What.RELEASE, claim.key, claim.run_id, claim.token, nothing)

        self._ledger.change(work)

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now."""
        known = self._ledger.ask(lambda reading: _state(reading, key))
        return _held(key, known) if known is not None and known.is_held_at(utc_now()) else None


def _state(reading: Reading, key: ClaimKey) -> ClaimState | None:
    """The claim on record.

    Raises:
        StoreUnavailableError: a line that cannot be read may tell of another one.
    """
    place, index = (key.task, key.digest), reading.index
    lines = [stray.line for stray in index.strays[:1]]
    if place in index.broken_claims:
        lines.append(index.broken_claims[place].line)
    if reading.torn is not None and not reading.torn.is_cut_short:
        lines.append(reading.torn.line)
    if not lines:
        return index.claims.get(place)
    line = max(lines)
    raise StoreUnavailableError(
        f"{reading.where(line)} cannot be read, and may tell who has the claim on {key.task}.",
        hint="Nobody can claim here until that line is taken out, or another ledger is used.",
    )


def _own(change: Change, claim: Claim) -> ClaimState | None:
    """The claim on record, if it is still this one."""
    known = _state(change, claim.key)
    return known if known and known.is_open and known.token == claim.token else None


def _record(
    change: Change, what: What, key: ClaimKey, run_id: str, token: int, lease: timedelta
) -> None:
    now: datetime = utc_now()
    event = Claimed(what, key.task, key.digest, run_id, token, at=now, until=now + lease)
    change.append(claimed_line(event))


def _held(key: ClaimKey, known: ClaimState) -> Held:
    return Held(key=key, run_id=known.run_id, token=known.token, until=known.until)
