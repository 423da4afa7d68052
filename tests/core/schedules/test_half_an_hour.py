"""Clocks that change, in Lord Howe by half an hour, lose no firing that goes by steps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim

from ubunye_core.schedules import Period, Schedule
from ubunye_core.schedules.firings import Cron

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
CHANGES = [
    ("Australia/Lord_Howe", datetime(2024, 4, 6, 15, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2024, 10, 5, 15, 30, tzinfo=UTC)),
    ("Europe/London", datetime(2024, 3, 31, 1, tzinfo=UTC)),
    ("Europe/London", datetime(2024, 10, 27, 1, tzinfo=UTC)),
    ("America/Havana", datetime(2024, 3, 10, 5, tzinfo=UTC)),  # at midnight
    ("America/Havana", datetime(2024, 11, 3, 5, tzinfo=UTC)),
]


@pytest.mark.parametrize(("zone", "change"), CHANGES, ids=str)
@pytest.mark.parametrize(
    "expression", ["0 */6 * * *", "0 */3 * * *", "30 */4 * * *", "*/30 2 * * *", "15 * * * 0"]
)
def test_what_goes_by_steps_fires_whenever_a_clock_shows_its_time(
    expression: str, zone: str, change: datetime
) -> None:
    since, until, local = change - 2 * DAY, change + 2 * DAY, ZoneInfo(zone)
    read = CronSim(expression, datetime(2024, 1, 1, tzinfo=UTC))
    shown = [
        at
        for at in (since + number * MINUTE for number in range(4 * 24 * 60))
        if at.astimezone(local).minute in read.minutes
        and at.astimezone(local).hour in read.hours
        and read.match_day(at.astimezone(local).date())
    ]
    cron = Cron(expression, local)
    assert list(takewhile(lambda at: at < until, cron.after(since))) == shown
    assert [cron.before(at) for at in shown[1:]] == shown[:-1]


@pytest.mark.parametrize(("zone", "change"), CHANGES, ids=str)
def test_each_hour_begins_when_a_clock_shows_it_and_has_a_firing_and_a_name_of_its_own(
    zone: str, change: datetime
) -> None:
    local = ZoneInfo(zone)
    hourly = Schedule(cron="0 * * * *", time_zone=zone, window=Period.HOUR)
    windows = hourly.windows(change - DAY, change + DAY)
    assert [each.start for each in windows[1:]] == [each.end for each in windows[:-1]]
    assert len({each.name for each in windows}) == len(windows)
    assert all(each.start.astimezone(local).minute == 0 for each in windows)
