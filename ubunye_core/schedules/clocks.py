"""Times of day: what wall clocks show in a zone, and the instants at which they do."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import time
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ubunye_core.errors import ConfigError
from ubunye_core.schedules.firings import Cron

EVERY_DAY = frozenset(range(7))
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)


def zone_named(name: str) -> ZoneInfo:
    """The time zone of an IANA name.

    Raises:
        ConfigError: there is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError) as error:
        raise ConfigError(
            f"{name!r} is no time zone.", hint="Write its IANA name: Asia/Jakarta."
        ) from error


def time_of_day(value: time | str, *, what: str) -> time:
    """An argument that is a time of day, to the minute.

    Raises:
        ConfigError: it is none.
    """
    if isinstance(value, time):
        if value.tzinfo is not None or value.second or value.microsecond:
            raise ConfigError(f"{value} is no plain time of day for {what}.", hint="Give time(2).")
        return value
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ConfigError(f"{value!r} is no time of day for {what}.", hint="Write 02:00 or 23:30.")
    return time(int(match[1]), int(match[2]))


def daily(at: time, zone: ZoneInfo, days: Collection[int] = EVERY_DAY) -> Cron:
    """The instants at which the clocks of a zone show a time, as a schedule fires at it.

    Once a day: what they skip is the moment at which they do, and what they show twice is the
    first time.

    Args:
        at: The time.
        zone: Whose clocks.
        days: On which days of the week, Monday is 0.
    """
    of_week = ",".join(str((day + 1) % 7) for day in sorted(days))  # in cron Sunday is 0
    return Cron(f"{at.minute} {at.hour} * * {of_week}", zone)
