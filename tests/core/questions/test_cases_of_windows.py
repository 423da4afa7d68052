"""What users ran into with missed windows and backfills, and what ours does. Numbers are of the
cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.core.questions.builders import put
from ubunye_core import (
    Action,
    Catchup,
    Include,
    Plan,
    Receipt,
    Requirement,
    Status,
    ToCatchUp,
    UpstreamAnswer,
    Verdict,
    Window,
    WindowState,
    check_upstream,
    plan_backfill,
    window_states,
)
from ubunye_core.cli.app import commands
from ubunye_core.runids import new_run_id
from ubunye_core.schedules import Schedule
from ubunye_core.stores import FileStore, MemoryStore
from ubunye_core.testing import a_receipt

LOAD, REPORT, SOURCE = "sales/daily/load", "sales/weekly/report", "sales/daily/source"
NOW = datetime(2026, 10, 15, 6, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NIGHTLY = Schedule(cron="0 2 * * *", window="day", variable="dt", finish_by="4h")
MONDAYS = Schedule(cron="0 5 * * 1", window="week", variable="week", finish_by="1h")


def a_run(
    name: str, status: str = "success", *, task: str = LOAD, variable: str = "dt", **fields: Any
) -> Receipt:
    """A run for one day, or for whatever its variable names, an hour before now."""
    start = fields.pop("started_at", NOW - HOUR)
    return a_receipt(
        task=task,
        run_id=fields.pop("run_id", None) or new_run_id(start),
        status=Status(status),
        started_at=start,
        ended_at=None if status == "running" else start + timedelta(minutes=5),
        variables={variable: name},
        **fields,
    )


def planned(store: Any, tasks: Any = None, **changes: Any) -> Plan:
    given = tasks or ToCatchUp(task=LOAD, schedule=NIGHTLY)
    return plan_backfill(given, **{"since": 5 * DAY, "store": store, "now": NOW, **changes})


def names(plan: Plan) -> list[str]:
    return [each.window.name for each in plan.to_run]


def a_store(*receipts: Receipt) -> MemoryStore:
    store = MemoryStore()
    if receipts:
        put(store, *receipts)
    return store


HOURLY = Schedule(every="1h", start="2026-10-13T00:00:00Z", end="2026-10-16T00:00:00Z")
HOURS = {"task": SOURCE, "windows": "all", "variables": [], "schedule": HOURLY}
DAILY = replace(NIGHTLY, start="2026-10-14T00:00:00Z")
"""The first window is 13 October."""
THE_14TH = Window(start=datetime(2026, 10, 14, tzinfo=UTC), end=datetime(2026, 10, 15, tzinfo=UTC))


def an_hour(number: int, status: str = "success") -> Receipt:
    """A run for one hour of 14 October."""
    start = THE_14TH.start + number * HOUR
    run = a_run("", status, task=SOURCE, started_at=start + HOUR)
    return replace(run, variables={}, window=Window(start=start, end=start + HOUR))


def test_case_8_a_day_whose_hours_have_not_run_is_refused() -> None:
    store = a_store()

    def answer() -> UpstreamAnswer:
        return check_upstream(
            Requirement.of(HOURS), variables={}, window=THE_14TH, store=store, now=NOW
        )

    assert answer().verdict is Verdict.FAIL
    assert "24 of 24 windows of sales/daily/source" in answer().reason
    put(store, *(an_hour(number) for number in range(23)))
    assert answer().verdict is Verdict.FAIL
    assert "1 of 24 windows of sales/daily/source" in answer().reason
    put(store, an_hour(23))
    assert answer().verdict is Verdict.PASS


def test_case_8_a_day_is_planned_after_the_hours_it_lacks_or_blocked_without_them() -> None:
    store = a_store(*(an_hour(number) for number in range(22)))
    daily = ToCatchUp(task=LOAD, schedule=DAILY, requires=[HOURS])
    hourly = ToCatchUp(task=SOURCE, schedule=HOURLY)
    since = datetime(2026, 10, 14, 23, tzinfo=UTC)
    (alone,) = planned(store, daily, since=since).windows
    assert alone.action is Action.BLOCKED
    assert "2 of 24 windows" in alone.reason
    both = planned(store, [daily, hourly], since=since, until="2026-10-15T03:00:00Z")
    (day,) = [each for each in both.windows if each.task == LOAD]
    assert day.action is Action.RUN
    assert [name[-16:] for name in day.after] == ["2026-10-14T22:00", "2026-10-14T23:00"]
    assert day not in both.starts
    too_late = planned(store, [daily, hourly], since="2026-10-15T00:00:00Z")
    (day,) = [each for each in too_late.windows if each.task == LOAD]
    assert day.action is Action.BLOCKED  # nobody plans the hour before


def test_case_12_a_window_that_nothing_ran_for_is_missing_and_its_upstream_is_named() -> None:
    failed = a_run("2026-10-14", "error", task=SOURCE, error="ConnectionError: source is down")
    store = a_store(failed)
    (state,) = window_states(LOAD, schedule=NIGHTLY, since=DAY, store=store, now=NOW).windows
    assert state.state is WindowState.MISSING
    given = ToCatchUp(task=LOAD, schedule=NIGHTLY, requires=SOURCE)
    (window,) = planned(store, given, since=DAY).windows
    assert window.action is Action.BLOCKED
    assert window.state is WindowState.MISSING
    assert SOURCE in window.reason
    assert failed.run_id in window.reason


def test_case_12_a_run_that_its_gate_refused_leaves_the_window_to_be_caught_up() -> None:
    refused = a_run(
        "2026-10-14", "skipped", outcome="refused", error=f"{SOURCE} has not succeeded for dt"
    )
    (window,) = planned(a_store(refused), since=DAY).windows
    assert (window.action, window.state) == (Action.RUN, WindowState.REFUSED)
    assert f"{SOURCE} has not succeeded" in window.reason


def test_case_18_what_is_included_has_the_same_three_names_everywhere(tmp_path: Path) -> None:
    words = ["missing", "missing+failed", "all"]
    assert [each.value for each in Include] == words
    shell = ["plan", LOAD, "--cron", "0 2 * * *", "--store", str(tmp_path), "--since", "2d"]
    for word in words:
        done = CliRunner().invoke(commands, [*shell, "--include", word])
        assert done.exit_code == 0, done.output
    wrong = CliRunner().invoke(commands, [*shell, "--include", "failed"])
    assert wrong.exit_code == 2
    for word in words:
        assert word in wrong.output


def test_case_19_of_a_window_only_the_task_that_failed_is_planned() -> None:
    day = "2026-10-14"
    store = a_store(
        a_run(day, task=SOURCE), a_run(day, "error"), a_run(day, task="sales/daily/top")
    )
    tasks = [ToCatchUp(task=task, schedule=NIGHTLY) for task in (SOURCE, LOAD, "sales/daily/top")]
    plan = planned(store, tasks, since=DAY)
    assert [each.name for each in plan.windows] == [f"{LOAD} {day}"]


def test_case_20_a_plan_of_100_goes_on_with_the_60_that_are_left_none_twice(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    first = planned(store, since=100 * DAY)
    assert len(first.to_run) == 100
    for each in first.to_run[:40]:
        put(store, a_run(each.variables["dt"]))
    # Killed here: what ran is on record, and nothing else is remembered.
    rest = planned(FileStore(tmp_path), since=100 * DAY)
    assert names(rest) == names(first)[40:]
    for each in rest.to_run:
        put(store, a_run(each.variables["dt"]))
    assert planned(store, since=100 * DAY).windows == ()


def test_case_21_one_plan_is_over_tasks_of_daily_and_of_weekly_windows() -> None:
    store = a_store(a_run("2026-10-11", variable="dt"))
    tasks = [
        ToCatchUp(task=REPORT, schedule=MONDAYS),
        ToCatchUp(task=LOAD, schedule=NIGHTLY),
    ]
    plan = planned(store, tasks)
    assert [each.name for each in plan.to_run] == [
        f"{LOAD} 2026-10-10", f"{REPORT} 2026-W41", f"{LOAD} 2026-10-12", f"{LOAD} 2026-10-13",
        f"{LOAD} 2026-10-14",
    ]  # fmt: skip


def test_case_22_without_catchup_the_five_that_were_missed_are_listed_and_none_is_started() -> None:
    plan = planned(a_store(), catchup="none")
    assert len(plan.to_run) == 5
    assert plan.starts == ()
    assert [each.value for each in Catchup] == ["none", "latest", "all"]


class OnlyReads:
    """A store that is told nothing."""

    def __init__(self, inner: MemoryStore) -> None:
        self._inner = inner
        self.url = inner.url

    def __getattr__(self, name: str) -> Any:
        if name in ("save", "claim", "renew", "release"):
            raise AssertionError(f"a question called {name}")
        return getattr(self._inner, name)


def test_case_23_looking_starts_nothing_and_writes_nothing() -> None:
    store = OnlyReads(a_store(a_run("2026-10-12", "error")))
    assert len(planned(store).to_run) == 5
    assert window_states(LOAD, schedule=NIGHTLY, since=5 * DAY, store=store, now=NOW).missed


def test_case_24_a_plan_is_oldest_first_and_has_the_time_of_each_window() -> None:
    windows = [each.window for each in planned(a_store()).to_run]
    first = datetime(2026, 10, 10, tzinfo=UTC)
    assert [(each.start, each.end) for each in windows] == [
        (first + number * DAY, first + (number + 1) * DAY) for number in range(5)
    ]


@pytest.mark.parametrize(
    ("knobs", "days"),
    [
        ({}, ["10", "12", "13"]),
        ({"backfill_limit": -1}, ["10", "12", "13"]),
        ({"backfill_limit": 0}, []),
        ({"backfill_limit": 1}, ["10"]),
        ({"recheck_days": 0}, ["10", "12", "13"]),
        ({"recheck_days": 2}, ["10", "12", "13", "14"]),
        ({"recheck_days": 2, "backfill_limit": 2}, ["10", "12"]),
        ({"recheck_days": 2, "newest_first": True, "backfill_limit": 1}, ["14"]),
    ],
    ids=str,
)
def test_case_25_how_many_are_caught_up_and_how_far_back_is_rechecked_are_two_knobs(
    knobs: Mapping[str, Any], days: list[str]
) -> None:
    store = a_store(a_run("2026-10-11"), a_run("2026-10-14"))
    assert [name[-2:] for name in names(planned(store, **knobs))] == days


def test_case_25_what_0_and_minus_1_mean_is_documented() -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "windows.md"
    rows = {
        line.split("|")[1].strip(): line for line in page.read_text("utf-8").splitlines()
        if line.startswith("| `")
    }  # fmt: skip
    assert "0 is none, -1 (unless given) is no limit" in rows["`backfill_limit`"]
    assert "0 (unless given) is none" in rows["`recheck_days`"]
