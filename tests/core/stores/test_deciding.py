"""The rules about claims, without a store: who takes one, and what becomes of the one before."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubunye_core import StoreUnavailableError
from ubunye_core.errors import ClaimLostError
from ubunye_core.stores import (
    Claim,
    ClaimKey,
    Held,
    KnownClaim,
    Take,
    decide_claim,
    holder_of,
    own_claim,
    renewable,
)
from ubunye_core.stores.deciding import reading_claim, the_time_decides
from ubunye_core.testing import A_TASK, at

KEY = ClaimKey.of(A_TASK, {"month": "2026-10"})
LEASE = timedelta(minutes=15)
KNOWN = KnownClaim(run_id="run-1", token=7, claimed_at=at(0), until=at(15))
GIVEN_BACK, LOST = replace(KNOWN, is_open=False), replace(KNOWN, is_lost=True)


def decided(
    known: KnownClaim | None, by: str, now: datetime | None
) -> tuple[bool, str, int, bool, KnownClaim | None]:
    """Whether a run takes the claim; who has it then, its token, and what was decided besides."""
    answer = decide_claim(known, KEY, run_id=by, lease=LEASE, now=now)
    if isinstance(answer, Held):
        return False, answer.run_id, answer.token, False, None
    assert (answer.claim.key, answer.claim.lease) == (KEY, LEASE)
    return True, answer.claim.run_id, answer.claim.token, answer.is_again, answer.lost


@pytest.mark.parametrize(
    ("known", "by", "now", "answer"),
    [
        (None, "run-2", None, (True, "run-2", 1, False, None)),
        (KNOWN, "run-2", at(14), (False, "run-1", 7, False, None)),
        (KNOWN, "run-2", at(15), (True, "run-2", 8, False, KNOWN)),
        (KNOWN, "run-2", None, (False, "run-1", 7, False, None)),
        (KNOWN, "run-1", None, (True, "run-1", 7, True, None)),
        (KNOWN, "run-1", at(99), (True, "run-1", 7, True, None)),
        (GIVEN_BACK, "run-2", None, (True, "run-2", 8, False, None)),
        (GIVEN_BACK, "run-1", at(1), (True, "run-1", 8, False, None)),
        (LOST, "run-2", None, (True, "run-2", 8, False, LOST)),
        (LOST, "run-1", at(1), (True, "run-1", 8, False, LOST)),
    ],
    ids=lambda each: None,
)
def test_who_takes_a_claim(
    known: KnownClaim | None, by: str, now: datetime | None, answer: tuple[Any, ...]
) -> None:
    assert decided(known, by, now) == answer


def test_a_claim_whose_lease_may_or_may_not_be_over_is_not_taken() -> None:
    """No clock, no takeover: a store that could not look at one gives the claim to nobody."""
    assert the_time_decides(KNOWN, "run-2")
    assert isinstance(decide_claim(KNOWN, KEY, run_id="run-2", lease=LEASE, now=None), Held)
    assert holder_of(KNOWN, KEY, None) == KNOWN.held(KEY)


@pytest.mark.parametrize("known", [None, KNOWN, GIVEN_BACK, LOST])
@pytest.mark.parametrize("by", ["run-1", "run-2"])
def test_a_clock_is_only_looked_at_where_it_changes_the_answer(
    known: KnownClaim | None, by: str
) -> None:
    early, late = decided(known, by, at(1)), decided(known, by, at(99))
    assert the_time_decides(known, by) is (early != late)


@pytest.mark.parametrize("known", [None, GIVEN_BACK, LOST])
def test_what_is_not_standing_is_nobodys(known: KnownClaim | None) -> None:
    claim = Claim(key=KEY, run_id="run-1", token=7, lease=LEASE)
    assert holder_of(known, KEY, at(1)) is None
    assert own_claim(known, claim) is None
    with pytest.raises(ClaimLostError, match="run-1"):
        renewable(known, claim)


def test_the_holder_is_told_until_the_lease_is_over() -> None:
    last = KNOWN.until - timedelta(microseconds=1)
    assert holder_of(KNOWN, KEY, last) == KNOWN.held(KEY)
    assert holder_of(KNOWN, KEY, KNOWN.until) is None


def test_a_claim_is_its_runs_own_by_run_and_token() -> None:
    claim = Claim(key=KEY, run_id="run-1", token=7, lease=LEASE)
    assert renewable(KNOWN, claim) == own_claim(KNOWN, claim) == KNOWN
    assert own_claim(KNOWN, replace(claim, run_id="run-2")) is None
    assert own_claim(KNOWN, replace(claim, token=6)) is None


WRONG: list[dict[str, Any]] = [
    {"run_id": "../x"}, {"run_id": None}, {"token": 0}, {"token": None}, {"is_open": None},
    {"is_open": "false"}, {"is_lost": 0}, {"until": None}, {"until": at(1).replace(tzinfo=None)},
    {"claimed_at": at(1).replace(tzinfo=None)},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_is_no_claim_is_given_to_nobody(wrong: dict[str, Any]) -> None:
    with (
        pytest.raises(StoreUnavailableError, match=r"The claim of October cannot be read\."),
        reading_claim("of October"),
    ):
        replace(KNOWN, **wrong)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["claim", "renew", "release", "lose"]), st.integers(0, 2), st.integers(0, 9)
    ),
    max_size=40,
)


@settings(derandomize=True, max_examples=300)
@given(STEPS)
def test_one_run_has_a_claim_at_a_time_and_tokens_grow(steps: list[tuple[str, int, int]]) -> None:
    """Whatever runs do, and however late: nobody loses a claim before its lease is over."""
    known: KnownClaim | None = None
    claims: dict[str, Claim] = {}
    lease, minutes, greatest = timedelta(minutes=5), 0, 0
    for what, number, passed in steps:
        minutes += passed
        now, run_id = at(minutes), f"run-{number}"
        before = holder_of(known, KEY, now)
        if what == "claim":
            answer = decide_claim(known, KEY, run_id=run_id, lease=lease, now=now)
            assert isinstance(answer, Held) is (before is not None and before.run_id != run_id)
            if isinstance(answer, Take):
                assert answer.claim.token == greatest + (not answer.is_again)
                assert (answer.lost is None) is (answer.is_again or not (known and known.is_open))
                greatest, claims[run_id] = answer.claim.token, answer.claim
                known = answer.begun_at(now)
        elif what == "lose" and known is not None and now >= known.until:
            known = replace(known, is_lost=True)
        elif run_id in claims:
            own = own_claim(known, claims[run_id])
            assert own is None or (own.run_id, own.token) == (run_id, greatest)
            if own is not None and what == "renew":
                known = replace(own, until=now + lease)
            elif own is not None and what == "release":
                known = replace(own, is_open=False)
