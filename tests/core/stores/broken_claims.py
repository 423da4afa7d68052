"""What every store does with a claim on record that cannot be read."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ubunye_core import StoreUnavailableError
from ubunye_core.stores import Claim, ClaimKey, GivesClaims
from ubunye_core.testing import A_TASK

OCTOBER = ClaimKey.of(A_TASK, {"month": "2026-10"})
MINUTE = timedelta(minutes=1)


def taken(store: GivesClaims) -> Claim:
    """The claim that is about to be damaged."""
    claim = store.claim(OCTOBER, run_id="run-1", lease=MINUTE)
    assert isinstance(claim, Claim)
    return claim


def is_given_to_nobody(store: GivesClaims, claim: Claim) -> None:
    """Not to another run, and not to the one that had it."""
    for ask in (
        lambda: store.claim(OCTOBER, run_id="run-1", lease=MINUTE),
        lambda: store.claim(OCTOBER, run_id="run-2", lease=MINUTE),
        lambda: store.holder(OCTOBER),
        lambda: store.renew(claim),
        lambda: store.release(claim),
    ):
        with pytest.raises(StoreUnavailableError, match=r"cannot be read\. Remove it"):
            ask()
