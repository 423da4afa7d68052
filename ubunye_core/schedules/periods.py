"""Hours, days, weeks and months of a time zone: they tile time, whatever its clocks do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

ONE_DAY, ONE_HOUR = timedelta(days=1), timedelta(hours=1)


class Period(StrEnum):
    """What one firing covers."""

    TICK = "tick"
    """From one firing to the next."""
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    """From Monday, as ISO counts them."""
    MONTH = "month"


_REACH = {
    Period.HOUR: timedelta(days=3),
    Period.DAY: timedelta(days=4),
    Period.WEEK: timedelta(days=16),
    Period.MONTH: timedelta(days=70),
}


def reach_of(period: Period) -> timedelta:
    """How far around an instant its period and both its neighbours surely lie."""
    return _REACH[period]


def boundaries(period: Period, zone: ZoneInfo, since: datetime, until: datetime) -> list[datetime]:
    """Where periods of a zone begin, in UTC: all between two instants, and more beyond each.

    A local midnight that the clocks skip is the instant at which they skip it. One that they show
    twice counts once, the first time. Hours that they show twice are two. A day that a zone leaves
    out (Apia, 30 December 2011) is none.
    """
    reach = reach_of(period)
    first = (since - reach).astimezone(zone).date()
    last = (until + reach).astimezone(zone).date()
    found = {
        local.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        for local in _local_starts(period, first, last)
        for fold in ((0, 1) if period is Period.HOUR else (0,))
    }
    return sorted(found)


def name_of(period: Period, start: datetime, zone: ZoneInfo) -> str:
    """A window for people and variables.

    ``2026-10``, ``2026-W42``, ``2026-10-15``, ``2026-10-15T02``; a tick by its minute. What the
    clocks show twice has its offset.
    """
    local = start.astimezone(zone)
    match period:
        case Period.MONTH:
            return f"{local:%Y-%m}"
        case Period.WEEK:
            return f"{local:%G-W%V}"
        case Period.DAY:
            return f"{local:%Y-%m-%d}"
        case Period.HOUR:
            return f"{local:%Y-%m-%dT%H}{_offset_if_twice(local, zone)}"
        case _:
            return f"{local:%Y-%m-%dT%H:%M}{_offset_if_twice(local, zone)}"


def _local_starts(period: Period, first: date, last: date) -> Iterator[datetime]:
    """The wall-clock times at which periods begin, without a zone."""
    day = first
    if period is Period.WEEK:
        day -= timedelta(days=day.weekday())
    elif period is Period.MONTH:
        day = day.replace(day=1)
    while day <= last:
        midnight = datetime.combine(day, time())
        if period is Period.HOUR:
            yield from (midnight + hour * ONE_HOUR for hour in range(24))
            day += ONE_DAY
        elif period is Period.MONTH:
            yield midnight
            day = (day + timedelta(days=31)).replace(day=1)
        else:
            yield midnight
            day += timedelta(days=7) if period is Period.WEEK else ONE_DAY


def _offset_if_twice(local: datetime, zone: ZoneInfo) -> str:
    """The offset of a wall-clock time that a zone shows twice; else nothing."""
    plain = local.replace(tzinfo=None)
    first, second = (plain.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    is_twice = first is not None and second is not None and first > second
    return local.isoformat()[19:] if is_twice else ""
