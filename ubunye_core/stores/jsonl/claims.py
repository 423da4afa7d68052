"""Claims as events of a ledger, by the lock that its writers hold."""

from __future__ import annotations

from datetime import timedelta

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.claims import Claim, ClaimKey, Held
from ubunye_core.stores.deciding import KnownClaim, decide_claim, holder_of, own_claim, renewable
from ubunye_core.stores.jsonl.events import Claimed, What, claimed_line
from ubunye_core.stores.jsonl.ledger import Change, Ledger
from ubunye_core.stores.jsonl.reading import Reading
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.takeover import end_of_the_old_holder
from ubunye_core.times import utc_now


class LedgerClaims:
    """The claims of a ledger's store. Leases go by the clocks of those who write."""

    def __init__(self, ledger: Ledger, store: ReceiptStore) -> None:
        self._ledger, self._store = ledger, store

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        return self._ledger.change(lambda change: self._claim(change, key, run_id, lease))

    def _claim(self, change: Change, key: ClaimKey, run_id: str, lease: timedelta) -> Claim | Held:
        now = utc_now()
        decided = decide_claim(_known(change, key), key, run_id=run_id, lease=lease, now=now)
        if isinstance(decided, Held):
            return decided
        if decided.lost is not None:
            end_of_the_old_holder(self._store, key, decided.lost, now=now)
        _record(change, What.CLAIM, decided.claim, lease)
        return decided.claim

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""

        def work(change: Change) -> None:
            renewable(_known(change, claim.key), claim)
            _record(change, What.RENEW, claim, claim.lease)

        self._ledger.change(work, makes=False)

    def release(self, claim: Claim) -> None:
        """Give the right back."""

        def work(change: Change) -> None:
            if own_claim(_known(change, claim.key), claim) is not None:
                _record(change, What.RELEASE, claim, timedelta(0))

        self._ledger.change(work, makes=False)

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now."""
        return holder_of(self._ledger.ask(lambda reading: _known(reading, key)), key, utc_now())


def _known(reading: Reading, key: ClaimKey) -> KnownClaim | None:
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


def _record(change: Change, what: What, claim: Claim, lease: timedelta) -> None:
    now, key = utc_now(), claim.key
    known = KnownClaim(run_id=claim.run_id, token=claim.token, claimed_at=now, until=now + lease)
    change.append(claimed_line(Claimed(what, key.task, key.digest, known)))
