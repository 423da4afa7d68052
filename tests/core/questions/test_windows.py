"""How the windows of a schedule stand, by the runs on record."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import CALC, an_attempt, put
from ubunye_core import (
    ConfigError,
    Receipt,
    Status,
    Step,
    StoreUnavailableError,
    ToCatchUp,
    Verdict,
    Window,
    plan_backfill,
)
from ubunye_core.questions.window_state import WindowState
from ubunye_core.questions.windows import Windows, missed_windows, window_states
from ubunye_core.runids import new_run_id
from ubunye_core.schedules import Calendar, Schedule
from ubunye_core.stores import MemoryStore, open_store

NIGHTLY = Schedule(cron="0 2 * * *", time_zone="Asia/Jakarta", window="day", variable="dt")
MORNING = datetime(2026, 10, 14, 23, tzinfo=UTC)  # 06:00 of the 15th in Jakarta
BEAT = timedelta(seconds=30)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def a_night(day: int, status: str = "success", **changes: object) -> Receipt:
    """The run for one day of October, which starts at 02:00 of the next day in Jakarta."""
    start = datetime(2026, 10, day, 19, tzinfo=UTC)
    start += changes.pop("later", timedelta(0))  # type: ignore[operator]
    ended = None if status == "running" else start + HOUR
    fields = {
        "run_id": new_run_id(start),
        "variables": {"dt": f"2026-10-{day:02}"},
        "ended_at": ended,
        **changes,
    }
    return Receipt(task=CALC, status=Status(status), started_at=start, **fields)  # type: ignore[arg-type]


def the_morning() -> list[Receipt]:
    return [
        a_night(9), a_night(10),
        a_night(13, "error", run_id="r-841", error="ValueError: the source was empty"),
        a_night(14, "running", run_id="r-850", heartbeat_at=MORNING, heartbeat_every=BEAT),
    ]  # fmt: skip


def asked(*receipts: Receipt, schedule: object = NIGHTLY, **changes: object) -> Windows:
    store = MemoryStore()
    put(store, *receipts) if receipts else None
    arguments = {"since": 6 * DAY, "now": MORNING, **changes}
    return window_states(CALC, schedule=schedule, store=store, **arguments)  # type: ignore[arg-type]


def states(found: Windows) -> dict[str, str]:
    return {each.window.name: each.state.value for each in found.windows}


@pytest.mark.parametrize("seed", range(5))
def test_a_morning_after_an_outage(seed: int) -> None:
    records = the_morning()
    random.Random(seed).shuffle(records)
    found = asked(*records)
    assert states(found) == {
        "2026-10-09": "succeeded", "2026-10-10": "succeeded", "2026-10-11": "missing",
        "2026-10-12": "missing", "2026-10-13": "failed", "2026-10-14": "running",
    }  # fmt: skip
    failed, running = found.windows[4:]
    assert failed.runs == ("r-841",)
    assert "the source was empty" in failed.reason
    assert running.runs == ("r-850",)
    assert "under way for 4h" in running.reason
    assert found.verdict is Verdict.FAIL
    assert "2 succeeded, 1 running, 1 failed, 2 missing" in found.reason
    assert "2026-10-11 (missing)" in found.reason


def test_a_failed_rerun_after_a_success_does_not_change_what_succeeded() -> None:
    found = asked(*the_morning(), a_night(10, "error", later=5 * HOUR))
    assert states(found)["2026-10-10"] == "succeeded"


def test_a_success_after_the_window_was_missing_stays_a_late_one() -> None:
    found = asked(a_night(12, later=DAY + 32 * timedelta(minutes=1)))
    (late,) = [each for each in found.windows if each.window.name == "2026-10-12"]
    assert late.state is WindowState.SUCCEEDED_LATE
    assert late.lateness == HOUR + 32 * timedelta(minutes=1)  # it took an hour
    assert "1h 32m after it was missing" in late.reason


@pytest.mark.parametrize(
    ("after", "state"), [(-1, "not_due"), (0, "due"), (4, "due"), (5, "late"), (1439, "late")]
)
def test_a_window_is_due_then_late_then_missing(after: float, state: str) -> None:
    due = datetime(2026, 10, 14, 19, tzinfo=UTC)
    now = due + timedelta(minutes=after)
    found = asked(now=now, until=due + HOUR)
    assert states(found)["2026-10-14"] == state
    assert states(asked(now=due + DAY, until=due + HOUR))["2026-10-14"] == "missing"


def test_start_and_end_have_a_grace_each() -> None:
    schedule = replace(NIGHTLY, start_grace="1m", max_runtime="6h", finish_by="8h")
    due = datetime(2026, 10, 14, 19, tzinfo=UTC)

    def state(after: timedelta, *receipts: Receipt) -> str:
        found = asked(*receipts, schedule=schedule, now=due + after, since=HOUR + after)
        return states(found)["2026-10-14"]

    assert state(timedelta(seconds=59)) == "due"
    assert state(timedelta(minutes=1)) == "late"
    assert state(8 * HOUR) == "missing"

    def running(after: timedelta) -> Receipt:
        return a_night(14, "running", heartbeat_at=due + after, heartbeat_every=BEAT)

    assert state(6 * HOUR, running(6 * HOUR)) == "running"
    over = 6 * HOUR + timedelta(minutes=1)
    assert state(over, running(over)) == "overrun"
    assert state(over, running(HOUR)) == "stuck"


def test_a_run_may_take_three_times_what_others_took() -> None:
    others = [a_night(day) for day in range(1, 11)]
    running = the_morning()[3]
    assert states(asked(running, since=20 * DAY))["2026-10-14"] == "running"
    assert states(asked(*others, running, since=20 * DAY))["2026-10-14"] == "overrun"
    assert states(asked(*others[1:], running, since=20 * DAY))["2026-10-14"] == "running"


def test_a_window_is_one_problem_however_often_its_run_was_attempted() -> None:
    tries = [
        a_night(13, "error", orchestrator=an_attempt(number), later=number * HOUR)
        for number in (1, 2, 3)
    ]
    found = asked(*tries)
    assert states(found)["2026-10-13"] == "failed"
    assert "1 failed" in found.reason
    again = asked(*tries[:2], now=datetime(2026, 10, 13, 23, tzinfo=UTC))
    assert states(again)["2026-10-13"] == "running"  # its scheduler tries once more


def test_what_a_gate_refused_is_missed_and_what_was_skipped_is_not() -> None:
    found = asked(
        a_night(9), a_night(10), a_night(11, "skipped"),
        a_night(12, "skipped", outcome="refused", error="pay/in/source has not succeeded"),
        a_night(13, "interrupted"), a_night(14),
    )  # fmt: skip
    assert states(found)["2026-10-11"] == "skipped"
    assert [each.window.name for each in found.missed] == ["2026-10-12", "2026-10-13"]
    assert found.missed[0].state is WindowState.REFUSED
    assert "pay/in/source has not succeeded" in found.missed[0].reason


def test_a_window_of_its_own_covers_every_scheduled_window_inside_it() -> None:
    start = datetime(2026, 10, 10, 17, tzinfo=UTC)
    wide = a_night(14, window=Window(start=start, end=start + 2 * DAY), variables={})
    found = states(asked(wide))
    assert found["2026-10-11"] == found["2026-10-12"] == "succeeded_late"
    assert found["2026-10-10"] == found["2026-10-13"] == "missing"
    narrow = a_night(14, window=Window(start=start, end=start + DAY - HOUR), variables={})
    assert states(asked(narrow))["2026-10-11"] == "missing"


def test_a_run_without_a_window_or_its_variable_counts_for_none() -> None:
    found = asked(a_night(14, variables={"day": "2026-10-14"}))
    assert "succeeded" not in states(found).values()


def test_a_success_that_is_too_fast_or_too_small_is_doubted() -> None:
    schedule = replace(NIGHTLY, min_duration="10m", min_rows=100)
    out = Step(name="paid", direction="output", row_count=7)
    fast = a_night(13, outputs=(out,))
    fast = replace(fast, ended_at=fast.started_at + timedelta(minutes=2))
    found = asked(a_night(14), fast, schedule=schedule, since=2 * DAY)
    assert found.windows[0].doubts == (
        "it took 2m, and 10m is expected at least",
        "it wrote 7 rows, and 100 are expected at least",
    )
    assert found.verdict is Verdict.FAIL
    assert found.windows[0].state is WindowState.SUCCEEDED
    fast = replace(fast, outputs=(replace(out, row_count=1),))
    found = asked(a_night(14), fast, schedule=schedule, since=2 * DAY)
    assert "it wrote 1 row, and 100" in found.windows[0].doubts[1]


def test_days_without_work_are_neither_missed_nor_late() -> None:
    calendar = Calendar(
        business_days=frozenset(range(5)), holidays={date(2026, 10, 14): "Deepavali"}
    )
    schedule = replace(NIGHTLY, calendar=calendar, variable=None)
    found = asked(schedule=schedule)
    assert states(found)["2026-10-10"] == states(found)["2026-10-11"] == "excluded"  # a weekend
    assert found.windows[-1].reason == "no work: Deepavali"
    assert found.windows[0].state is WindowState.MISSING  # Friday, when Monday's was due


def test_what_is_unreadable_makes_the_windows_unknown_that_it_could_belong_to() -> None:
    store = MemoryStore()
    put(store, *the_morning())
    bad = new_run_id(datetime(2026, 10, 12, 19, tzinfo=UTC))
    store.put_document(CALC, bad, b"{")
    found = window_states(CALC, schedule=NIGHTLY, since=6 * DAY, store=store, now=MORNING)
    assert states(found)["2026-10-12"] == states(found)["2026-10-11"] == "unknown"
    assert states(found)["2026-10-10"] == "succeeded"
    assert states(found)["2026-10-14"] == "running"
    assert found.unreadable
    assert not found.reason.endswith("..")
    with pytest.raises(ValueError, match="not a readable receipt"):
        missed_windows(CALC, schedule=NIGHTLY, since=6 * DAY, store=store, now=MORNING)


def test_a_store_that_cannot_answer_leaves_it_unknown(tmp_path) -> None:
    store = open_store(tmp_path / "not-mounted")
    found = window_states(CALC, schedule=NIGHTLY, since=6 * DAY, store=store, now=MORNING)
    assert (found.verdict, found.retryable) == (Verdict.UNKNOWN, True)


def test_a_schedule_that_was_changed_expects_what_each_version_did() -> None:
    change = datetime(2026, 10, 12, tzinfo=UTC)
    before = replace(NIGHTLY, end=change)
    after = Schedule(cron="0 12 * * *", time_zone="Asia/Jakarta", window="day", start=change)
    found = asked(schedule=[after, before], since=5 * DAY)
    assert [each.window.name for each in found.windows] == [
        "2026-10-10", "2026-10-11", "2026-10-12", "2026-10-13",
    ]  # fmt: skip
    assert found.windows[1].window.due < change  # the old version covered it, the new one again


@pytest.mark.parametrize(
    "wrong",
    [
        {"since": MORNING + DAY},
        {"since": MORNING, "until": MORNING - DAY},
        {"since": 3650 * DAY, "schedule": Schedule(every="1m")},
    ],
)
def test_a_period_that_nobody_means_is_refused(wrong) -> None:
    with pytest.raises(ConfigError, match=r"is after|shorter period"):
        asked(**wrong)


def test_in_the_past_a_window_stands_as_it_stood_then() -> None:
    found = asked(*the_morning(), now=datetime(2026, 10, 10, 19, 30, tzinfo=UTC), since=2 * DAY)
    assert states(found) == {"2026-10-09": "succeeded", "2026-10-10": "running"}


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_every_window_has_one_state_and_what_succeeded_is_never_missed(data: st.DataObject) -> None:
    days = data.draw(st.lists(st.integers(1, 14), max_size=12))
    runs = [
        a_night(
            day,
            data.draw(st.sampled_from([each.value for each in Status])),
            later=timedelta(minutes=data.draw(st.integers(0, 3000))),
        )
        for day in days
    ]
    found = asked(*runs, since=14 * DAY)
    assert len({each.window for each in found.windows}) == len(found.windows) == 14
    for each in found.windows:
        own = [run for run in runs if run.variables["dt"] == each.window.name]
        visible = [run for run in own if run.started_at <= MORNING]
        assert set(each.runs) <= {run.run_id for run in own}
        done = [
            run for run in visible if run.status is Status.SUCCESS and run.finished_at <= MORNING
        ]
        if done:
            assert each.state in (WindowState.SUCCEEDED, WindowState.SUCCEEDED_LATE)
            assert each not in found.missed


def test_that_no_window_was_due_is_said_of_the_period_that_was_asked_for() -> None:
    asked = {"schedule": NIGHTLY, "since": "2h", "store": MemoryStore(), "now": MORNING}
    found = window_states(CALC, **asked, until="2026-10-14T22:00:00Z")
    of_period = f"No window of {CALC} was due from 2026-10-14T21:00:00Z"
    assert found.reason == f"{of_period} to 2026-10-14T22:00:00Z."
    assert window_states(CALC, **asked).reason == f"{of_period} on."


def test_a_store_that_is_not_there_is_told_also_where_no_window_was_due(tmp_path: Path) -> None:
    asked = {"since": "2h", "store": str(tmp_path / "nowhere"), "now": MORNING}
    found = window_states(CALC, schedule=NIGHTLY, **asked)
    assert (found.verdict, found.retryable) == (Verdict.UNKNOWN, True)
    assert "nowhere" in found.reason
    with pytest.raises(StoreUnavailableError, match="nowhere"):
        missed_windows(CALC, schedule=NIGHTLY, **asked)
    plan = plan_backfill(ToCatchUp(task=CALC, schedule=NIGHTLY), **asked)
    assert plan.verdict is Verdict.UNKNOWN
    assert "nowhere" in plan.reason
