"""The rules about claims: who takes one, who may renew it or give it back, and who has it.

Every store asks this under a lock of its own, or before a write of which the store elects one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from ubunye_core.errors import ClaimLostError, StoreUnavailableError
from ubunye_core.names import check_run_id
from ubunye_core.stores.claims import Claim, ClaimKey, Held
from ubunye_core.times import as_utc


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownClaim:
    """The latest claim of a key, as a store has it on record; it stays for its token.

    What is no claim is refused by a ``ValueError`` or ``TypeError``; see ``reading_claim``.
    """

    run_id: str
    token: int
    claimed_at: datetime
    """When its run took it, or took it again."""
    until: datetime
    """When its lease is over for certain, by the clock that the store goes by."""
    is_open: bool = True
    """Whether it was not given back."""
    is_lost: bool = False
    """Whether another run is about to take it over, so that it cannot be renewed any more."""

    def __post_init__(self) -> None:
        check_run_id(self.run_id)
        as_utc(self.claimed_at)
        as_utc(self.until)
        if self.token < 1 or {type(self.is_open), type(self.is_lost)} != {bool}:
            raise ValueError("it is no claim")

    @property
    def is_standing(self) -> bool:
        """Whether its run has it, unless its lease is over."""
        return self.is_open and not self.is_lost

    def held(self, key: ClaimKey) -> Held:
        """The answer to others while its run has it."""
        return Held(key=key, run_id=self.run_id, token=self.token, until=self.until)


@dataclass(frozen=True, kw_only=True, slots=True)
class Take:
    """The claim is to be taken: what to write, if nobody else writes first."""

    claim: Claim
    is_again: bool = False
    """Whether its run has it already, and begins its lease anew."""
    lost: KnownClaim | None = None
    """The claim that is taken over: first its run is ended (``end_of_the_old_holder``)."""

    def begun_at(self, now: datetime) -> KnownClaim:
        """The claim on record, where its lease begins at this moment."""
        claim = self.claim
        until = now + claim.lease
        return KnownClaim(run_id=claim.run_id, token=claim.token, claimed_at=now, until=until)


def decide_claim(
    known: KnownClaim | None,
    key: ClaimKey,
    *,
    run_id: str,
    lease: timedelta,
    now: datetime | None,
) -> Take | Held:
    """Whether a run may take a claim.

    Args:
        known: The latest claim of the key; None where it was never claimed.
        key: What is claimed.
        run_id: By which run.
        lease: For how long.
        now: The clock that the store goes by. None where it does not matter
            (``the_time_decides``) or cannot be told: then no lease is over.
    """
    if known is None:
        return Take(claim=Claim(key=key, run_id=run_id, token=1, lease=lease))
    if known.is_standing and known.run_id == run_id:
        again = Claim(key=key, run_id=run_id, token=known.token, lease=lease)
        return Take(claim=again, is_again=True)
    if the_time_decides(known, run_id) and (now is None or now < known.until):
        return known.held(key)
    next_one = Claim(key=key, run_id=run_id, token=known.token + 1, lease=lease)
    return Take(claim=next_one, lost=known if known.is_open else None)


def the_time_decides(known: KnownClaim | None, run_id: str) -> bool:
    """Whether a run may take a claim if its lease is over, and only then.

    For stores that look at a clock only where it matters.
    """
    return known is not None and known.is_standing and known.run_id != run_id


def own_claim(known: KnownClaim | None, claim: Claim) -> KnownClaim | None:
    """What is on record, if it is still this claim; else there is nothing to renew or give back.

    A lease that is over changes nothing, as long as nobody has taken the claim over.
    """
    if known is None or not known.is_standing:
        return None
    return known if (known.run_id, known.token) == (claim.run_id, claim.token) else None


def renewable(known: KnownClaim | None, claim: Claim) -> KnownClaim:
    """What is on record, if it is still this claim.

    Raises:
        ClaimLostError: another run has it, or it was given back.
    """
    own = own_claim(known, claim)
    if own is None:
        raise ClaimLostError(f"Run {claim.run_id} has lost its claim on {claim.key.task}.")
    return own


def holder_of(known: KnownClaim | None, key: ClaimKey, now: datetime | None) -> Held | None:
    """Who has the right now; None where it is free. ``now``: as for ``decide_claim``."""
    if known is None or not known.is_standing:
        return None
    return None if now is not None and now >= known.until else known.held(key)


@contextlib.contextmanager
def reading_claim(where: str) -> Iterator[None]:
    """A claim that cannot be understood is given to nobody.

    Args:
        where: The place of its record, for people.

    Raises:
        StoreUnavailableError: what is done here could make no claim of that record.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        raise StoreUnavailableError(
            f"The claim {where} cannot be read.",
            hint="Remove it when no run of this batch is under way.",
        ) from None
