"""Days on which the clocks of a zone stand still: nearly all, and what fires on them is plain."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

ONE_DAY = timedelta(days=1)
_NOON = time(12)
_MOST_REMEMBERED = 1 << 15


@lru_cache(_MOST_REMEMBERED)
def still_midnight(zone: ZoneInfo, day: date) -> datetime | None:
    """Where a day begins, in UTC, if the clocks change neither on it nor on the days beside it.

    None where they do: what is to happen on such a day needs a closer look.
    """
    offset = _offset(zone, day)
    if offset is None or offset != _offset(zone, day - ONE_DAY):
        return None
    if offset != _offset(zone, day + ONE_DAY):
        return None
    return datetime.combine(day, time(), UTC) - offset


def midnight(zone: ZoneInfo, day: date) -> datetime:
    """Where any day begins, in UTC; the instant at which the clocks skip it, if they do."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


@lru_cache(_MOST_REMEMBERED)
def _offset(zone: ZoneInfo, day: date) -> timedelta | None:
    """How far the clocks are from UTC on a day; None where that changes."""
    first = datetime.combine(day, time(), zone).utcoffset()
    noon = datetime.combine(day, _NOON, zone).utcoffset()
    last = datetime.combine(day + ONE_DAY, time(), zone).utcoffset()
    return first if first == noon == last else None
