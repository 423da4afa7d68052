"""The instants at which a schedule fires."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import count, takewhile
from typing import Protocol
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from ubunye_core.errors import ConfigError
from ubunye_core.schedules.days import ONE_DAY, midnight, still_midnight

ONE_MINUTE = timedelta(minutes=1)
SHORTEST_INTERVAL = ONE_MINUTE


class Firings(Protocol):
    """Instants in UTC, without end in both directions."""

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Those from ``moment`` on, included, in order."""
        ...

    def before(self, moment: datetime) -> datetime | None:
        """The last one earlier than ``moment``; None where there never was one."""
        ...


@dataclass(frozen=True)
class Cron:
    """What a cron expression of five fields fires in a zone, by what a wall clock shows there.

    A fixed time in the hour that the clocks skip fires at the moment they do. One in the hour that
    they show twice fires once, unless it would fire in every hour.

    Raises:
        ConfigError: it is no such expression, or never fires.
    """

    expression: str
    zone: ZoneInfo

    def __post_init__(self) -> None:
        hint = "Write five fields, minute first: 0 2 * * * is every day at 02:00."
        if not isinstance(self.expression, str) or len(self.expression.split()) != 5:
            raise ConfigError(f"{self.expression!r} is no cron expression.", hint=hint)
        try:
            next(CronSim(self.expression, datetime(2024, 1, 1, tzinfo=UTC)))
        except CronSimError as error:
            raise ConfigError(
                f"{self.expression!r} is no cron expression: {error}.", hint=hint
            ) from error
        except StopIteration:
            raise ConfigError(f"{self.expression!r} never fires.", hint=hint) from None

    def after(self, moment: datetime) -> Iterator[datetime]:
        """The firings from ``moment`` on.

        Where the clocks stand still, every day that fires does so at the same wall-clock times.
        The days around a change are left to the cron library.
        """
        minutes = self._minutes_of_a_day()
        day = moment.astimezone(self.zone).date()
        firing_days = self._firing_days(day)
        firing = next(firing_days, None)
        while firing is not None:
            begins = still_midnight(self.zone, day)
            if begins is None:
                first, ends = max(moment, midnight(self.zone, day)), None
                while ends is None:
                    day += ONE_DAY
                    ends = still_midnight(self.zone, day)
                yield from self.one_by_one(first, ends)
                while firing is not None and firing < day:
                    firing = next(firing_days, None)
                continue
            if firing == day:
                for minute in minutes:
                    at = begins + minute
                    if at >= moment:
                        yield at
                firing = next(firing_days, None)
            day += ONE_DAY

    def one_by_one(self, moment: datetime, until: datetime) -> Iterator[datetime]:
        """The firings from ``moment`` to ``until``, where the clocks change.

        The cron library tells those at fixed times. With a step or every hour or minute it goes
        by whole hours, and loses some where the clocks change by half of one (Lord Howe).
        """
        if any(field.startswith("*") for field in self.expression.split()[:2]):
            yield from self._as_clocks_show(moment, until)
            return
        last = None
        begin = (moment - timedelta(minutes=1)).astimezone(self.zone)
        for local in CronSim(self.expression, begin):
            at = local.astimezone(UTC)
            if at >= until:
                return
            if at >= moment and (last is None or at > last):
                yield at
                last = at

    def _as_clocks_show(self, moment: datetime, until: datetime) -> Iterator[datetime]:
        """Each instant at which a clock shows a time to fire at: two where it shows that twice."""
        times = self._minutes_of_a_day()
        last = until.astimezone(self.zone).date()
        for day in self._firing_days(moment.astimezone(self.zone).date()):
            if day > last:
                return
            shown = [datetime.combine(day, time()) + each for each in times]
            found = {
                local.replace(tzinfo=self.zone, fold=fold).astimezone(UTC)
                for local in shown
                for fold in (0, 1)
            }
            for at in sorted(found):
                is_shown = at.astimezone(self.zone).replace(tzinfo=None) in shown
                if is_shown and moment <= at < until:
                    yield at

    def _minutes_of_a_day(self) -> list[timedelta]:
        """How long after midnight it fires, on a day on which it does."""
        read = CronSim(self.expression, datetime(2024, 1, 1, tzinfo=UTC))
        return [
            timedelta(hours=hour, minutes=minute)
            for hour in sorted(read.hours)
            for minute in sorted(read.minutes)
        ]

    def _firing_days(self, first: date) -> Iterator[date]:
        """The days on which it fires, whatever the clocks do."""
        if self.expression.split()[2:] == ["*", "*", "*"]:
            return map(date.fromordinal, count(first.toordinal()))
        at_midnight = " ".join(("0", "0", *self.expression.split()[2:]))
        begin = datetime.combine(first, time()) - timedelta(minutes=1)
        return (each.date() for each in CronSim(at_midnight, begin))

    def before(self, moment: datetime) -> datetime | None:
        """The last firing earlier than ``moment``."""
        begin = (moment + timedelta(minutes=1)).astimezone(self.zone)
        for local in CronSim(self.expression, begin, reverse=True):
            at = local.astimezone(UTC)
            if at < moment:
                later = takewhile(lambda each: each < moment, self.after(at + ONE_MINUTE))
                return max(later, default=at)
        return None


@dataclass(frozen=True)
class Interval:
    """Instants at equal distances from one of them, in real time.

    Raises:
        ConfigError: they are less than a minute apart.
    """

    every: timedelta
    anchor: datetime

    def __post_init__(self) -> None:
        if self.every < SHORTEST_INTERVAL:
            raise ConfigError(f"'every' is {self.every}; a minute is the shortest.")

    def after(self, moment: datetime) -> Iterator[datetime]:
        """The instants from ``moment`` on."""
        at = self.anchor - (self.anchor - moment) // self.every * self.every
        while True:
            yield at
            at += self.every

    def before(self, moment: datetime) -> datetime | None:
        """The last instant earlier than ``moment``."""
        return next(self.after(moment)) - self.every
