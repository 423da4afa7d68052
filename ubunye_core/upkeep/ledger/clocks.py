"""What the clocks of a zone show: datetimes without an offset, and days by their names."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from ubunye_core.errors import ConfigError
from ubunye_core.names import one_of
from ubunye_core.receipt import Window
from ubunye_core.schedules.clocks import zone_named
from ubunye_core.schedules.periods import Period, boundaries, name_of
from ubunye_core.times import FIRST_YEAR, LAST_YEAR

_MONTH = re.compile(r"\d{4}-\d{2}", re.ASCII)
_NAME = {
    Period.HOUR: "%Y-%m-%dT%H",
    Period.DAY: "%Y-%m-%d",
    Period.WEEK: "%G-W%V",
    Period.MONTH: "%Y-%m",
}
_WRITTEN = {
    Period.HOUR: "an hour, such as 2026-10-15T02",
    Period.DAY: "a day, such as 2026-10-15",
    Period.WEEK: "a week, such as 2026-W42, nor its Monday",
    Period.MONTH: "a month, such as 2026-10, nor its first day",
}


class NoSuchTimeError(ValueError):
    """A text is no time of a zone, or may be two. Says why, and shows no value."""


@dataclass(frozen=True)
class Clocks:
    """The clocks of a zone, and which of its periods a window is.

    Raises:
        ConfigError: there is no such zone, or no such period.
    """

    time_zone: str
    window: Period = Period.DAY

    def __post_init__(self) -> None:
        period = one_of(Period, self.window, "window")
        if period is Period.TICK:
            raise ConfigError(
                "A ledger names no ticks.", hint="Use hour, day, week or month for 'window'."
            )
        object.__setattr__(self, "window", period)
        _ = self.zone

    @property
    def zone(self) -> ZoneInfo:
        """The zone itself.

        Raises:
            ConfigError: there is no such zone.
        """
        return zone_named(self.time_zone)

    def instant(self, text: str) -> tuple[datetime, bool]:
        """The instant that a text shows, in UTC; and whether it may be a second one as well.

        Without an offset it is what the clocks of the zone showed. What they showed twice is the
        first time, as a schedule fires; what they skipped, nobody can have read from them.

        Raises:
            NoSuchTimeError: it is no date and time, or the clocks skipped it.
        """
        try:
            shown = datetime.fromisoformat(text)
        except ValueError:
            shown = None
        if shown is None or len(text) <= len("2026-10-15") or not _is_meant(shown):
            raise NoSuchTimeError("is no date and time, such as 2026-10-15T02:00:00")
        if shown.tzinfo is not None:
            return shown.astimezone(UTC), False
        found = self._instants_of(shown)
        if not found:
            raise NoSuchTimeError(f"is a time that the clocks of {self.time_zone} skipped")
        return found[0], len(found) > 1

    def shown(self, moment: datetime) -> str:
        """What the clocks show, as ``instant`` reads it; with the offset where it could be two."""
        local = moment.astimezone(self.zone)
        plain = local.replace(tzinfo=None)
        known = self._instants_of(plain)
        return (plain if known == [moment] else local).isoformat()

    def window_of(self, text: str) -> Window:
        """The window that a text names, or whose first moment it is.

        Raises:
            NoSuchTimeError: it names none, or the clocks showed it twice.
        """
        return _window_of(self, text)

    def _window_of(self, text: str) -> Window:
        start = self._start_of(text)
        end = self._end_of(start)
        if end is None:
            raise NoSuchTimeError(f"is not {_WRITTEN[self.window]}")
        return Window(start=start, end=end, time_zone=self.time_zone)

    def name_of(self, window: Window) -> str | None:
        """The text that names a window; None where it is not one whole period of the zone."""
        if self._end_of(window.start) != window.end:
            return None
        return name_of(self.window, window.start, self.zone)

    def _end_of(self, start: datetime) -> datetime | None:
        """Where the period ends that begins here; None where none does."""
        edges = _edges(self.window, self.time_zone, start.date())
        at = bisect_left(edges, start)
        return edges[at + 1] if edges[at] == start else None

    def _start_of(self, text: str) -> datetime:
        """The instant at which the window begins that a text names."""
        first = _first_moment(text, self.window)
        wrong = NoSuchTimeError(f"is not {_WRITTEN[self.window]}")
        if first is None or not _is_meant(first):
            raise wrong
        if first.tzinfo is not None:
            return first.astimezone(UTC)
        name = first.strftime(_NAME[self.window])
        starts = {first.replace(tzinfo=self.zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
        found = sorted(
            start
            for start in starts
            if self._end_of(start) is not None
            and start.astimezone(self.zone).strftime(_NAME[self.window]) == name
        )
        if len(found) > 1:
            raise NoSuchTimeError(
                f"is an hour that the clocks of {self.time_zone} showed twice: write its offset"
            )
        if not found:
            raise wrong
        return found[0]

    def _instants_of(self, shown: datetime) -> list[datetime]:
        """When the clocks showed this: once, twice or never."""
        found = {shown.replace(tzinfo=self.zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
        return sorted(
            each for each in found if each.astimezone(self.zone).replace(tzinfo=None) == shown
        )


@lru_cache(maxsize=1024)
def _window_of(clocks: Clocks, text: str) -> Window:
    """Lines that follow each other often name the same one: they share it."""
    return clocks._window_of(text)


@lru_cache(maxsize=64)
def _edges(period: Period, time_zone: str, day: date) -> list[datetime]:
    """Where periods begin around a day of UTC: the lines of a ledger are mostly in order."""
    first = datetime.combine(day, time(), UTC)
    return boundaries(period, ZoneInfo(time_zone), first, first + timedelta(days=1))


def _is_meant(shown: datetime) -> bool:
    return FIRST_YEAR <= shown.year <= LAST_YEAR


def _first_moment(text: str, period: Period) -> datetime | None:
    """The first moment of what a text names, as clocks show it; None for another kind of period."""
    if _MONTH.fullmatch(text):
        text = f"{text}-01" if period is Period.MONTH else ""
    if ("W" in text and period is not Period.WEEK) or (
        period is Period.HOUR and len(text) <= len("2026-10-15")
    ):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
