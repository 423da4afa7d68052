"""A question gives the same answer with what a store offers, and without."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import CALC, DAY, HOUR, NOW, FourMethods, a_run, a_window, put
from tests.core.questions.test_damage_properties import requirements, store_of, stores
from ubunye_core import Requirement, Status, check_upstream, job_health
from ubunye_core.stores import MemoryStore
from ubunye_core.times import utc_now

OCTOBER = {"month": "2026-10"}
MOMENTS = st.sampled_from([NOW, NOW - HOUR, NOW - DAY, NOW + DAY]) | st.builds(utc_now)


@settings(max_examples=300, deadline=None)
@given(stores(windows=True), st.sampled_from([None, "2h", "3d"]), MOMENTS)
def test_health_is_the_same(held, max_age, now) -> None:
    store = store_of(*held)
    asked = {"now": now, "max_age": max_age, "stuck_after": "1h"}
    quick = job_health(CALC, store=store, **asked)
    assert quick == job_health(CALC, store=FourMethods(store), **asked)


@settings(max_examples=300, deadline=None)
@given(stores(), requirements(), MOMENTS)
def test_a_gate_says_the_same(held, requirement, now) -> None:
    store = store_of(*held)
    quick = check_upstream(requirement, variables=OCTOBER, store=store, now=now)
    assert quick == check_upstream(
        requirement, variables=OCTOBER, store=FourMethods(store), now=now
    )


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
