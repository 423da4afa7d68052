"""Whatever a store holds, and whatever of it is damaged: an answer stays, or becomes UNKNOWN."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import CALC, NOW, a_run, a_window, an_attempt
from ubunye_core import OnFailed, Receipt, Requirement, Status, Verdict, check_upstream, job_health
from ubunye_core.runids import new_run_id
from ubunye_core.stores import MemoryStore

OCTOBER = {"month": "2026-10"}
_names = itertools.count()

VARIABLES: tuple[dict[str, Any], ...] = (
    OCTOBER,
    {"month": "2026-10", "mode": "PROD"},
    {"month": "2026-10", "region": "eu"},
    {"month": "2026-09"},
    {"month": "2026-10", "signature_date": "***"},
    {"month": "***"},
    {},
)


@st.composite
def runs(draw: st.DrawFn, windows: bool = False) -> Receipt:
    """A run of the last four days; ids show their time, or do not."""
    ago = timedelta(minutes=draw(st.integers(0, 96 * 60)))
    status = draw(st.sampled_from(Status))
    beats = draw(st.sampled_from([None, timedelta(seconds=30), timedelta(minutes=10)]))
    run = a_run(
        status,
        ago=ago,
        took=timedelta(minutes=draw(st.integers(0, 600))),
        variables=draw(st.sampled_from(VARIABLES)),
        outcome="refused" if status is Status.SKIPPED and draw(st.booleans()) else None,
        heartbeat_every=beats,
        heartbeat_at=None if beats is None else NOW - ago / 2,
        orchestrator=draw(
            st.none()
            | st.builds(
                an_attempt, st.integers(1, 3), of=st.just(3), run=st.sampled_from(["s-1", "s-2"])
            )
        ),
        window=a_window(NOW - ago - timedelta(days=draw(st.integers(0, 9)))) if windows else None,
    )
    if draw(st.integers(0, 9)) == 0:
        run = replace(run, run_id=f"r-{next(_names)}")
    if draw(st.integers(0, 19)) == 0:
        start = NOW + timedelta(days=40_000)
        run = replace(run, started_at=start, ended_at=None, run_id=new_run_id(start))
    return run


@st.composite
def stores(draw: st.DrawFn, windows: bool = False) -> tuple[list[Receipt], set[str]]:
    """Runs of one task, and the ids of those that are damaged."""
    found = draw(st.lists(runs(windows), max_size=8, unique_by=lambda run: run.run_id))
    hit = draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    return found, {run.run_id for run, damaged in zip(found, hit, strict=True) if damaged}


def store_of(receipts: list[Receipt], damaged: set[str] = frozenset()) -> MemoryStore:  # type: ignore[assignment]
    store = MemoryStore()
    for receipt in receipts:
        store.save(receipt)
        if receipt.run_id in damaged:
            store.put_document(receipt.task, receipt.run_id, b'{"status": "success"')
    return store


def requirements() -> st.SearchStrategy[Requirement]:
    return st.builds(
        Requirement,
        st.just(CALC),
        st.sampled_from([None, ["month"], []]),
        max_age=st.sampled_from([None, "1d"]),
        on_failed=st.sampled_from(OnFailed),
        optional=st.booleans(),
    )


def unchanged_or_unknown(ask: Callable[[MemoryStore], Verdict], state: Any) -> None:
    receipts, damaged = state
    before = ask(store_of(receipts))
    after = ask(store_of(receipts, damaged))
    assert after is before or after is Verdict.UNKNOWN, (before, after)


@pytest.mark.slow
@given(stores(), requirements())
@settings(max_examples=300)
def test_damage_leaves_a_gate_as_it_was_or_makes_it_unknown(
    state: Any, requirement: Requirement
) -> None:
    def ask(store: MemoryStore) -> Verdict:
        return check_upstream(requirement, variables=OCTOBER, store=store, now=NOW).verdict

    unchanged_or_unknown(ask, state)


@pytest.mark.slow
@given(stores(), requirements())
@settings(max_examples=300)
def test_damage_never_meets_a_requirement_and_never_ends_a_wait(
    state: Any, requirement: Requirement
) -> None:
    receipts, damaged = state
    before, after = (
        check_upstream(requirement, variables=OCTOBER, store=store, now=NOW).requirements[0]
        for store in (store_of(receipts), store_of(receipts, damaged))
    )
    assert after.decided <= before.decided
    assert after.met <= before.met


def health_is_unchanged_or_unknown(state: Any, **asked: Any) -> None:
    """A stuck run older than the last success may be lost to damage: known, and documented."""
    receipts, damaged = state
    last = max((r.order for r in receipts if r.status is Status.SUCCESS), default=None)
    state = (
        receipts,
        {
            run.run_id
            for run in receipts
            if run.run_id in damaged
            and not (last and run.status is Status.RUNNING and run.order < last)
        },
    )
    unchanged_or_unknown(
        lambda store: job_health(CALC, store=store, now=NOW, **asked).verdict, state
    )


@pytest.mark.slow
@given(stores(), st.sampled_from([1, 2, 3]), st.sampled_from([None, "1d", "3d"]))
def test_damage_leaves_health_as_it_was_or_makes_it_unknown(
    state: Any, threshold: int, max_age: str | None
) -> None:
    health_is_unchanged_or_unknown(state, failure_threshold=threshold, max_age=max_age)


@pytest.mark.slow
@given(stores(windows=True), st.sampled_from(["1d", "3d", "9d"]))
def test_damage_leaves_freshness_by_windows_as_it_was_or_makes_it_unknown(
    state: Any, max_age: str
) -> None:
    health_is_unchanged_or_unknown(state, max_age=max_age)
