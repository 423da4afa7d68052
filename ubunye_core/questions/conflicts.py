"""What is going on in a slot of the day: maintenance that is planned, tasks that were seen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from ubunye_core.counted import count
from ubunye_core.questions.observed import Busy
from ubunye_core.schedules.clocks import daily
from ubunye_core.schedules.maintenance import Maintenance
from ubunye_core.times import in_words

AHEAD = timedelta(days=366)
"""So far ahead maintenance is looked for: what is yearly is among it."""
A_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A time of day at which a task may start, every day, and how long it is for."""

    at: time
    takes: timedelta
    zone: ZoneInfo

    @property
    def name(self) -> str:
        """For people: ``02:00–02:30 Asia/Jakarta``."""
        minutes = self.at.hour * 60 + self.at.minute + self.takes // timedelta(minutes=1)
        return f"{self.at:%H:%M}–{minutes // 60 % 24:02}:{minutes % 60:02} {self.zone.key}"

    def between(self, since: datetime, until: datetime) -> Iterator[datetime]:
        """When it begins, each day of a period, in UTC."""
        return takewhile(lambda at: at < until, daily(self.at, self.zone).after(since))


@dataclass(frozen=True, kw_only=True)
class MaintenanceConflict:
    """Maintenance that takes place in a slot."""

    name: str
    times: str
    """When it takes place, for people."""
    time_zone: str
    next_at: datetime
    """When it next begins and is in the way."""
    days: int
    """On how many days of the coming year it is."""


@dataclass(frozen=True, kw_only=True)
class TaskConflict:
    """A task that was seen in a slot."""

    task: str
    starts: int
    """How many runs started in it."""
    runs_over: int
    """How many started before, and usually still run."""
    days: int
    """On how many days that was."""
    first: str
    """The earliest start on its day, ``00:00`` by the slot's clocks; counted from the slot."""
    last: str
    """The latest."""
    usual_length: timedelta
    """How long such runs take: the longest of what 95 of 100 do not exceed."""
    last_at: datetime
    """When the newest of these runs started."""

    @property
    def reason(self) -> str:
        """In words, with how many runs were seen."""
        when = self.first if self.first == self.last else f"{self.first}–{self.last}"
        does = "runs over it from" if not self.starts else "starts at"
        runs = self.starts + self.runs_over
        return (
            f"{self.task} {does} {when} ({count(runs, 'run')} on "
            f"{count(self.days, 'day')}, {in_words(self.usual_length)})"
        )


@dataclass(frozen=True)
class Planned:
    """When one maintenance takes place in the coming year."""

    of: Maintenance
    begins: Sequence[datetime]
    """In order."""
    ends: Sequence[datetime]
    longest: timedelta

    @classmethod
    def ahead(cls, maintenance: Maintenance, now: datetime) -> Planned:
        """From an instant on."""
        times = sorted(maintenance.between(now, now + AHEAD + A_DAY))
        return cls(
            of=maintenance,
            begins=[begin for begin, _ in times],
            ends=[end for _, end in times],
            longest=max((end - begin for begin, end in times), default=timedelta(0)),
        )

    def first_within(self, start: datetime, end: datetime) -> datetime | None:
        """When the first begins that takes place at some instant of a period."""
        first = bisect_right(self.begins, start - self.longest)
        for at in range(first, bisect_left(self.begins, end)):
            if self.ends[at] > start:
                return self.begins[at]
        return None


def with_maintenance(
    slot: Slot, planned: Sequence[Planned], now: datetime
) -> list[MaintenanceConflict]:
    """The maintenance that is in the way of a slot, on any day of the coming year."""
    conflicts = []
    days = list(slot.between(now, now + AHEAD)) if planned else []
    for each in planned:
        found = [each.first_within(start, start + slot.takes) for start in days]
        begins = [begin for begin in found if begin is not None]
        if begins:
            conflicts.append(
                MaintenanceConflict(
                    name=each.of.name,
                    times=each.of.times,
                    time_zone=each.of.time_zone,
                    next_at=begins[0],
                    days=len(begins),
                )
            )
    return conflicts


@dataclass
class _Seen:
    """What was seen of one task in a slot."""

    starts: set[datetime] = field(default_factory=set)
    over: set[datetime] = field(default_factory=set)
    days: set[datetime] = field(default_factory=set)
    offsets: list[tuple[timedelta, datetime]] = field(default_factory=list)
    """How long after the slot a run started, and when that was."""
    longest: timedelta = timedelta(0)

    def add(self, run: Busy, begins: datetime) -> None:
        """A run that is in the way of the slot of one day."""
        (self.starts if run.started_at >= begins else self.over).add(run.started_at)
        self.days.add(begins)
        self.offsets.append((run.started_at - begins, run.started_at))
        self.longest = max(self.longest, run.until - run.started_at)

    def conflict(self, task: str, zone: ZoneInfo) -> TaskConflict:
        """In numbers and words."""
        first, last = (
            f"{at.astimezone(zone):%H:%M}" for _, at in (min(self.offsets), max(self.offsets))
        )
        return TaskConflict(
            task=task,
            starts=len(self.starts),
            runs_over=len(self.over - self.starts),
            days=len(self.days),
            first=first,
            last=last,
            usual_length=self.longest,
            last_at=max(at for _, at in self.offsets),
        )


def with_tasks(
    slot: Slot, busy: Sequence[Busy], *, since: datetime, now: datetime
) -> list[TaskConflict]:
    """The tasks that started in a slot or ran over it, on any day since an instant."""
    seen: dict[str, _Seen] = {}
    for run, begins in _runs_in(slot, busy, since, now):
        seen.setdefault(run.task, _Seen()).add(run, begins)
    conflicts = [each.conflict(task, slot.zone) for task, each in seen.items()]
    return sorted(conflicts, key=lambda each: (-(each.starts + each.runs_over), each.task))


def is_free(
    slot: Slot, planned: Sequence[Planned], busy: Sequence[Busy], *, since: datetime, now: datetime
) -> bool:
    """Whether a slot has no conflict; sooner told than which ones."""
    days = slot.between(now, now + AHEAD) if planned else ()
    if any(each.first_within(at, at + slot.takes) for at in days for each in planned):
        return False
    return next(_runs_in(slot, busy, since, now), None) is None


def _runs_in(
    slot: Slot, busy: Sequence[Busy], since: datetime, now: datetime
) -> Iterator[tuple[Busy, datetime]]:
    """Each run that is in the way of the slot of a day, and when that slot begins."""
    starts = [run.started_at for run in busy]
    longest = max((run.until - run.started_at for run in busy), default=timedelta(0))
    for begins in slot.between(since - A_DAY, now + A_DAY) if busy else ():
        last = bisect_left(starts, begins + slot.takes)
        for run in busy[bisect_left(starts, begins - longest) : last]:
            if run.until > begins or run.started_at >= begins:
                yield run, begins
