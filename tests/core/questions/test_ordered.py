"""A window is refused before the one before it has succeeded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubunye_core import (
    Calendar,
    ConfigError,
    Receipt,
    RunAnswer,
    RunRefusedError,
    Schedule,
    Status,
    Verdict,
    Window,
    may_run,
    open_store,
    record_run,
)
from ubunye_core.questions.guard import claim
from ubunye_core.stores import Claim, FileStore
from ubunye_core.testing import a_receipt

CALC = "pay/monthly/calc"
NOW = datetime(2026, 10, 15, 6, tzinfo=UTC)
MONTHLY = Schedule(cron="0 2 1 * *", window="month", variable="month", start="2026-06-30T00:00:00Z")
DAILY = Schedule(cron="0 2 * * *", window="day", variable="dt", start="2026-10-01T00:00:00Z")


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path)


@pytest.fixture
def keep(store: FileStore) -> Callable[..., Receipt]:
    count = 0

    def save(status: str = "success", **changes: Any) -> Receipt:
        nonlocal count
        count += 1
        fields = {"run_id": f"r-{count}", "started_at": NOW - timedelta(hours=1), **changes}
        receipt = a_receipt(status=Status(status), **fields)
        store.save(receipt)
        return receipt

    return save


Keep = Callable[..., Receipt]


def asked(store: FileStore, variables: dict[str, str], **changes: Any) -> RunAnswer:
    terms = {"schedule": MONTHLY, "ordered": True, "now": NOW, **changes}
    return may_run(CALC, variables, store=store, **terms)


def test_a_window_may_run_after_the_one_before_it(store: FileStore, keep: Keep) -> None:
    keep(variables={"month": "2026-08"}, started_at=datetime(2026, 9, 1, 2, tzinfo=UTC))
    answer = asked(store, {"month": "2026-09"})
    assert answer.verdict is Verdict.PASS
    assert answer.before is not None
    assert (answer.before.window.name, answer.before.state) == ("2026-08", "succeeded")


def test_a_window_may_not_run_before_it(store: FileStore, keep: Keep) -> None:
    keep(variables={"month": "2026-07"})
    answer = asked(store, {"month": "2026-09"})
    assert answer.verdict is Verdict.FAIL
    assert answer.before is not None
    assert (answer.before.window.name, answer.before.state) == ("2026-08", "missing")
    assert "2026-08, which comes before 2026-09, has no success (missing)" in answer.reason
    assert "Try: run 2026-08 first." in answer.reason
    assert asked(store, {"month": "2026-09"}, ordered=False, schedule=None)


@pytest.mark.parametrize(
    ("status", "changes", "state"),
    [
        ("error", {}, "failed"),
        ("interrupted", {}, "interrupted"),
        ("running", {}, "running"),
        ("skipped", {"outcome": "refused"}, "refused"),
    ],
)
def test_only_a_success_lets_the_next_one_run(
    store: FileStore, keep: Keep, status: str, changes: dict[str, Any], state: str
) -> None:
    keep(variables={"month": "2026-07"})
    keep(status, variables={"month": "2026-08"}, **changes)
    answer = asked(store, {"month": "2026-09"})
    assert answer.verdict is Verdict.FAIL
    assert answer.before is not None
    assert answer.before.state == state


def test_a_failed_rerun_does_not_undo_a_success(store: FileStore, keep: Keep) -> None:
    keep(variables={"month": "2026-08"}, started_at=NOW - timedelta(days=2))
    keep("error", variables={"month": "2026-08"})
    assert asked(store, {"month": "2026-09"})


def test_a_window_that_a_run_decided_to_skip_is_passed_over(store: FileStore, keep: Keep) -> None:
    keep("skipped", variables={"month": "2026-08"})
    assert asked(store, {"month": "2026-09"}).verdict is Verdict.FAIL
    keep(variables={"month": "2026-07"})
    answer = asked(store, {"month": "2026-09"})
    assert answer.before is not None
    assert (bool(answer), answer.before.window.name) == (True, "2026-07")


def test_the_first_window_of_the_schedule_has_none_before_it(store: FileStore) -> None:
    answer = asked(store, {"month": "2026-06"})
    assert (answer.verdict, answer.before) == (Verdict.PASS, None)
    assert asked(store, {"month": "2026-07"}).verdict is Verdict.FAIL


@pytest.mark.parametrize("month", ["2026-05", "2026-9", "October", "2026-13"])
def test_what_is_no_window_of_the_schedule_is_refused(store: FileStore, month: str) -> None:
    answer = asked(store, {"month": month})
    assert answer.verdict is Verdict.FAIL
    assert "no window of its schedule" in answer.reason


def test_windows_that_the_calendar_excludes_are_passed_over(store: FileStore, keep: Keep) -> None:
    weekdays = Schedule(
        cron="0 2 * * *", window="day", variable="dt", start="2026-10-01T00:00:00Z",
        calendar=Calendar(business_days=frozenset(range(5))),
    )  # fmt: skip
    answer = asked(store, {"dt": "2026-10-12"}, schedule=weekdays)
    assert answer.before is not None
    assert (answer.verdict, answer.before.window.name) == (Verdict.FAIL, "2026-10-09")
    keep(variables={"dt": "2026-10-09"})  # a Friday; the 12th is a Monday
    assert asked(store, {"dt": "2026-10-12"}, schedule=weekdays)


def test_a_success_of_other_data_or_in_another_mode_is_none(store: FileStore, keep: Keep) -> None:
    keep(variables={"month": "2026-08", "region": "us"})
    keep(variables={"month": "2026-08", "region": "eu", "mode": "DEV"})
    keep(variables={"month": "2026-08"})
    ours = {"month": "2026-09", "region": "eu"}
    assert asked(store, ours).verdict is Verdict.FAIL
    assert asked(store, {**ours, "mode": "DEV"})
    keep(variables={"month": "2026-08", "region": "eu"})
    assert asked(store, ours)


def test_what_cannot_be_read_lets_nothing_run(store: FileStore, keep: Keep) -> None:
    keep(variables={"month": "2026-07"})
    damaged = store.root / CALC / "damaged.json"
    damaged.write_text("{")
    answer = asked(store, {"month": "2026-09"}, rerun=True)
    assert (answer.verdict, len(answer.unreadable)) == (Verdict.UNKNOWN, 1)
    keep(variables={"month": "2026-08"})
    assert asked(store, {"month": "2026-09"}, rerun=True)  # a success decides it
    assert not asked(open_store(store.root / "gone"), {"month": "2026-09"})  # type: ignore[arg-type]


def window(day: int, days: int = 1) -> Window:
    start = datetime(2026, 10, day, tzinfo=UTC)
    return Window(start=start, end=start + timedelta(days=days))


def test_a_run_may_say_its_window_instead(store: FileStore, keep: Keep) -> None:
    daily = {"schedule": Schedule(cron="0 2 * * *", window="day", start="2026-10-01T00:00:00Z")}
    keep(variables={}, window=window(11))
    assert asked(store, {}, window=window(12), **daily)
    assert asked(store, {}, window=window(13), **daily).verdict is Verdict.FAIL
    assert asked(store, {}, window=window(12, days=3), **daily)  # by the first of its days
    keep(variables={}, window=window(12, days=2))
    assert asked(store, {}, window=window(14), **daily)


@pytest.mark.parametrize(
    ("schedule", "named", "before"),
    [
        (Schedule(every="6h", variable="at", start="2026-10-01T00:00:00Z"),
         "2026-10-10T12:00", "2026-10-10T06:00"),
        (Schedule(every="6h", of="current", variable="at", start="2026-10-01T00:00:00Z"),
         "2026-10-10T12:00", "2026-10-10T06:00"),
        (Schedule(cron="0 * * * *", window="hour", variable="at", start="2026-10-01T00:00:00Z"),
         "2026-10-10T00", "2026-10-09T23"),
        (Schedule(cron="0 * * * *", window="hour", variable="at", time_zone="Europe/London",
                  start="2025-10-01T00:00:00Z"),
         "2025-10-26T01+00:00", "2025-10-26T01+01:00"),
        (Schedule(cron="0 5 * * 1", window="week", variable="at", start="2026-01-01T00:00:00Z"),
         "2026-W40", "2026-W39"),
        (Schedule(cron="0 5 * * *", window="day", variable="at", format="%d.%m.%Y",
                  time_zone="Asia/Jakarta", start="2026-01-01T00:00:00Z"),
         "01.10.2026", "30.09.2026"),
        (Schedule(cron="0 2 25 * *", window="month", of="current", variable="at",
                  time_zone="Pacific/Apia", start="2011-01-01T00:00:00Z"),
         "2012-01", "2011-12"),
    ],
)  # fmt: skip
def test_a_window_is_found_by_its_name(
    store: FileStore, keep: Keep, schedule: Schedule, named: str, before: str
) -> None:
    answer = asked(store, {"at": named}, schedule=schedule)
    assert answer.before is not None, answer.reason
    assert schedule.value_of(answer.before.window) == before
    window = answer.before.window
    keep(variables={"at": before}, started_at=window.end)
    assert asked(store, {"at": named}, schedule=schedule)


def test_versions_of_a_schedule_follow_each_other(store: FileStore, keep: Keep) -> None:
    weekly = Schedule(
        cron="0 2 * * 1", window="day", variable="dt",
        start="2026-09-01T00:00:00Z", end="2026-10-01T00:00:00Z",
    )  # fmt: skip
    answer = asked(store, {"dt": "2026-09-30"}, schedule=[DAILY, weekly])
    assert answer.before is not None  # due on October 1, the first day of the second version
    assert answer.before.window.name == "2026-09-27"
    keep(variables={"dt": "2026-09-27"})
    assert asked(store, {"dt": "2026-09-30"}, schedule=[DAILY, weekly])


def test_an_order_needs_a_schedule_with_a_beginning(store: FileStore) -> None:
    with pytest.raises(ConfigError, match="schedule"):
        asked(store, {"month": "2026-09"}, schedule=None)
    endless = Schedule(cron="0 2 1 * *", window="month", variable="month")
    with pytest.raises(ConfigError, match="start"):
        asked(store, {"month": "2026-09"}, schedule=endless)
    with pytest.raises(ConfigError, match="ordered=True"):
        asked(store, {"month": "2026-09"}, ordered=False)
    with pytest.raises(ConfigError, match="which window"):
        asked(store, {"region": "eu"})


def test_a_run_out_of_order_is_refused_and_leaves_the_batch_free(store: FileStore) -> None:
    def run(month: str) -> None:
        recording = record_run(
            CALC, variables={"month": month}, store=store, guard=True, ordered=True,
            schedule=MONTHLY,
        )  # fmt: skip
        with recording:
            pass

    with pytest.raises(RunRefusedError, match="2026-06"):
        run("2026-07")
    run("2026-06")
    run("2026-07")
    assert [found.outcome for found in store.list_runs(CALC)] == [None, None, "refused"]


def test_a_claim_that_names_no_window_is_given_back(store: FileStore) -> None:
    terms = {"run_id": "r-1", "store": store, "ordered": True, "schedule": MONTHLY}
    with pytest.raises(ConfigError):
        claim(CALC, {"region": "eu"}, **terms)  # type: ignore[arg-type]
    assert claim(CALC, {"region": "eu"}, run_id="r-2", store=store)


ZONES = (
    "America/Chicago", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Jakarta",
    "Africa/Johannesburg",
)  # fmt: skip


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    zone=st.sampled_from(ZONES),
    first=st.sampled_from(
        [date(2011, 12, 26), date(2024, 3, 7), date(2024, 10, 3), date(2024, 11, 1)]
    ),
    period=st.sampled_from(["day", "week", "hour", "tick"]),
    holidays=st.sets(st.integers(0, 8), max_size=4),
    by_window=st.booleans(),
    tries=st.lists(st.integers(0, 9), max_size=25),
)
def test_whatever_is_tried_windows_succeed_in_their_order(
    zone: str, first: date, period: str, holidays: set[int], by_window: bool, tries: list[int]
) -> None:
    start = datetime(first.year, first.month, first.day, tzinfo=ZoneInfo(zone))
    schedule = Schedule(
        cron={"week": "0 2 * * 1", "day": "0 2 * * *"}.get(period, "0 * * * *"),
        window=period, time_zone=zone, start=start, variable=None if by_window else "at",
        calendar=Calendar(holidays={first + timedelta(days=day): "" for day in holidays}),
    )  # fmt: skip
    windows = schedule.due_between(start, start + timedelta(days=80))[:10]
    store, done = open_store(f"memory://{uuid4()}"), set[int]()
    for number, index in enumerate(tries):
        each = windows[index]
        variables = {} if by_window else {"at": schedule.value_of(each)}
        period_of = Window(start=each.start, end=each.end) if by_window else None
        taken = claim(
            CALC, variables, run_id=f"r-{number}", store=store, ordered=True, rerun=True,
            schedule=schedule, window=period_of,
        )  # fmt: skip
        if isinstance(taken, Claim):
            ended = a_receipt(
                run_id=f"r-{number}", variables=variables, window=period_of, started_at=each.due
            )
            store.save(ended)
            store.release(taken)  # type: ignore[attr-defined]
            to_do = [other for other in windows[:index] if other.excluded is None]
            assert all(windows.index(other) in done for other in to_do)
            done.add(index)
        else:  # and nothing is refused whose turn it is
            before = [at for at in range(index) if windows[at].excluded is None]
            assert before
            assert before[-1] not in done
