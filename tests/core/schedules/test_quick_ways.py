"""What is told of many windows at once is what is told of each by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubunye_core.schedules.firings import Cron
from ubunye_core.schedules.periods import Period, TickNames, boundaries, name_of, names_of

ZONES = (
    "America/Chicago", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Jakarta",
    "America/Sao_Paulo", "Asia/Kathmandu", "America/Nuuk",
)  # fmt: skip
zones = st.sampled_from(ZONES).map(ZoneInfo)
days = st.integers(0, 365 * 26).map(lambda number: datetime(2000, 1, 1, tzinfo=UTC) + number * DAY)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
CHANGES = (datetime(2011, 12, 29, tzinfo=UTC), datetime(2024, 10, 25, tzinfo=UTC))
moments = st.builds(
    lambda day, minutes: day + timedelta(minutes=minutes),
    days | st.sampled_from(CHANGES),
    st.integers(0, 2_000),
)


@settings(max_examples=150, deadline=None)
@given(zones, st.sampled_from([each for each in Period if each is not Period.TICK]), moments)
def test_the_names_of_all_boundaries_are_those_of_each(zone, period, moment) -> None:
    starts = boundaries(period, zone, moment, moment + 5 * DAY)
    assert names_of(period, zone, starts) == [name_of(period, start, zone) for start in starts]


@settings(max_examples=150, deadline=None)
@given(zones, moments, st.lists(st.integers(-4_000, 4_000), max_size=30))
def test_the_names_of_ticks_are_those_of_each(zone, moment, minutes) -> None:
    names = TickNames(zone)
    for number in minutes:
        start = moment + timedelta(minutes=number, seconds=number % 60)
        assert names.of(start) == name_of(Period.TICK, start, zone)


@settings(max_examples=150, deadline=None)
@given(zones, moments)
def test_hours_begin_where_clocks_show_them(zone, moment) -> None:
    """As told of each quarter of an hour: the first instant at which a clock shows a new hour."""
    starts = boundaries(Period.HOUR, zone, moment, moment + DAY)
    assert starts == sorted(set(starts))
    quarters = (starts[0] + number * HOUR / 4 for number in range(4 * 24 * 9))
    shown = [each for each in quarters if each.astimezone(zone).minute == 0]
    assert starts == [each for each in shown if each <= starts[-1]]


@pytest.mark.parametrize("zone", ZONES)
def test_every_day_fires_as_each_day_of_the_week_does(zone: str) -> None:
    """The days of every day are counted, and others are asked of the cron library."""
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    plain, listed = Cron("30 1 * * *", ZoneInfo(zone)), Cron("30 1 * * 0-6", ZoneInfo(zone))
    assert list(islice(plain.after(moment), 800)) == list(islice(listed.after(moment), 800))
