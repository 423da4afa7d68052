"""A schedule: when a task is due, and which window each firing covers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from zoneinfo import ZoneInfo

from ubunye_core.errors import ConfigError
from ubunye_core.names import one_of
from ubunye_core.schedules.calendar import Calendar
from ubunye_core.schedules.clocks import zone_named
from ubunye_core.schedules.firings import Cron, Firings, Interval
from ubunye_core.schedules.periods import Period, TickNames, boundaries, names_of, reach_of
from ubunye_core.schedules.scheduled import ScheduledWindow, ScheduledWindows
from ubunye_core.times import EPOCH, as_utc, check_format, duration, instant, to_the_second

MOST_WINDOWS = 200_000
"""So many may be due in a period that is asked for: twenty years of an hourly schedule."""
AT_ONCE = timedelta(days=7300)
"""The hours of so long a time are looked at together: of a thousand years they fill the memory."""
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Of(StrEnum):
    """Which period a firing covers."""

    PREVIOUS = "previous"
    """The one that ended last before it: at 02:00, yesterday."""
    CURRENT = "current"
    """The one it lies in: on the 25th, this month."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """When a task is due: a cron expression in a time zone, or an interval.

    Raises:
        ConfigError: there is no such zone, or the expression or the interval cannot be.
    """

    cron: str | None = None
    """Five fields: ``0 2 * * *``. A fixed time that the clocks skip fires when they do, and one
    that they show twice fires once. What fires in every hour follows real time."""
    every: timedelta | str | None = None
    """The interval, in real time: ``6h``, counted from ``start``, else from 1970 in UTC."""
    time_zone: str = "UTC"
    """The IANA name of the zone in which days begin and cron is read."""
    window: Period = Period.TICK
    """What one firing covers."""
    of: Of = Of.PREVIOUS
    """Which one: the period before the firing, or the one it lies in."""
    start: datetime | str | None = None
    """What was due earlier is not expected."""
    end: datetime | str | None = None
    """What is due then or later is not expected."""
    calendar: Calendar | None = None
    """Days without work."""
    variable: str | None = None
    """The batch variable that names a window, for runs that have no window of their own."""
    format: str | None = None
    """How its value is written, as for ``strftime``; by default like a window's name."""
    early_margin: timedelta | str | None = None
    """A success that started longer than this before it was due is doubted; by default none is."""
    start_grace: timedelta | str = timedelta(minutes=5)
    """How long after it is due a run may start before the window is late."""
    finish_by: timedelta | str | None = None
    """How long after it is due a window may be without success before it is missing; by default
    until the next window is due."""
    max_runtime: timedelta | str | None = None
    """How long a run may take; by default three times what 95 of 100 runs took, once there are
    ten."""
    min_duration: timedelta | str | None = None
    """A success that took less is doubted."""
    min_rows: int | None = None
    """A success that wrote fewer rows is doubted."""

    zone: ZoneInfo = field(init=False, repr=False)
    """The time zone."""
    firings: Firings = field(init=False, repr=False, compare=False)
    """The instants at which it fires."""

    def __post_init__(self) -> None:
        if (self.cron is None) == (self.every is None):
            raise ConfigError("A schedule has either 'cron' or 'every'.")
        self._set("window", one_of(Period, self.window, "window"))
        self._set("of", one_of(Of, self.of, "of"))
        self._set("zone", zone_named(self.time_zone))
        for name in ("start", "end"):
            value = getattr(self, name)
            if value is not None:
                self._set(name, instant(value, what=name))
        for name in ("early_margin", "start_grace", "finish_by", "max_runtime", "min_duration"):
            value = getattr(self, name)
            if value is not None:
                self._set(name, duration(value, what=name))
        if self.format is not None and self.variable is None:
            raise ConfigError("A schedule has a 'format' and no 'variable'.")
        if self.format is not None:
            check_format(self.format)
        if self.cron is not None:
            self._set("firings", Cron(self.cron, self.zone))
        elif self.every is not None:
            anchor = self.start if isinstance(self.start, datetime) else EPOCH
            self._set("firings", Interval(duration(self.every, what="every"), anchor))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def doubts_successes(self) -> bool:
        """Whether it says of any success that it is odd: too early, too short, of too few rows."""
        return not (
            self.early_margin is None and self.min_duration is None and self.min_rows is None
        )

    def next_due(self, moment: datetime) -> datetime:
        """When the next window is due that is not excluded, also where the schedule ends before."""
        endless = replace(self, end=None)
        after = as_utc(moment) + timedelta(microseconds=1)
        for days in (2, 70, 800, 9000):
            until = after + timedelta(days=days)
            for window in endless._due(after, until):
                if window.excluded is None:
                    return window.due
        return LAST

    def value_of(self, window: ScheduledWindow) -> str:
        """The text by which the schedule's variable names a window."""
        if self.format is None:
            return window.name
        return window.start.astimezone(self.zone).strftime(self.format)

    def windows(self, since: datetime, until: datetime) -> list[ScheduledWindow]:
        """Every window that lies wholly inside a period, in order.

        Args:
            since: Where the period begins, included; with a zone.
            until: Where it ends, excluded.

        Returns:
            Windows in UTC. Those that the calendar excludes are among them, and say so.
        """
        since, until = as_utc(since), as_utc(until)
        found = self._covering(since, until)
        return [window for window in found if since <= window.start and window.end <= until]

    def touching(self, since: datetime, until: datetime) -> list[ScheduledWindow]:
        """Every window that shares time with a period, in order.

        Args:
            since: Where the period begins, included; with a zone.
            until: Where it ends, excluded.
        """
        since, until = as_utc(since), as_utc(until)
        begin = since
        if self.window is Period.TICK and self.of is Of.CURRENT:
            begin = self.firings.before(since + timedelta(microseconds=1)) or since
        found = self._covering(begin, until)
        return [window for window in found if window.start < until and since < window.end]

    def due_between(self, since: datetime, until: datetime) -> list[ScheduledWindow]:
        """Every window that is due in a period, in order; a window is due when it is first fired.

        Args:
            since: Included; with a zone.
            until: Excluded.

        Raises:
            ConfigError: there are more of them than anybody looks at.
        """
        return list(self.in_columns(since, until))

    def in_columns(self, since: datetime, until: datetime) -> ScheduledWindows:
        """``due_between``, for many windows of which few are looked at by themselves."""
        since, until = as_utc(since), as_utc(until)
        windows = ScheduledWindows()
        for first, last in _parts(since, until):
            windows.extend(self._due(first, last, most=MOST_WINDOWS + 1))
            if len(windows) > MOST_WINDOWS:
                raise ConfigError(
                    f"More than {MOST_WINDOWS:,} windows are due from {to_the_second(since)} to "
                    f"{to_the_second(until)}.",
                    hint="Ask for a shorter period.",
                )
        return windows

    def _due(
        self, since: datetime, until: datetime, most: int | None = None
    ) -> Iterable[ScheduledWindow]:
        """The windows that are due in a period, or the first of them."""
        if self.window is Period.TICK:
            return islice(self._ticks(since, until), most)
        return self._periods(since, until, since, most)

    def _covering(self, since: datetime, until: datetime) -> Iterable[ScheduledWindow]:
        """The windows inside a period, and some around it."""
        if self.window is not Period.TICK:
            reach = reach_of(self.window)
            return self._periods(since - reach, until + reach, None)
        after = next(self.firings.after(until), until)
        return self._ticks(since, after + timedelta(microseconds=1))

    def _ticks(self, since: datetime, until: datetime) -> Iterator[ScheduledWindow]:
        """The windows from one firing to the next, for the firings of a period."""
        firings, name_of = self.firings.after(since), TickNames(self.zone).of
        before, at = self.firings.before(since), next(firings, None)
        first, last = self._validity
        while at is not None and at < until:
            after = next(firings, None)
            start, end = (before, at) if self.of is Of.PREVIOUS else (at, after)
            if start is not None and end is not None and first <= at < last:
                excluded = self._excluded(start, end)
                yield ScheduledWindow(start, end, at, name_of(start), excluded)
            before, at = at, after

    def _periods(
        self,
        since: datetime,
        until: datetime,
        due_since: datetime | None,
        most: int | None = None,
    ) -> ScheduledWindows:
        """The calendar's periods, each at the first firing that covers it."""
        begin = since - reach_of(self.window)  # the window of a firing may have been due before it
        edges = boundaries(self.window, self.zone, begin, until)
        names = names_of(self.window, self.zone, edges)
        first, last = self._validity
        first = first if due_since is None else max(first, due_since)
        back, covered = (1 if self.of is Of.PREVIOUS else 0), -1
        here = bisect_right(edges, begin) - 1
        found = ScheduledWindows()
        places: list[int] = []
        for at in self.firings.after(begin):
            if at >= until or len(places) == most:
                break
            while edges[here + 1] <= at:
                here += 1
            if here - back != covered:
                covered = here - back
                if first <= at < last:
                    places.append(covered)
                    found.due.append(at)
        found.start = [edges[place] for place in places]
        found.end = [edges[place + 1] for place in places]
        found.name = [names[place] for place in places]
        if self.calendar is None:
            found.excluded = [None] * len(places)
        else:
            found.excluded = list(map(self._excluded, found.start, found.end))
        return found

    @property
    def _validity(self) -> tuple[datetime, datetime]:
        """From when on what is due is expected, and until when."""
        first = self.start if isinstance(self.start, datetime) else FIRST
        return first, self.end if isinstance(self.end, datetime) else LAST

    def _excluded(self, start: datetime, end: datetime) -> str | None:
        """Why no run of a window is expected."""
        return None if self.calendar is None else self.calendar.excludes(start, end, self.zone)


def _parts(since: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """A period in parts that are not too long, in order."""
    while until - since > AT_ONCE:
        yield since, since + AT_ONCE
        since += AT_ONCE
    yield since, until
