"""A question gives the same answer with what a store offers, and without."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import (
    CALC,
    DAY,
    HOUR,
    MINUTE,
    NOW,
    FourMethods,
    a_run,
    a_window,
    put,
)
from tests.core.questions.test_damage_properties import requirements, store_of, stores
from ubunye_core import (
    Receipt,
    Requirement,
    Schedule,
    Status,
    Step,
    Window,
    check_upstream,
    job_health,
    window_states,
)
from ubunye_core.stores import MemoryStore
from ubunye_core.times import utc_now

OCTOBER = {"month": "2026-10"}
MOMENTS = st.sampled_from([NOW, NOW - HOUR, NOW - DAY, NOW + DAY]) | st.builds(utc_now)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(stores(windows=True), st.sampled_from([None, "2h", "3d"]), MOMENTS)
def test_health_is_the_same(held, max_age, now) -> None:
    store = store_of(*held)
    asked = {"now": now, "max_age": max_age, "stuck_after": "1h"}
    quick = job_health(CALC, store=store, **asked)
    assert quick == job_health(CALC, store=FourMethods(store), **asked)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(stores(), requirements(), MOMENTS)
def test_a_gate_says_the_same(held, requirement, now) -> None:
    store = store_of(*held)
    quick = check_upstream(requirement, variables=OCTOBER, store=store, now=now)
    assert quick == check_upstream(
        requirement, variables=OCTOBER, store=FourMethods(store), now=now
    )


HOURLY = Schedule(every="1h", variable="hour", min_rows=5)
BARE = Schedule(every="2h", variable="hour", of="current")


@st.composite
def runs_of_hours(draw: st.DrawFn) -> list[Receipt]:
    """Runs that say a window, or name an hour, or both, or neither."""
    runs = []
    for number in range(draw(st.integers(0, 12))):
        ago = timedelta(minutes=draw(st.integers(-30, 720)))
        start = (NOW - ago).replace(minute=0)
        runs.append(
            a_run(
                draw(st.sampled_from([*Status, Status.SUCCESS, Status.SUCCESS])),
                ago=ago,
                took=draw(st.sampled_from([HOUR * 0, MINUTE, HOUR])),
                run_id=draw(st.sampled_from([None, f"own-{number}"])),
                variables=draw(
                    st.sampled_from([{}, {"hour": f"{start:%Y-%m-%dT%H:%M}", "mode": "DEV"}])
                ),
                window=draw(st.sampled_from([None, Window(start=start, end=start + 2 * HOUR)])),
                outputs=draw(
                    st.sampled_from([(), (Step(name="o", direction="output", row_count=number),)])
                ),
                ended_by=draw(st.sampled_from([None, "reconcile"])),
                heartbeat_at=draw(st.sampled_from([None, NOW - ago + MINUTE])),
            )
        )
    return runs


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    runs_of_hours(), st.sampled_from([HOURLY, BARE, [replace(HOURLY, end=NOW - 4 * HOUR), BARE]]),
    MOMENTS | st.sampled_from([NOW - 3 * HOUR]), st.booleans(),
)  # fmt: skip
def test_windows_stand_the_same(runs, schedule, now, damaged) -> None:
    store = MemoryStore()
    put(store, *runs) if runs else None
    if damaged:
        store.put_document(CALC, "damaged", b"{")
    asked = {"schedule": schedule, "since": NOW - 10 * HOUR, "until": NOW + DAY, "now": now}
    quick = window_states(CALC, store=store, **asked)
    assert quick == window_states(CALC, store=FourMethods(store), **asked)


def test_the_states_of_windows_that_went_well_search_nothing() -> None:
    store = MemoryStore()
    put(store, *(a_run(ago=number * HOUR, window=a_window(NOW)) for number in range(1, 5)))
    watched = FourMethods(store)
    watched.summaries = store.summaries  # type: ignore[attr-defined]
    found = window_states(CALC, schedule=HOURLY, since=2 * HOUR, store=watched, now=NOW)
    assert [len(each.runs) for each in found.windows] == [4, 4]
    assert watched.calls == []


def test_a_gate_that_is_met_searches_nothing() -> None:
    store = MemoryStore()
    put(store, a_run("success", ago=2 * HOUR), a_run("error", ago=HOUR))
    watched = FourMethods(store)
    watched.success_by_batch = store.success_by_batch  # type: ignore[attr-defined]
    answer = check_upstream(Requirement(task=CALC), variables=OCTOBER, store=watched, now=NOW)
    assert answer
    assert "A later run of the batch" in answer.reason
    assert watched.calls == []


def test_the_health_of_well_tasks_reads_no_runs() -> None:
    store = MemoryStore()
    for number in range(3):
        put(store, a_run("success", task=f"pay/monthly/t{number}"))
    put(store, a_run("error", task="pay/monthly/t3"))
    watched = FourMethods(store)
    watched.settled = store.settled  # type: ignore[attr-defined]
    watched.tasks = store.tasks  # type: ignore[attr-defined]
    found = job_health("pay/*/*", store=watched)
    assert [bool(task) for task in found.tasks] == [True, True, True, False]
    assert watched.calls == ["list_runs 3", "list_runs 50"]  # no success is among three


def test_the_newest_window_counts_wherever_its_success_lies() -> None:
    store = MemoryStore()
    newest = a_run("success", ago=40 * DAY, window=a_window(NOW - HOUR))
    put(store, newest)
    for number in range(60):
        start = timedelta(days=30, hours=number)
        put(store, a_run("success", ago=start, window=a_window(NOW - 90 * DAY)))
    for each in (store, FourMethods(store)):
        found = job_health(CALC, store=each, now=NOW, max_age="2h")
        assert found, found.reason
        assert found.tasks[0].last_status is Status.SUCCESS
