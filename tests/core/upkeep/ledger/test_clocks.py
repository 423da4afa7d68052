"""What the clocks of a zone show, also where they skip a time or show it twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubunye_core import ConfigError, Period, Schedule
from ubunye_core.upkeep.ledger.clocks import Clocks, NoSuchTimeError

ZONES = (
    *("Africa/Cairo", "Africa/Johannesburg", "America/Chicago", "America/Sao_Paulo"),
    *("Asia/Jakarta", "Australia/Lord_Howe", "Europe/London", "Pacific/Apia", "UTC"),
)
MINUTE = timedelta(minutes=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "text", "instant", "twice"),
    [
        ("Asia/Jakarta", "2026-10-15T02:00:00", "2026-10-14T19:00", False),
        ("Asia/Jakarta", "2026-10-15 02:00", "2026-10-14T19:00", False),
        ("Asia/Jakarta", "2026-10-15T02:00:00Z", "2026-10-15T02:00", False),
        ("Asia/Jakarta", "2026-10-15T02:00:00+09:00", "2026-10-14T17:00", False),
        ("America/Chicago", "2026-11-01T01:30:00", "2026-11-01T06:30", True),
        ("America/Chicago", "2026-11-01T01:30:00-06:00", "2026-11-01T07:30", False),
        ("Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45", True),
    ],
)
def test_a_time_without_an_offset_is_that_of_the_zone_and_the_first_of_two(
    zone, text, instant, twice
) -> None:
    assert Clocks(zone).instant(text) == (utc(instant), twice)


def test_the_first_of_two_is_when_a_schedule_fires() -> None:
    nightly = Schedule(cron="30 1 * * *", time_zone="America/Chicago", window="day")
    (window,) = nightly.due_between(utc("2026-11-01T00:00"), utc("2026-11-02T00:00"))
    assert Clocks("America/Chicago").instant("2026-11-01T01:30:00") == (window.due, True)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("America/Chicago", "2026-03-08T02:30:00"),
        ("Australia/Lord_Howe", "2026-10-04T02:15:00"),
        ("Pacific/Apia", "2011-12-30T12:00:00"),
    ],
)
def test_what_the_clocks_skipped_nobody_read_from_them(zone, text) -> None:
    with pytest.raises(NoSuchTimeError, match="skipped"):
        Clocks(zone).instant(text)


@pytest.mark.parametrize(
    ("zone", "period", "text", "start", "end"),
    [
        ("Asia/Jakarta", "day", "2026-10-09", "2026-10-08T17:00", "2026-10-09T17:00"),
        ("Asia/Jakarta", "day", "2026-10-09T00:00:00", "2026-10-08T17:00", "2026-10-09T17:00"),
        ("Asia/Jakarta", "day", "2026-10-08T17:00:00Z", "2026-10-08T17:00", "2026-10-09T17:00"),
        ("Asia/Jakarta", "week", "2026-W41", "2026-10-04T17:00", "2026-10-11T17:00"),
        ("Asia/Jakarta", "week", "2026-10-05", "2026-10-04T17:00", "2026-10-11T17:00"),
        ("Asia/Jakarta", "month", "2026-10", "2026-09-30T17:00", "2026-10-31T17:00"),
        ("Asia/Jakarta", "month", "2026-10-01", "2026-09-30T17:00", "2026-10-31T17:00"),
        ("Asia/Jakarta", "hour", "2026-10-09T02", "2026-10-08T19:00", "2026-10-08T20:00"),
        ("Asia/Jakarta", "hour", "2026-10-09T02:00:00", "2026-10-08T19:00", "2026-10-08T20:00"),
        ("America/Chicago", "day", "2026-11-01", "2026-11-01T05:00", "2026-11-02T06:00"),
        ("America/Chicago", "hour", "2026-11-01T01-06:00", "2026-11-01T07:00", "2026-11-01T08:00"),
        ("America/Sao_Paulo", "day", "2018-11-04", "2018-11-04T03:00", "2018-11-05T02:00"),
        ("Pacific/Apia", "day", "2011-12-31", "2011-12-30T10:00", "2011-12-31T10:00"),
    ],
)
def test_a_window_is_named_as_the_zone_has_it(zone, period, text, start, end) -> None:
    window = Clocks(zone, Period(period)).window_of(text)
    assert (window.start, window.end, window.time_zone) == (utc(start), utc(end), zone)


@pytest.mark.parametrize(
    ("zone", "period", "text"),
    [
        ("Pacific/Apia", "day", "2011-12-30"),
        ("Asia/Jakarta", "day", "2026-10-09T02:00:00"),
        ("Asia/Jakarta", "day", "2026-10-08T18:00:00Z"),
        ("Asia/Jakarta", "day", "2026-02-30"),
        ("Asia/Jakarta", "week", "2026-10-06"),
        ("Asia/Jakarta", "week", "2026-10"),
        ("Asia/Jakarta", "month", "2026-10-02"),
        ("Asia/Jakarta", "month", "2026-W41"),
        ("Asia/Jakarta", "hour", "2026-10-09"),
        ("Asia/Jakarta", "hour", "2026-10-09T02:30"),
        ("America/Chicago", "hour", "2026-03-08T02"),
        ("America/Chicago", "hour", "2026-11-01T01"),
        ("Asia/Jakarta", "day", ""),
        ("Asia/Jakarta", "day", "0000-00-00"),
    ],
)
def test_what_names_no_window_or_two_is_refused(zone, period, text) -> None:
    with pytest.raises(NoSuchTimeError):
        Clocks(zone, Period(period)).window_of(text)


@pytest.mark.parametrize("wrong", [("Mars/Olympus", "day"), ("../etc", "day"), ("UTC", "tick")])
def test_a_zone_or_a_period_that_is_none_is_refused(wrong) -> None:
    with pytest.raises(ConfigError):
        Clocks(wrong[0], Period(wrong[1]))


CHANGES = [
    utc(text)
    for text in (
        "2026-03-08T08:00", "2026-11-01T07:00", "2026-03-29T01:00", "2026-10-25T01:00",
        "2026-04-04T15:00", "2026-10-03T15:30", "2011-12-30T10:00", "2018-11-04T03:00",
    )
]  # fmt: skip
INSTANTS = st.one_of(
    st.integers(0, 45 * 366 * 24 * 3600).map(lambda n: utc("1990-01-01") + timedelta(seconds=n)),
    st.tuples(st.sampled_from(CHANGES), st.integers(-360, 360)).map(
        lambda drawn: drawn[0] + drawn[1] * MINUTE
    ),
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from(ZONES), INSTANTS)
def test_what_the_clocks_show_is_read_as_the_same_instant(zone: str, moment: datetime) -> None:
    clocks = Clocks(zone)
    assert clocks.instant(clocks.shown(moment)) == (moment, False)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    st.sampled_from(ZONES),
    st.sampled_from([each for each in Period if each is not Period.TICK]),
    INSTANTS,
)
def test_a_window_of_a_schedule_is_the_one_that_its_name_names(
    zone: str, period: Period, moment: datetime
) -> None:
    hourly = Schedule(every="1h", time_zone=zone, window=period)
    clocks = Clocks(zone, period)
    for window in hourly.due_between(moment, moment + timedelta(hours=3)):
        named = clocks.window_of(window.name)
        assert (named.start, named.end) == (window.start, window.end)
        assert clocks.name_of(named) == window.name
