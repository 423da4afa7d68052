"""Maintenance: times at which a platform is busy with itself, and nothing else should run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from ubunye_core.errors import ConfigError
from ubunye_core.schedules.clocks import EVERY_DAY, daily, time_of_day, zone_named
from ubunye_core.schedules.firings import Cron
from ubunye_core.times import duration, in_words, instant

LONGEST = timedelta(days=7)
A_DAY, A_MINUTE = timedelta(days=1), timedelta(minutes=1)
MOST_IN_A_MONTH = 31 * 24
END_OF_DAY = "24:00"
SOME_DAY = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Maintenance:
    """When something is maintained: between two times of day, or for so long after a cron fires.

    Raises:
        ConfigError: it says neither or both, or one of its parts cannot be.
    """

    name: str
    """For people: ``backup warehouse``."""
    from_: time | str | None = None
    """The time of day at which it begins, ``00:00``; ``from`` in YAML."""
    to: time | str | None = None
    """When it ends, ``01:00``; on the next day where that is not later. ``24:00`` is midnight."""
    days: frozenset[int] = EVERY_DAY
    """Days of the week on which it begins, Monday is 0."""
    cron: str | None = None
    """Or: the cron expression at which it begins."""
    takes: timedelta | str | None = None
    """How long it then takes."""
    time_zone: str = "UTC"
    """The IANA name of the zone whose clocks count."""
    start: datetime | date | str | None = None
    """What begins earlier does not take place: an instant, or a date in its zone."""
    end: datetime | date | str | None = None
    """What begins then or later does not take place."""

    zone: ZoneInfo = field(init=False, repr=False)
    """The time zone."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ConfigError("Maintenance has a name, for people.", hint="Write: backup warehouse")
        self._set("zone", zone_named(self.time_zone))
        if self.cron is not None:
            self._check_cron()
        else:
            self._check_times()
        for name in ("start", "end"):
            if getattr(self, name) is not None:
                self._set(name, first_instant(getattr(self, name), self.zone, name))
        starts, ends = self.start, self.end
        if isinstance(starts, datetime) and isinstance(ends, datetime) and ends <= starts:
            raise ConfigError("'end' is not after 'start', so it never takes place.")

    def _check_cron(self) -> None:
        if self.from_ is not None or self.to is not None or self.days != EVERY_DAY:
            raise ConfigError("Maintenance has either 'cron', or 'from', 'to' and 'days'.")
        if self.takes is None:
            raise ConfigError("'cron' says when it begins; 'takes' is missing.", hint="takes: 1h")
        takes = duration(self.takes, what="takes")
        if not A_MINUTE <= takes <= LONGEST:
            raise ConfigError(f"'takes' is {in_words(takes)}; it is from 1m to 7d.")
        self._set("takes", takes)
        firings = Cron(str(self.cron), self.zone)
        first = next(firings.after(SOME_DAY))  # it may fire in one month of the year only
        often = takewhile(lambda at: at < first + 31 * A_DAY, firings.after(first))
        if sum(1 for _ in islice(often, MOST_IN_A_MONTH + 1)) > MOST_IN_A_MONTH:
            raise ConfigError(f"{self.cron!r} fires more often than once an hour.")

    def _check_times(self) -> None:
        if self.from_ is None or self.to is None:
            raise ConfigError(
                "Maintenance has either 'from' and 'to', or 'cron' and 'takes'.",
                hint='Write from: "00:00" and to: "01:00".',
            )
        if self.takes is not None:
            raise ConfigError("'takes' goes with 'cron'; 'from' has its 'to'.")
        if not self.days or not EVERY_DAY.issuperset(self.days):
            raise ConfigError("'days' names no day of the week.", hint="Leave it out for all.")
        self._set("days", frozenset(self.days))
        begin = time_of_day(self.from_, what="from")
        whole_day = self.to == END_OF_DAY
        end = time() if whole_day else time_of_day(self.to, what="to")
        if begin == end and not whole_day:
            raise ConfigError(
                f"It ends at {begin:%H:%M}, when it begins.",
                hint="A whole day is from 00:00 to 24:00.",
            )
        self._set("from_", begin)
        self._set("to", end)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def times(self) -> str:
        """When it takes place, for people: ``00:00–01:00``, ``0 2 * * sun for 4h``."""
        if isinstance(self.from_, time) and isinstance(self.to, time):
            return f"{self.from_:%H:%M}–{self.to:%H:%M}".replace("–00:00", f"–{END_OF_DAY}")
        takes = self.takes if isinstance(self.takes, timedelta) else timedelta(0)
        return f"{self.cron} for {in_words(takes)}"

    def between(self, since: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
        """Each time that it takes place at some instant of a period: begin in, end out, UTC.

        Args:
            since: Where the period begins, included; with a zone.
            until: Where it ends, excluded.
        """
        found = self._from(since - LONGEST, until)
        return [(begin, end) for begin, end in found if end > since]

    def _from(self, since: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
        first, last = since, until
        if isinstance(self.start, datetime):
            first = max(first, self.start)
        if isinstance(self.end, datetime):
            last = min(last, self.end)
        if isinstance(self.from_, time) and isinstance(self.to, time):
            begins = daily(self.from_, self.zone, self.days).after(first)
            for begin in takewhile(lambda at: at < last, begins):
                yield begin, self._end_after(begin, self.from_, self.to)
        elif isinstance(self.takes, timedelta):
            begins = Cron(str(self.cron), self.zone).after(first)
            for begin in takewhile(lambda at: at < last, begins):
                yield begin, begin + self.takes

    def _end_after(self, begin: datetime, from_: time, to: time) -> datetime:
        """When what begins at an instant ends: the later, where clocks show that time twice."""
        length = timedelta(hours=to.hour - from_.hour, minutes=to.minute - from_.minute)
        day = begin.astimezone(self.zone).date()
        if length <= timedelta(0):
            length, day = length + A_DAY, day + A_DAY
        local = datetime.combine(day, to, self.zone)
        end = max(local.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
        return end if end > begin else begin + length  # the clocks skipped all of it


def first_instant(value: datetime | date | str, zone: ZoneInfo, what: str) -> datetime:
    """An instant; of a date, its first in a zone.

    Raises:
        ConfigError: it is neither.
    """
    try:
        day = date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return instant(str(value), what=what, forms="2026-10-15 or 2026-10-15T06:00:00+07:00")
    if isinstance(day, datetime) or not isinstance(day, date):
        return instant(day, what=what)
    return instant(datetime(day.year, day.month, day.day, tzinfo=zone), what=what)
