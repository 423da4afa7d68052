"""What users ran into with clocks, grace, weekends and double runs, and what ours does. Numbers are
of the cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import put
from ubunye_core import (
    IfHeld,
    Receipt,
    RunRefusedError,
    RunSkippedError,
    Status,
    Step,
    TriggeredBy,
    TriggerKind,
    Verdict,
    WindowAnswer,
    WindowState,
    claim,
    job_health,
    missed_windows,
    record_run,
    window_states,
)
from ubunye_core.runids import new_run_id
from ubunye_core.schedules import Calendar, Schedule
from ubunye_core.stores import FileStore, MemoryStore
from ubunye_core.testing import a_receipt

LOAD = "sales/daily/load"
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
BEAT = timedelta(seconds=30)
DUE = datetime(2026, 10, 15, 2, tzinfo=UTC)
NIGHTLY = Schedule(
    cron="0 2 * * *", window="day", variable="dt", start_grace="1m", max_runtime="6h",
    finish_by="8h",
)  # fmt: skip


def a_run(
    status: str = "success",
    *,
    after: timedelta = timedelta(0),
    took: timedelta = HOUR,
    day: str = "2026-10-14",
    **fields: Any,
) -> Receipt:
    """A run that started so long after it was due."""
    start = DUE + after
    return a_receipt(
        task=LOAD,
        run_id=fields.pop("run_id", None) or new_run_id(start),
        status=Status(status),
        started_at=start,
        ended_at=None if status == "running" else start + took,
        variables={"dt": day},
        **fields,
    )


def state_at(after: timedelta, *runs: Receipt, schedule: Schedule = NIGHTLY) -> WindowAnswer:
    """How the window of 14 October stands so long after it was due."""
    store = MemoryStore()
    for run in runs:
        put(store, run)
    found = window_states(
        LOAD, schedule=schedule, since=DUE, until=DUE + MINUTE, store=store, now=DUE + after
    )
    (window,) = found.windows
    return window


def test_case_28_seven_in_new_york_is_twelve_and_then_eleven_in_utc() -> None:
    new_york = Schedule(cron="0 7 * * *", time_zone="America/New_York", window="day")
    windows = new_york.due_between(
        datetime(2024, 3, 9, tzinfo=UTC), datetime(2024, 3, 11, tzinfo=UTC)
    )
    assert [f"{each.due:%dT%H:%MZ}" for each in windows] == ["09T12:00Z", "10T11:00Z"]


ZONES = (
    "America/New_York", "America/Chicago", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia",
    "Asia/Jakarta", "Africa/Johannesburg", "America/Havana", "Asia/Beirut",
)  # fmt: skip


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    zone=st.sampled_from(ZONES),
    minute=st.integers(0, 24 * 60 - 1),
    first=st.dates(date(2005, 1, 1), date(2030, 1, 1)),
)
def test_case_29_a_fixed_time_fires_once_on_every_day_that_a_zone_has(
    zone: str, minute: int, first: date
) -> None:
    schedule = Schedule(
        cron=f"{minute % 60} {minute // 60} * * *", time_zone=zone, window="day", of="current"
    )
    local = ZoneInfo(zone)
    since = datetime(first.year, first.month, first.day, tzinfo=local).astimezone(UTC)
    until = since + 400 * DAY
    windows = schedule.due_between(since, until)
    days = [each.due.astimezone(local).date() for each in windows]
    assert len(set(days)) == len(days)
    skipped = {date(2011, 12, 30)} if zone == "Pacific/Apia" else set()
    whole = {first + timedelta(days=number) for number in range(1, 399)}
    assert whole - set(days) <= skipped


def test_case_29_what_happens_when_clocks_change_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "windows.md").read_text("utf-8")
    section = page.partition("## When clocks change")[2].partition("\n## ")[0]
    assert "fires at the moment they do" in section
    assert "twice fires once" in section


def test_case_30_start_and_end_have_a_grace_each() -> None:
    assert state_at(59 * MINUTE / 60).state is WindowState.DUE
    assert state_at(MINUTE).state is WindowState.LATE

    def running(after: timedelta) -> WindowState:
        alive = {"heartbeat_at": DUE + after, "heartbeat_every": BEAT}
        return state_at(after, a_run("running", **alive)).state

    assert running(MINUTE) is running(6 * HOUR) is WindowState.RUNNING
    assert running(6 * HOUR + timedelta(seconds=1)) is WindowState.OVERRUN


def test_case_31_a_success_32_minutes_after_a_miss_is_late_with_its_own_duration() -> None:
    missing = state_at(8 * HOUR)
    assert missing.state is WindowState.MISSING
    run = a_run(after=8 * HOUR + 12 * MINUTE, took=20 * MINUTE)
    late = state_at(9 * HOUR, run)
    assert late.state is WindowState.SUCCEEDED_LATE
    assert late.lateness == 32 * MINUTE
    assert run.ended_at is not None
    assert run.ended_at - run.started_at == 20 * MINUTE
    store = MemoryStore()
    put(store, a_run("error", after=-DAY, day="2026-10-13"), run)
    assert job_health(LOAD, store=store, now=DUE + 9 * HOUR).verdict is Verdict.PASS
    assert not missed_windows(LOAD, schedule=NIGHTLY, since=DUE, store=store, now=DUE + 9 * HOUR)


@pytest.mark.parametrize(
    ("bar", "says"),
    [({"min_duration": "10m"}, "it took 2m"), ({"min_rows": 1000}, "it wrote 7 rows")],
    ids=str,
)
def test_case_32_a_success_that_is_too_fast_or_wrote_too_little_is_to_be_looked_at(
    bar: dict[str, Any], says: str
) -> None:
    store = MemoryStore()
    wrote = Step(name="sales", direction="output", format="parquet", row_count=7)
    put(store, a_run(took=2 * MINUTE, outputs=(wrote,)))
    asked: dict[str, Any] = {"since": DUE, "store": store, "now": DUE + HOUR}
    fine = window_states(LOAD, schedule=NIGHTLY, **asked)
    assert fine.verdict is Verdict.PASS
    doubted = window_states(LOAD, schedule=replace(NIGHTLY, **bar), **asked)
    assert doubted.verdict is Verdict.FAIL
    assert doubted.windows[0].state is WindowState.SUCCEEDED
    assert says in doubted.reason


def test_case_33_a_long_run_that_shows_signs_of_life_raises_no_alarm() -> None:
    for hours in range(1, 7):
        now = DUE + hours * HOUR
        store = MemoryStore()
        others = [
            a_run(after=-number * DAY, took=5 * HOUR, day=f"2026-10-{14 - number:02}")
            for number in (1, 2)
        ]
        put(store, *others, a_run("running", heartbeat_at=now - BEAT, heartbeat_every=BEAT))
        found = window_states(LOAD, schedule=NIGHTLY, since=2 * DAY, store=store, now=now)
        assert found.verdict is Verdict.PASS, found.reason
        assert job_health(LOAD, store=store, now=now).verdict is Verdict.PASS


def test_case_35_a_window_that_failed_is_not_missing_too_once_its_deadline_is_past() -> None:
    failed = a_run("error", error="ValueError: x")
    for after in (2 * HOUR, 8 * HOUR, 20 * HOUR):
        assert state_at(after, failed).state is WindowState.FAILED
    store = MemoryStore()
    put(store, failed)
    found = window_states(LOAD, schedule=NIGHTLY, since=DUE, store=store, now=DUE + 20 * HOUR)
    assert len(found.missed) == 1
    assert "1 failed" in found.reason
    assert "missing" not in found.reason


def test_case_37_on_monday_morning_the_data_of_friday_is_fresh() -> None:
    weekdays = replace(NIGHTLY, calendar=Calendar(business_days=frozenset(range(5))))
    friday = a_receipt(
        task=LOAD, run_id="r-friday", status=Status.SUCCESS, variables={"dt": "2026-10-16"},
        started_at=datetime(2026, 10, 17, 2, tzinfo=UTC),
        ended_at=datetime(2026, 10, 17, 3, tzinfo=UTC),
    )  # fmt: skip
    store = MemoryStore()
    put(store, friday)
    asked: dict[str, Any] = {
        "since": datetime(2026, 10, 17, tzinfo=UTC), "store": store,
        "now": datetime(2026, 10, 19, 8, tzinfo=UTC),
    }  # fmt: skip
    found = window_states(LOAD, schedule=weekdays, **asked)
    assert [each.state.value for each in found.windows] == ["succeeded", "excluded", "excluded"]
    assert found.verdict is Verdict.PASS
    every_day = window_states(LOAD, schedule=NIGHTLY, **asked)
    assert every_day.verdict is Verdict.FAIL
    holiday = Calendar(
        business_days=frozenset(range(5)), holidays={date(2026, 10, 19): "Heroes' Day"}
    )
    tuesday = {**asked, "now": datetime(2026, 10, 20, 12, tzinfo=UTC)}
    found = window_states(LOAD, schedule=replace(NIGHTLY, calendar=holiday), **tuesday)
    assert found.verdict is Verdict.PASS
    assert found.windows[-1].reason == "no work: Heroes' Day"
    assert window_states(LOAD, schedule=weekdays, **tuesday).verdict is Verdict.FAIL


def test_case_26_two_manual_runs_of_one_window_leave_two_receipts_and_one_success(
    tmp_path: Path,
) -> None:
    store = FileStore(tmp_path)
    by = TriggeredBy(kind=TriggerKind.MANUAL, actor="ann", reason="again")
    again: dict[str, Any] = {
        "variables": {"dt": "2026-10-14"}, "store": store, "guard": True, "triggered_by": by,
    }  # fmt: skip
    with record_run(LOAD, **again):
        pass
    with pytest.raises(RunRefusedError, match="has finished"), record_run(LOAD, **again):
        raise AssertionError("it ran twice")
    assert [run.status for run in store.list_runs(LOAD)] == [Status.SKIPPED, Status.SUCCESS]


@pytest.mark.parametrize(
    ("if_held", "raised"),
    [
        (IfHeld.FAIL, RunRefusedError),
        (IfHeld.SKIP, RunSkippedError),
        (IfHeld.WAIT, RunRefusedError),
    ],
    ids=str,
)
def test_case_39_a_run_whose_batch_is_held_fails_skips_or_waits(
    if_held: IfHeld, raised: type[Exception], tmp_path: Path
) -> None:
    store, batch = FileStore(tmp_path), {"dt": "2026-10-14"}
    assert claim(LOAD, batch, run_id="other", store=store)
    how: dict[str, Any] = {"wait": "0.05s", "poll": "0.01s"} if if_held is IfHeld.WAIT else {}
    held = record_run(LOAD, variables=batch, store=store, guard=True, if_held=if_held, **how)
    with pytest.raises(raised, match="is being run"), held:
        raise AssertionError("it ran beside the other")
    other_day = record_run(LOAD, variables={"dt": "2026-10-13"}, store=store, guard=True)
    with other_day:
        pass


def test_case_39_in_order_a_window_is_refused_before_the_one_before_it(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    schedule = replace(NIGHTLY, start="2026-10-13T00:00:00Z")  # the first is 12 October

    def run(day: str) -> None:
        with record_run(
            LOAD, variables={"dt": day}, store=store, guard=True, ordered=True, schedule=schedule
        ):
            pass

    run("2026-10-12")
    with pytest.raises(RunRefusedError, match="2026-10-13"):
        run("2026-10-14")
    run("2026-10-13")
    run("2026-10-14")
