"""Which windows a schedule expects, and when each is due."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubunye_core import ConfigError
from ubunye_core.schedules import Calendar, Of, Period, Schedule, schedule

ZONES = (
    "America/Chicago", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia",
    "Asia/Jakarta", "Africa/Johannesburg", "America/Havana", "America/Sao_Paulo", "UTC",
)  # fmt: skip
CRONS = (
    "0 2 * * *", "30 2 * * *", "0 0 * * *", "30 1 * * *", "0 * * * *", "*/15 * * * *",
    "0 6 * * 1", "15 2 1 * *", "0 2,14 * * *", "0 0 * * 1-5", "59 23 31 12 *",
)  # fmt: skip


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc]


def names(found) -> list[str]:
    return [window.name for window in found]


def test_a_job_that_fires_at_two_covers_the_day_before() -> None:
    daily = Schedule(cron="0 2 * * *", time_zone="Asia/Jakarta", window="day")
    found = daily.due_between(utc(2026, 10, 11), utc(2026, 10, 13))
    assert names(found) == ["2026-10-11", "2026-10-12"]
    assert found[0].due == utc(2026, 10, 11, 19)  # 02:00 of the 12th in Jakarta
    assert (found[0].start, found[0].end) == (utc(2026, 10, 10, 17), utc(2026, 10, 11, 17))


def test_a_monthly_job_may_run_inside_its_month() -> None:
    payroll = Schedule(cron="0 6 25 * *", time_zone="Europe/London", window="month", of="current")
    (october,) = payroll.windows(utc(2026, 9, 30), utc(2026, 11, 5))
    assert october.name == "2026-10"
    assert october.start == utc(2026, 9, 30, 23)  # summer time
    assert october.end == utc(2026, 11, 1)
    assert october.due == utc(2026, 10, 25, 6)  # the clocks went back that night


def test_without_more_words_a_firing_covers_the_time_since_the_last() -> None:
    every = Schedule(every="6h")
    found = every.due_between(utc(2026, 10, 15), utc(2026, 10, 16))
    assert [window.due.hour for window in found] == [0, 6, 12, 18]
    assert all(window.end == window.due for window in found)
    assert all(window.end - window.start == timedelta(hours=6) for window in found)
    ahead = Schedule(every="6h", of="current")
    assert ahead.due_between(utc(2026, 10, 15), utc(2026, 10, 16))[0].end == utc(2026, 10, 15, 6)


def test_a_week_begins_on_monday_and_a_window_is_due_once() -> None:
    twice = Schedule(cron="0 2,14 * * *", window="week")
    found = twice.windows(utc(2026, 10, 1), utc(2026, 11, 1))
    assert names(found) == ["2026-W41", "2026-W42", "2026-W43"]
    assert found[0].due == utc(2026, 10, 12, 2)


def test_seven_in_the_morning_in_new_york_is_twelve_and_then_eleven() -> None:
    daily = Schedule(cron="0 7 * * *", time_zone="America/New_York", window="day")
    found = daily.due_between(utc(2024, 3, 9), utc(2024, 3, 11))
    assert [window.due for window in found] == [utc(2024, 3, 9, 12), utc(2024, 3, 10, 11)]


@pytest.mark.parametrize(
    ("day", "due"),
    [(date(2024, 3, 10), utc(2024, 3, 10, 8)), (date(2024, 11, 3), utc(2024, 11, 3, 8))],
)
def test_a_fixed_time_fires_once_on_the_days_on_which_clocks_change(day, due) -> None:
    zone = "America/Chicago"
    start = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
    for cron in ("30 2 * * *", "30 1 * * *"):
        found = Schedule(cron=cron, time_zone=zone).due_between(start, start + timedelta(hours=23))
        assert len(found) == 1
    assert found[0].due < due


def test_an_hour_that_the_clocks_show_twice_is_two_windows_with_names_of_their_own() -> None:
    hourly = Schedule(cron="0 * * * *", time_zone="America/Chicago", window="hour")
    found = hourly.windows(utc(2024, 11, 3, 5), utc(2024, 11, 3, 9))
    assert names(found) == [
        "2024-11-03T00", "2024-11-03T01-05:00", "2024-11-03T01-06:00", "2024-11-03T02",
    ]  # fmt: skip


def test_a_day_that_a_zone_leaves_out_is_no_window() -> None:
    daily = Schedule(cron="0 2 * * *", time_zone="Pacific/Apia", window="day")
    found = daily.windows(utc(2011, 12, 28), utc(2012, 1, 2))
    assert names(found) == ["2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01"]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(ZONES), st.sampled_from(CRONS), st.sampled_from(Period), st.sampled_from(Of),
    st.integers(0, 365 * 26), st.integers(1, 20),
)  # fmt: skip
def test_windows_tile_time(zone, cron, period, of, first, days) -> None:
    schedule = Schedule(cron=cron, time_zone=zone, window=period, of=of)
    since = utc(2000, 1, 1) + timedelta(days=first)
    until = since + timedelta(days=days)
    found = schedule.windows(since, until)
    for window in found:
        assert since <= window.start < window.end <= until
        assert (window.end <= window.due) if of is Of.PREVIOUS else (window.start <= window.due)
    for one, next_one in pairwise(found):
        assert one.end <= next_one.start
        assert one.due < next_one.due
        assert one.name != next_one.name
    fires_in_each = period is Period.TICK or (
        cron in CRONS[:6] and (period is not Period.HOUR or "*" in cron.split()[1][:1])
    )
    if fires_in_each and not (zone == "Pacific/Apia" and since.year in (2011, 2012)):
        for one, next_one in pairwise(found):
            assert one.end == next_one.start
    parts = schedule.windows(since, until - timedelta(days=1))
    assert parts == [window for window in found if window.end <= until - timedelta(days=1)]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ZONES), st.sampled_from(CRONS), st.integers(0, 365 * 26))
def test_what_is_due_does_not_depend_on_where_one_begins_to_look(zone, cron, first) -> None:
    schedule = Schedule(cron=cron, time_zone=zone, window="day")
    since = utc(2000, 1, 1) + timedelta(days=first)
    whole = schedule.due_between(since, since + timedelta(days=9))
    halves = schedule.due_between(since, since + timedelta(days=4)) + schedule.due_between(
        since + timedelta(days=4), since + timedelta(days=9)
    )
    assert whole == halves


@pytest.mark.parametrize("period", Period)
@pytest.mark.parametrize("zone", ["Europe/London", "Australia/Lord_Howe"])
def test_what_is_due_in_a_long_time_is_what_is_due_in_its_parts(
    zone: str, period: Period, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cron in CRONS:
        for of in Of:
            each = Schedule(cron=cron, time_zone=zone, window=period, of=of)
            whole = each.due_between(utc(2026, 9, 20, 5), utc(2026, 11, 3, 7))
            with monkeypatch.context() as patch:
                patch.setattr(schedule, "AT_ONCE", timedelta(days=3, hours=1))
                assert each.due_between(utc(2026, 9, 20, 5), utc(2026, 11, 3, 7)) == whole


def test_of_hours_in_a_thousand_years_no_more_are_made_than_it_takes_to_refuse_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schedule, "MOST_WINDOWS", 2000)
    monkeypatch.setattr(schedule, "AT_ONCE", timedelta(days=100))
    hourly = Schedule(cron="0 * * * *", window="hour")
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match=r"More than 2,000 windows.*a shorter period"):
            hourly.due_between(utc(1000, 1, 1), utc(2026, 1, 1))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 20e6


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(ZONES), st.sampled_from((*CRONS, "*/30 2 * * *", "0 0 30 * *", "0 2 * * 5")),
    st.integers(0, 365 * 26 * 24 * 60), st.integers(1, 40),
)  # fmt: skip
def test_whole_days_fire_as_what_is_looked_for_one_by_one(zone, cron, first, days) -> None:
    firings = Schedule(cron=cron, time_zone=zone).firings
    since = utc(2000, 1, 1) + timedelta(minutes=first)
    until = since + timedelta(days=days)
    found = list(takewhile(lambda at: at < until, firings.after(since)))
    assert found == list(firings.one_by_one(since, until))
    if found:
        assert firings.before(until) == found[-1]


def test_what_was_due_before_the_start_or_after_the_end_is_not_expected() -> None:
    schedule = Schedule(
        cron="0 2 * * *", window="day", start="2026-10-10T00:00Z", end="2026-10-12T00:00Z"
    )
    found = schedule.due_between(utc(2026, 10, 1), utc(2026, 11, 1))
    assert names(found) == ["2026-10-09", "2026-10-10"]


def test_a_window_is_excluded_when_all_its_days_are() -> None:
    calendar = Calendar(
        business_days=frozenset(range(5)), holidays={date(2026, 10, 15): "Founders' Day"}
    )
    daily = Schedule(cron="0 2 * * *", window="day", calendar=calendar)
    found = daily.windows(utc(2026, 10, 14), utc(2026, 10, 20))
    assert [(window.name, window.excluded) for window in found] == [
        ("2026-10-14", None), ("2026-10-15", "Founders' Day"), ("2026-10-16", None),
        ("2026-10-17", "Saturday"), ("2026-10-18", "Sunday"), ("2026-10-19", None),
    ]  # fmt: skip
    weekly = Schedule(cron="0 2 * * 1", window="week", calendar=calendar)
    assert all(w.excluded is None for w in weekly.windows(utc(2026, 10, 1), utc(2026, 11, 1)))


@pytest.mark.parametrize("window", ["tick", "hour"])
def test_what_is_due_next_is_found_behind_more_windows_than_anybody_looks_at(
    window: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "MOST_WINDOWS", 20)
    often = Schedule(
        cron="0 * * * *", window=window, calendar=Calendar(business_days=frozenset([0]))
    )
    with pytest.raises(ConfigError, match="More than 20 windows are due"):
        often.due_between(utc(2026, 10, 13), utc(2026, 10, 14))
    assert often.next_due(utc(2026, 10, 13, 4)) == utc(2026, 10, 19, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"cron": "0 2 * * *", "every": "6h"}, {"cron": "0 2 * *"}, {"cron": "61 2 * * *"},
        {"cron": "0 0 31 2 *"}, {"cron": "@daily"}, {"cron": "* * * * * *"}, {"cron": 5},
        {"every": "30s"}, {"every": "often"}, {"every": "1h", "time_zone": "Mars/Base"},
        {"every": "1h", "time_zone": "../etc/passwd"}, {"every": "1h", "window": "year"},
        {"every": "1h", "of": "next"}, {"every": "1h", "start": "2026-10-10"},
    ],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(wrong) -> None:
    with pytest.raises(ConfigError):
        Schedule(**wrong)
