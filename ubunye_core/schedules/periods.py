"""Hours, days, weeks and months of a time zone: they tile time, whatever its clocks do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import cache
from zoneinfo import ZoneInfo

from ubunye_core.schedules.days import ONE_DAY, still_midnight

ONE_HOUR, ONE_MINUTE = timedelta(hours=1), timedelta(minutes=1)
_HOURS = tuple(hour * ONE_HOUR for hour in range(24))
_HOUR_NAMES = tuple(f"T{hour:02}" for hour in range(24))
_NEVER = datetime.max.replace(tzinfo=UTC)


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
    twice counts once, the first time. Hours that they show twice are two; one whose beginning they
    skip belongs to the hour before. A day that a zone leaves out (Apia, 30 December 2011) is none.
    """
    reach = reach_of(period)
    first = (since - reach).astimezone(zone).date()
    last = (until + reach).astimezone(zone).date()
    if period is Period.HOUR:
        return _hours(zone, first, last)
    starts = _local_starts(period, first, last)
    return sorted({local.replace(tzinfo=zone).astimezone(UTC) for local in starts})


def names_of(period: Period, zone: ZoneInfo, starts: Sequence[datetime]) -> list[str]:
    """The names of the windows that begin at the boundaries of a period, as ``name_of`` has them.

    Args:
        period: The period; not a tick.
        zone: Its zone.
        starts: All boundaries between two instants, in order.
    """
    if period is not Period.HOUR:
        return [name_of(period, start, zone) for start in starts]
    names: list[str] = []
    while len(names) < len(starts):
        start = starts[len(names)]
        day = start.astimezone(zone).date()
        if still_midnight(zone, day) == start:
            text = day.isoformat()
            names += [text + hour for hour in _HOUR_NAMES]
        else:
            names.append(name_of(period, start, zone))
    return names


class TickNames:
    """Names ticks of a zone, as ``name_of`` does."""

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone
        self._midnight = self._next_midnight = _NEVER
        self._day = ""

    def of(self, start: datetime) -> str:
        """The name of the window that begins at this instant."""
        if not self._midnight <= start < self._next_midnight:
            self._look_at_the_day(start)
        if self._midnight is _NEVER:
            return name_of(Period.TICK, start, self._zone)
        return self._day + _minute_names()[(start - self._midnight) // ONE_MINUTE]

    def _look_at_the_day(self, start: datetime) -> None:
        """Learn of the day in which a tick begins, if the clocks stand still on it."""
        day = start.astimezone(self._zone).date()
        self._midnight = still_midnight(self._zone, day) or _NEVER
        if self._midnight is not _NEVER:
            self._next_midnight, self._day = self._midnight + ONE_DAY, day.isoformat()


@cache
def _minute_names() -> tuple[str, ...]:
    return tuple(f"T{hour:02}:{minute:02}" for hour in range(24) for minute in range(60))


def name_of(period: Period, start: datetime, zone: ZoneInfo) -> str:
    """The name of a window for people and variables.

    ``2026-10``, ``2026-W42``, ``2026-10-15``, ``2026-10-15T02``; a tick by its minute. What the
    clocks show twice has its offset.
    """
    local = start.astimezone(zone)
    if period is Period.HOUR:
        return f"{local.isoformat()[:13]}{_offset_if_twice(local, zone)}"
    if period is Period.TICK:
        return f"{local.isoformat()[:16]}{_offset_if_twice(local, zone)}"
    if period is Period.DAY:
        return local.isoformat()[:10]
    return f"{local:%Y-%m}" if period is Period.MONTH else f"{local:%G-W%V}"


def _hours(zone: ZoneInfo, first: date, last: date) -> list[datetime]:
    """Where the hours of some days begin."""
    found: list[datetime] = []
    changing: set[datetime] = set()
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        begins = still_midnight(zone, day)
        if begins is None:
            changing.update(_hours_shown(zone, day))
            continue
        if changing:
            found += sorted(changing)
            changing.clear()
        found += [begins + hour for hour in _HOURS]
    return found + sorted(changing)


def _hours_shown(zone: ZoneInfo, day: date) -> Iterator[datetime]:
    """The instants at which the clocks show a whole hour of a day near which they change."""
    for hour in _HOURS:
        local = datetime.combine(day, time(), zone) + hour
        for at in (local.replace(fold=fold).astimezone(UTC) for fold in (0, 1)):
            # Clocks that skip a whole hour show the next one then; of half an hour that is
            # left of one (Lord Howe), nothing shows a beginning.
            if at.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None):
                yield at


def _local_starts(period: Period, first: date, last: date) -> Iterator[datetime]:
    """The wall-clock times at which periods begin, without a zone."""
    day = first
    if period is Period.WEEK:
        day -= timedelta(days=day.weekday())
    elif period is Period.MONTH:
        day = day.replace(day=1)
    while day <= last:
        midnight = datetime.combine(day, time())
        if period is Period.MONTH:
            yield midnight
            day = (day + timedelta(days=31)).replace(day=1)
        else:
            yield midnight
            day += timedelta(days=7) if period is Period.WEEK else ONE_DAY


def _offset_if_twice(local: datetime, zone: ZoneInfo) -> str:
    """The offset of a wall-clock time that a zone shows twice; else nothing."""
    if still_midnight(zone, local.date()) is not None:
        return ""
    plain = local.replace(tzinfo=None)
    first, second = (plain.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    is_twice = first is not None and second is not None and first > second
    return local.isoformat()[19:] if is_twice else ""
