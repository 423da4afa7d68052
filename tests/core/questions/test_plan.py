"""Which missed windows can be caught up, in which order."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import put
from tests.core.questions.test_windows import (
    BEAT,
    DAY,
    HOUR,
    MORNING,
    NIGHTLY,
    a_night,
    the_morning,
)
from ubunye_core import ConfigError, Status, StoreUnavailableError, Verdict, Window
from ubunye_core.questions.plan import Plan, plan_backfill
from ubunye_core.questions.planned import Action, ToCatchUp
from ubunye_core.runids import new_run_id
from ubunye_core.schedules import Schedule
from ubunye_core.stores import MemoryStore, open_store

LOAD, REPORT = "pay/monthly/calc", "pay/weekly/report"
NIGHT = ToCatchUp(task=LOAD, schedule=NIGHTLY, retention="30d")


def planned(*receipts, tasks=NIGHT, store=None, **changes) -> Plan:
    store = store or MemoryStore()
    if receipts:
        put(store, *receipts)
    return plan_backfill(tasks, **{"since": 6 * DAY, "now": MORNING, "store": store, **changes})


def actions(plan: Plan) -> list[tuple[str, str]]:
    return [(each.window.name, each.action.value) for each in plan.windows]


@pytest.mark.parametrize("seed", range(3))
def test_a_morning_after_an_outage_three_windows_run_oldest_first(seed: int) -> None:
    records = the_morning()
    random.Random(seed).shuffle(records)
    plan = planned(*records)
    assert actions(plan) == [
        ("2026-10-11", "run"), ("2026-10-12", "run"), ("2026-10-13", "run"), ("2026-10-14", "skip"),
    ]  # fmt: skip
    assert plan.starts == plan.to_run
    assert plan.to_run[0].variables == {"dt": "2026-10-11"}
    assert "r-850" in plan.windows[3].reason
    assert plan.reason == "3 to run, 1 skip; the oldest to run is 2026-10-11 of pay/monthly/calc."
    assert plan.verdict is Verdict.PASS


def test_what_is_included_has_three_words() -> None:
    def names(**changes) -> list[str]:
        return [each.window.name[-2:] for each in planned(*the_morning(), **changes).to_run]

    assert names(include="missing") == ["11", "12"]
    assert names(include="missing+failed") == names() == ["11", "12", "13"]
    assert names(include="all") == ["09", "10", "11", "12", "13"]
    assert names(include="missing", recheck_days=5) == ["11", "12"]
    assert names(include="missing", recheck_days=6) == ["10", "11", "12"]
    assert names(backfill_limit=2) == ["11", "12"]
    assert names(backfill_limit=0) == []
    assert names(newest_first=True) == ["13", "12", "11"]
    assert names(newest_first=True, backfill_limit=1) == ["13"]


def test_what_an_adapter_may_start_is_said_apart_from_what_is_missing() -> None:
    def starts(**changes) -> list[str]:
        plan = planned(*the_morning(), **changes)
        assert len(plan.to_run) == 3
        return [each.window.name[-2:] for each in plan.starts]

    assert starts(catchup="none") == []
    assert starts(catchup="latest") == ["13"]
    assert starts(cap=1) == []  # one is under way
    assert starts(cap=2) == ["11"]
    assert starts(cap=9) == ["11", "12", "13"]


def test_how_long_ago_is_told_in_words_too() -> None:
    assert actions(planned(*the_morning(), since="6d")) == actions(planned(*the_morning()))


def test_a_window_that_failed_after_so_many_runs_is_left_to_people() -> None:
    again = [
        a_night(13, "error", later=hours * HOUR, run_id=f"r-{hours}", error="ValueError: x")
        for hours in (1, 2)
    ]

    def state(max_runs: int) -> tuple[str, str]:
        found = planned(*again, since=2 * DAY, max_runs=max_runs)
        (window,) = [each for each in found.windows if each.window.name == "2026-10-13"]
        return window.action.value, window.reason

    assert state(3)[0] == "run"
    action, reason = state(2)
    assert action == "blocked"
    assert "after 2 runs it is left to people" in reason


def test_what_the_source_does_not_keep_any_more_is_too_old() -> None:
    plan = planned(tasks=ToCatchUp(task=LOAD, schedule=NIGHTLY, retention="5d"))
    assert actions(plan)[:3] == [
        ("2026-10-09", "too_old"), ("2026-10-10", "too_old"), ("2026-10-11", "run"),
    ]  # fmt: skip
    assert "its source keeps 5d" in plan.windows[0].reason


def test_what_is_unreadable_blocks_the_windows_it_may_belong_to() -> None:
    store = MemoryStore()
    store.put_document(LOAD, new_run_id(datetime(2026, 10, 13, 19, tzinfo=UTC)), b"{")
    plan = planned(*the_morning()[:2], store=store)
    assert ("2026-10-13", "blocked") in actions(plan)
    assert plan.verdict is Verdict.UNKNOWN


def test_a_store_that_cannot_answer_plans_nothing(tmp_path) -> None:
    plan = planned(store=open_store(tmp_path / "gone"))
    assert (plan.verdict, plan.windows) == (Verdict.UNKNOWN, ())


def a_load(day: int, **changes) -> object:
    return replace(a_night(day), task=LOAD, **changes)


REPORTS = ToCatchUp(task=REPORT, schedule=NIGHTLY, requires=[LOAD])


def test_what_is_required_and_unreadable_blocks_and_leaves_the_plan_unknown() -> None:
    store = MemoryStore()
    store.put_document(LOAD, "damaged", b"{")
    plan = planned(a_load(13), tasks=REPORTS, store=store, since=3 * DAY)
    assert actions(plan) == [("2026-10-12", "blocked"), ("2026-10-13", "run")]
    assert plan.verdict is Verdict.UNKNOWN
    assert [bad.task for bad in plan.unreadable] == [LOAD]
    assert plan.unreadable[0].where in plan.reason


def test_a_store_that_goes_away_between_two_looks_leaves_the_plan_unknown() -> None:
    class GoesAway(MemoryStore):
        def success_by_batch(self, *_: object, **__: object) -> None:
            raise StoreUnavailableError("the store is gone")

        def search(self, task=None, status=None, since=None, **more):  # type: ignore[no-untyped-def]
            if task == LOAD:
                raise StoreUnavailableError("the store is gone")
            return super().search(task, status, since, **more)

    plan = planned(tasks=REPORTS, store=GoesAway(), since=3 * DAY)
    assert {action for _, action in actions(plan)} == {"blocked"}
    assert plan.verdict is Verdict.UNKNOWN
    assert "the store is gone" in plan.reason


def test_a_window_is_planned_after_the_one_it_requires_or_is_blocked() -> None:
    both = [REPORTS, ToCatchUp(task=LOAD, schedule=NIGHTLY, retention="4d")]
    plan = planned(a_load(13), tasks=both, since=4 * DAY)
    assert [(each.name, each.action.value) for each in plan.windows] == [
        (f"{LOAD} 2026-10-11", "too_old"), (f"{REPORT} 2026-10-11", "blocked"),
        (f"{LOAD} 2026-10-12", "run"), (f"{REPORT} 2026-10-12", "run"),
        (f"{REPORT} 2026-10-13", "run"),
    ]  # fmt: skip
    waiting, free = plan.to_run[1], plan.to_run[2]
    assert waiting.after == (f"{LOAD} 2026-10-12",)
    assert free.after == ()
    assert [each.name for each in plan.starts] == [f"{LOAD} 2026-10-12", f"{REPORT} 2026-10-13"]
    assert "has not succeeded" in plan.windows[1].reason


def test_tasks_of_different_grain_are_in_one_plan() -> None:
    mondays = Schedule(cron="0 6 * * 1", window="week", time_zone="Asia/Jakarta", finish_by="1d")
    weekly = ToCatchUp(task=REPORT, schedule=mondays)
    plan = planned(tasks=[weekly, NIGHT], since=4 * DAY, cap=2)
    assert [each.name for each in plan.to_run] == [
        f"{REPORT} 2026-W41", f"{LOAD} 2026-10-11", f"{LOAD} 2026-10-12", f"{LOAD} 2026-10-13",
    ]  # fmt: skip
    assert len(plan.starts) == 2


HOURS = Schedule(every="1h", start="2026-10-12T17:00:00Z")
HOURLY = ToCatchUp(task=REPORT, schedule=HOURS)


def of_all_hours(**changes) -> ToCatchUp:
    """The nightly task, which requires every hour of its day."""
    every = {"task": REPORT, "windows": "all", "schedule": HOURS, "variables": []}
    return ToCatchUp(task=LOAD, schedule=NIGHTLY, requires=[every], **changes)


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_day_is_planned_after_the_hours_that_it_lacks(newest_first: bool) -> None:
    store = MemoryStore()
    for number in {*range(24)} - {3, 20}:
        start = datetime(2026, 10, 12, 17, tzinfo=UTC) + number * HOUR
        window = Window(start=start, end=start + HOUR)
        run = a_night(13, run_id=f"h-{number}", variables={}, window=window)
        put(store, replace(run, task=REPORT))
    plan = planned(
        tasks=[of_all_hours(), HOURLY], store=store, since=53 * HOUR, newest_first=newest_first
    )
    day = next(each for each in plan.to_run if each.name == f"{LOAD} 2026-10-13")
    lacking = [f"{REPORT} 2026-10-12T20:00", f"{REPORT} 2026-10-13T13:00"]
    assert sorted(day.after) == lacking
    names = [each.name for each in plan.to_run]
    assert all(names.index(each) < names.index(day.name) for each in lacking)
    assert day not in plan.starts
    cut = planned(
        tasks=[of_all_hours(), HOURLY], store=store, since=53 * HOUR, newest_first=newest_first,
        backfill_limit=names.index(day.name),
    )  # fmt: skip
    assert day.name not in [each.name for each in cut.to_run]


def test_a_day_of_which_an_hour_cannot_be_caught_up_is_blocked() -> None:
    lost = replace(HOURLY, schedule=HOURS, retention="20h")
    plan = planned(tasks=[of_all_hours(), lost], since=53 * HOUR)
    day = next(each for each in plan.windows if each.name == f"{LOAD} 2026-10-13")
    assert day.action is Action.BLOCKED
    assert "24 of 24 windows" in day.reason


def test_every_task_of_a_pattern_must_be_met_by_the_plan() -> None:
    store = MemoryStore()
    other = "pay/monthly/rates"
    put(store, a_load(12), replace(a_night(9), task=other))
    report = ToCatchUp(task=REPORT, schedule=NIGHTLY, requires=["pay/monthly/*"])
    rates = ToCatchUp(task=other, schedule=NIGHTLY)
    alone = planned(tasks=[report, NIGHT], store=store, since=4 * DAY)
    assert {each.action for each in alone.windows if each.task == REPORT} == {Action.BLOCKED}
    both = planned(tasks=[report, NIGHT, rates], store=store, since=4 * DAY)
    waiting = {each.window.name: each.after for each in both.to_run if each.task == REPORT}
    assert waiting["2026-10-11"] == (f"{LOAD} 2026-10-11", f"{other} 2026-10-11")
    assert waiting["2026-10-12"] == (f"{other} 2026-10-12",)


def test_a_day_comes_after_the_week_that_it_requires() -> None:
    mondays = Schedule(
        cron="0 6 * * 1", window="week", time_zone="Asia/Jakarta", finish_by="1d", of="current",
        variable="week",
    )  # fmt: skip
    weekly = ToCatchUp(task=REPORT, schedule=mondays)
    week = {"task": REPORT, "windows": "all", "schedule": mondays, "variables": []}
    daily = ToCatchUp(task=LOAD, schedule=NIGHTLY, requires=[week])
    plan = planned(tasks=[daily, weekly], since=4 * DAY)
    names = [each.name for each in plan.to_run]
    assert names.index(f"{REPORT} 2026-W42") < names.index(f"{LOAD} 2026-10-13")
    assert plan.to_run[-1].after == (f"{REPORT} 2026-W42",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"include": "failed"}, {"catchup": "some"}, {"backfill_limit": -2}, {"recheck_days": -1},
        {"recheck_days": 10**10},
        {"cap": 0}, {"max_runs": 0}, {"since": "soon"}, {"tasks": []}, {"tasks": [NIGHT, NIGHT]},
        {"tasks": [REPORTS, ToCatchUp(task=LOAD, schedule=NIGHTLY, requires=[REPORT])]},
    ],
)  # fmt: skip
def test_what_cannot_be_planned_is_refused(wrong) -> None:
    with pytest.raises(ConfigError):
        planned(**wrong)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_replanning_after_any_part_has_run_gives_the_rest(data: st.DataObject) -> None:
    days = st.lists(st.integers(1, 14), max_size=8, unique=True)
    store = MemoryStore()
    for day in data.draw(days):
        status = data.draw(st.sampled_from([each.value for each in Status]))
        put(store, a_night(day, status, heartbeat_at=MORNING, heartbeat_every=BEAT))
    before = planned(store=store, since=14 * DAY)
    names = [each.name for each in before.to_run]
    done = data.draw(st.lists(st.sampled_from(names), unique=True) if names else st.just([]))
    for name in done:
        day = int(name[-2:])
        put(store, a_night(day, later=(14 - day) * DAY + HOUR, run_id=f"again-{day}"))
    after = planned(store=store, since=14 * DAY)
    assert [each.name for each in after.to_run] == [name for name in names if name not in done]
    assert all(each.action is not Action.RUN or each.state != "running" for each in after.windows)
