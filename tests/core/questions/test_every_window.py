"""A requirement that every window of an upstream has succeeded: ``windows: all``."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.core.questions.builders import CALC, HOUR, SEND, FourMethods, put
from ubunye_core import (
    ConfigError,
    Receipt,
    Requirement,
    Schedule,
    Status,
    Verdict,
    Window,
    check_upstream,
    read_requirements,
    record_run,
)
from ubunye_core.runids import new_run_id
from ubunye_core.schedules import Calendar
from ubunye_core.stores import MemoryStore

HOURLY = Schedule(every="1h")
WEEKLY = Schedule(cron="0 2 * * 1", window="week", time_zone="Europe/London")
DAY = Window(start=datetime(2026, 10, 14, tzinfo=UTC), end=datetime(2026, 10, 15, tzinfo=UTC))
OCTOBER = Window(start=datetime(2026, 9, 30, 23, tzinfo=UTC), end=datetime(2026, 11, 1, tzinfo=UTC))
LATER = datetime(2026, 11, 3, tzinfo=UTC)


def an_hour(number: int, status: str = "success", **fields: object) -> Receipt:
    """The run for one hour of the day, which starts when it is over."""
    start = DAY.start + (number + 1) * HOUR
    ended_at = start + timedelta(minutes=5) if Status(status).is_final else None
    window = Window(start=start - HOUR, end=start)
    given = {"run_id": new_run_id(start), "window": window, "ended_at": ended_at, **fields}
    return Receipt(task=CALC, status=Status(status), started_at=start, **given)  # type: ignore[arg-type]


def asked(*runs: Receipt, window: Window | None = DAY, variables=None, now=LATER, **fields):
    store = MemoryStore()
    put(store, *runs) if runs else None
    given = {"windows": "all", "schedule": HOURLY, "variables": [], **fields}
    requirement = Requirement(CALC, **given)
    found = [
        check_upstream(requirement, variables=variables, window=window, store=each, now=now)
        for each in (store, FourMethods(store))
    ]
    if runs:
        assert found[0] == found[1]
    return found[0]


def test_a_day_needs_its_twenty_four_hours() -> None:
    hours = [an_hour(number) for number in range(24)]
    answer = asked(*hours, an_hour(24), an_hour(-1))
    assert answer
    assert answer.reason.startswith(f"All 24 windows of {CALC}")
    assert [pin.run_id for pin in answer.pins] == [run.run_id for run in reversed(hours)]
    for missing in (0, 11, 23):
        refused = asked(*(hours[:missing] + hours[missing + 1 :]))
        assert refused.verdict is Verdict.FAIL
        assert f"1 of 24 windows of {CALC}" in refused.reason
        assert f"2026-10-14T{missing:02}:00 (missing" in refused.reason
        assert not refused.decided
        assert refused.pins == ()


def test_of_many_that_are_missing_the_first_are_named_and_the_others_counted() -> None:
    answer = asked(an_hour(0), an_hour(3, "error", error="ValueError: empty"))
    assert "23 of 24 windows" in answer.reason
    assert "2026-10-14T01:00 (missing" in answer.reason
    assert "2026-10-14T03:00 (failed" in answer.reason
    assert answer.reason.count("2026-10-14T") < 12
    assert "and 20 more" in answer.reason


def test_zero_receipts_of_a_finer_grain_are_refused() -> None:
    answer = asked()
    assert answer.verdict is Verdict.FAIL
    assert answer.decided
    assert "unknown" in answer.reason
    assert not asked(allow_unknown=True).decided


def test_a_month_needs_every_week_that_it_shares_a_day_with() -> None:
    mondays = [
        datetime(2026, 9, 28, tzinfo=UTC) + number * timedelta(days=7) for number in range(5)
    ]
    zone = ZoneInfo("Europe/London")
    weeks = []
    for monday in mondays:
        start = monday.replace(tzinfo=zone)
        end = (monday + timedelta(days=7)).replace(tzinfo=zone)
        window = Window(start=start.astimezone(UTC), end=end.astimezone(UTC))
        run = an_hour(0, window=window, run_id=f"w-{monday:%d}")
        weeks.append(replace(run, started_at=window.end, ended_at=window.end + HOUR))
    terms = {"window": OCTOBER, "schedule": WEEKLY}
    assert asked(*weeks, **terms)
    for week in weeks:
        refused = asked(*(each for each in weeks if each is not week), **terms)
        assert "1 of 5 windows" in refused.reason
    early = asked(*weeks[:4], now=datetime(2026, 11, 1, 12, tzinfo=UTC), **terms)
    assert "2026-W44 (not_due: due at 2026-11-02T02:00:00Z)" in early.reason
    assert early.verdict is Verdict.FAIL


def test_a_day_of_a_weekly_upstream_needs_its_week() -> None:
    answer = asked(an_hour(0), schedule=WEEKLY)
    assert f"1 of 1 window of {CALC}" in answer.reason
    assert "2026-W42" in answer.reason
    met = asked(an_hour(0), window=Window(start=DAY.start, end=DAY.start + HOUR))
    assert met.reason.startswith(f"The window of {CALC} in 2026-10-14T00:00:00Z to")
    assert "has succeeded" in met.reason


def test_windows_without_work_are_not_needed() -> None:
    closed = Calendar(holidays={date(2026, 10, 14): "Founders' Day"})
    daily = Schedule(cron="0 2 * * *", window="day", calendar=closed)
    two_days = Window(start=DAY.start - timedelta(days=1), end=DAY.end)
    tuesday = an_hour(0, window=Window(start=two_days.start, end=DAY.start))
    assert asked(tuesday, window=two_days, schedule=daily)
    assert not asked(an_hour(0), window=two_days, schedule=daily)


def test_a_schedule_without_a_window_there_never_opens_a_gate() -> None:
    over = replace(HOURLY, end=DAY.start - timedelta(days=30))
    answer = asked(*(an_hour(number) for number in range(24)), schedule=over)
    assert answer.verdict is Verdict.FAIL
    assert "has no window" in answer.reason


def test_the_other_terms_hold_for_every_window() -> None:
    hours = [an_hour(number) for number in range(24)]
    old = asked(*hours, max_age="1h", now=DAY.end + HOUR)
    assert "within the last 1h" in old.reason
    assert "23 of 24 windows" in old.reason
    assert "2026-10-14T00:00 (too old: run" in old.reason
    failed = [*hours[:23], an_hour(23, "error")]
    assert not asked(*failed).decided
    assert asked(*failed, on_failed="fail").decided
    assert asked(*hours[:23], an_hour(23, "skipped")).decided
    passed = asked(*failed, optional=True)
    assert passed
    assert passed.reason.startswith("Optional")
    assert not passed.requirements[0].met


def test_variables_must_agree_beside_the_window() -> None:
    hours = [an_hour(number, variables={"region": "eu"}) for number in range(24)]
    store = MemoryStore()
    put(store, *hours)
    requirement = Requirement(CALC, windows="all", schedule=HOURLY, variables=["region"])
    for region, verdict in (("eu", Verdict.PASS), ("us", Verdict.FAIL)):
        answer = check_upstream(
            requirement, variables={"region": region}, window=DAY, store=store, now=LATER
        )
        assert answer.verdict is verdict


def test_what_is_unreadable_may_be_the_success_that_is_missing() -> None:
    store = MemoryStore()
    put(store, *(an_hour(number) for number in range(1, 24)))
    store.put_document(CALC, "damaged", b"{")
    requirement = Requirement(CALC, [], windows="all", schedule=HOURLY)
    answer = check_upstream(requirement, window=DAY, store=store, now=LATER)
    assert answer.verdict is Verdict.UNKNOWN
    assert answer.unreadable
    put(store, an_hour(0))
    assert check_upstream(requirement, window=DAY, store=store, now=LATER)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ConfigError, match="this run has none"):
        asked(window=None)
    store = MemoryStore()
    whole = Requirement(CALC, windows="all", schedule=HOURLY)
    with pytest.raises(ConfigError, match="beside the window"):
        check_upstream(whole, variables={"dt": "2026-10-14"}, window=DAY, store=store)
    for wrong in (
        {"windows": "all"}, {"schedule": HOURLY}, {"windows": "some", "schedule": HOURLY},
        {"windows": "all", "schedule": {"every": "1h", "grain": "day"}},
        {"windows": "all", "schedule": []},
    ):  # fmt: skip
        with pytest.raises(ConfigError):
            Requirement.of({"task": CALC, **wrong})


def test_a_recorded_run_asks_for_its_own_window() -> None:
    store = MemoryStore()
    put(store, *(an_hour(number) for number in range(24)))
    needs = Requirement(CALC, [], windows="all", schedule={"every": "1h"})
    with record_run(SEND, store=store, window=DAY, variables={"dt": "2026-10-14"}) as run:
        assert run.require(needs)
    assert len(store.load(SEND, run.run_id).upstreams) == 24


def test_the_schedule_stands_beside_it_or_in_the_upstreams_file(tmp_path) -> None:
    upstream = tmp_path / "calc"
    upstream.mkdir()
    (upstream / "receipts.yaml").write_text("schedule:\n  every: 1h\n")
    file = tmp_path / "send" / "receipts.yaml"
    file.parent.mkdir()
    begins = f"requires:\n  - task: {CALC}\n    variables: []\n    windows: all\n"
    for schedule in ("../calc", "../calc/receipts.yaml", "{every: 1h}", "[{every: 1h}]"):
        file.write_text(f"{begins}    schedule: {schedule}\n")
        (found,) = read_requirements(file)
        assert found.versions == (HOURLY,)
    file.write_text(f"{begins}    schedule: {{every: 1x}}\n")
    with pytest.raises(ConfigError, match="line 5"):
        read_requirements(file)
    file.write_text(begins)
    with pytest.raises(ConfigError, match=r"line 4.*schedule"):
        read_requirements(file)
