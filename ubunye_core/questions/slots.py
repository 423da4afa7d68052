"""May a task start at this time of day: is there maintenance, do others run then? When else?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from ubunye_core.counted import count
from ubunye_core.errors import ConfigError
from ubunye_core.names import check_task, check_task_or_pattern, fits
from ubunye_core.questions.answer import MEND, Moment, Verdict, named
from ubunye_core.questions.conflicts import (
    MaintenanceConflict,
    Planned,
    Slot,
    TaskConflict,
    is_free,
    with_maintenance,
    with_tasks,
)
from ubunye_core.questions.observed import USUAL, Busy, observe
from ubunye_core.questions.stats import MOST_DAYS
from ubunye_core.questions.tally import percentile
from ubunye_core.questions.tasks import if_it_never_ran
from ubunye_core.schedules.clocks import time_of_day, zone_named
from ubunye_core.schedules.maintenance import Maintenance
from ubunye_core.stores.protocol import Unreadable
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import duration, in_words

UNLESS_TOLD = timedelta(minutes=15)
"""How long a slot is where neither an argument nor the task's own runs say so."""
SHORTEST, A_DAY = timedelta(minutes=1), timedelta(days=1)
STEP = timedelta(minutes=15)
"""Free slots are looked for so far apart."""
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class SlotAnswer:
    """Whether a slot is free. True only when it is clean."""

    slot: Slot
    verdict: Verdict
    """``PASS``: clean; ``FAIL``: it has conflicts; ``UNKNOWN``: it cannot be told."""
    reason: str
    maintenance: tuple[MaintenanceConflict, ...]
    tasks: tuple[TaskConflict, ...]
    """Those that start in the slot, or run over it; the busiest first."""
    now: datetime
    unreadable: tuple[Unreadable, ...] = ()
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """Slots that are free. True when there is one."""

    verdict: Verdict
    """``PASS``; ``FAIL``: the whole day has conflicts; ``UNKNOWN``: it cannot be told."""
    reason: str
    slots: tuple[Slot, ...]
    """The nearest to the wish first."""
    wish: SlotAnswer
    """How the slot stands that was wished for."""
    now: datetime
    unreadable: tuple[Unreadable, ...] = ()
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS


def check_slot(
    at: time | str,
    *,
    maintenance: Sequence[Maintenance] = (),
    tasks: str | Sequence[str] = (),
    asker: str | None = None,
    ignore: str | Sequence[str] = (),
    takes: timedelta | str | None = None,
    time_zone: str = "UTC",
    days: int = 30,
    store: StoreLike = None,
    now: datetime | str | None = None,
) -> SlotAnswer:
    """Whether a task may start at a time of day, every day: nothing else is going on then.

    Args:
        at: When it is to start, such as ``02:00``, by the clocks of ``time_zone``.
        maintenance: What is planned; looked at for a year ahead.
        tasks: The tasks and patterns whose runs count; all in the store unless given.
        asker: The task that is to start then. Its own runs are no conflict.
        ignore: Tasks and patterns whose runs are no conflict: what runs all day, and is light.
        takes: How long it takes. Default: what 95 of 100 of the asker's runs took; a quarter of an
            hour where there are none.
        time_zone: The IANA name of the zone.
        days: How many days back runs are looked at. Each counts as long as 95 of 100 take that
            its task starts in the same quarter of an hour of the day.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        now: The instant to answer for; None is the clock. In the past: as it looked then.

    Returns:
        ``PASS`` when the slot is clean, ``FAIL`` with every conflict. ``UNKNOWN`` when there is
        none, but something could not be read, or no run of what ``tasks`` names is on record.
        Never raises for a store that cannot answer.

    Raises:
        ConfigError: an argument is wrong.
    """
    begins = time_of_day(at, what="the slot")
    day = _look(maintenance, tasks, asker, ignore, takes, time_zone, days, store, now)
    return day.answer(begins)


def suggest_slot(
    near: time | str = "00:00",
    *,
    limit: int = 3,
    maintenance: Sequence[Maintenance] = (),
    tasks: str | Sequence[str] = (),
    asker: str | None = None,
    ignore: str | Sequence[str] = (),
    takes: timedelta | str | None = None,
    time_zone: str = "UTC",
    days: int = 30,
    store: StoreLike = None,
    now: datetime | str | None = None,
) -> Suggestion:
    """The free slots nearest to a wish, at every quarter of an hour from it; itself if it is free.

    Args:
        near: The wish, such as ``02:00``; a later slot comes before one that is as much earlier.
        limit: At most so many.
        maintenance: As for ``check_slot``, and so are all other arguments.
        tasks: The tasks and patterns whose runs count.
        asker: The task that is to start then.
        ignore: Tasks and patterns whose runs are no conflict.
        takes: How long it takes.
        time_zone: The IANA name of the zone.
        days: How many days back runs are looked at.
        store: Where the receipts are.
        now: The instant to answer for.

    Returns:
        ``PASS`` with free slots, ``FAIL`` where there is none, ``UNKNOWN`` when it cannot be told.
        Never raises for a store that cannot answer.

    Raises:
        ConfigError: an argument is wrong.
    """
    wish = time_of_day(near, what="the slot")
    if limit < 1:
        raise ConfigError(f"limit is {limit}; it must be 1 or more.")
    day = _look(maintenance, tasks, asker, ignore, takes, time_zone, days, store, now)
    return day.suggestion(wish, limit)


@dataclass(frozen=True)
class _Day:
    """All that is known of what goes on in a day."""

    planned: Sequence[Planned]
    """The maintenance."""
    busy: Sequence[Busy]
    """The runs of others, in the order of their starts."""
    takes: timedelta
    zone: ZoneInfo
    days: int
    now: datetime
    doubt: str
    """Why it cannot be told that a slot is clean; empty where it can."""
    unreadable: tuple[Unreadable, ...]
    retryable: bool

    @property
    def since(self) -> datetime:
        """Where the days begin that were looked at."""
        return self.now - self.days * A_DAY

    def slot(self, at: time) -> Slot:
        """The slot at a time of day."""
        return Slot(at=at, takes=self.takes, zone=self.zone)

    def answer(self, at: time) -> SlotAnswer:
        """Whether a slot is free."""
        slot = self.slot(at)
        maintenance = with_maintenance(slot, self.planned, self.now)
        tasks = with_tasks(slot, self.busy, since=self.since, now=self.now)
        if maintenance or tasks:
            verdict, reason = Verdict.FAIL, _conflicting(slot, maintenance, tasks)
        elif self.doubt:
            verdict = Verdict.UNKNOWN
            reason = f"Nothing known conflicts with {slot.name}, but {self.doubt}"
        else:
            verdict, reason = Verdict.PASS, f"{slot.name} is clean: {self._looked_at()}."
        return SlotAnswer(
            slot=slot,
            verdict=verdict,
            reason=reason,
            maintenance=tuple(maintenance),
            tasks=tuple(tasks),
            now=self.now,
            unreadable=self.unreadable,
            retryable=self.retryable,
        )

    def suggestion(self, wish: time, limit: int) -> Suggestion:
        """The free slots nearest to a wish."""
        slots: list[Slot] = []
        if self.doubt:
            verdict, reason = Verdict.UNKNOWN, f"No slot can be told to be free: {self.doubt}"
        else:
            slots = list(islice(filter(self._is_free, map(self.slot, _around(wish))), limit))
            verdict = Verdict.PASS if slots else Verdict.FAIL
            length = in_words(self.takes)
            reason = (
                f"No slot of {length} is free in {self.zone.key}: {self._looked_at()}. "
                "Try: a shorter one, or ignore tasks that run all day."
            )
            if slots:
                times = ", ".join(f"{slot.at:%H:%M}" for slot in slots)
                reason = f"Free for {length} in {self.zone.key}, nearest to {wish:%H:%M}: {times}."
        return Suggestion(
            verdict=verdict,
            reason=reason,
            slots=tuple(slots),
            wish=self.answer(wish),
            now=self.now,
            unreadable=self.unreadable,
            retryable=self.retryable,
        )

    def _is_free(self, slot: Slot) -> bool:
        return is_free(slot, self.planned, self.busy, since=self.since, now=self.now)

    def _looked_at(self) -> str:
        tasks = len({each.task for each in self.busy})
        return (
            f"{count(len(self.planned), 'maintenance entry', 'maintenance entries')}, "
            f"{count(len(self.busy), 'run')} of {count(tasks, 'other task')} "
            f"in {count(self.days, 'day')}"
        )


def _look(
    maintenance: Sequence[Maintenance],
    tasks: str | Sequence[str],
    asker: str | None,
    ignore: str | Sequence[str],
    takes: timedelta | str | None,
    time_zone: str,
    days: int,
    store: StoreLike,
    now: datetime | str | None,
) -> _Day:
    """Look at the store once, and keep what concerns the slots of a day."""
    names, ignored = _names(tasks), _names(ignore)
    if asker is not None:
        check_task(asker)
    if not 1 <= days <= MOST_DAYS:
        raise ConfigError(f"days is {days}; it is from 1 to {MOST_DAYS}.")
    zone, moment, opened = zone_named(time_zone), Moment.of(now), store_of(store)
    given = None if takes is None else _checked(duration(takes, what="takes"))
    wanted = [*names, asker] if names and asker is not None else names
    seen = observe(wanted, opened, moment, since=moment.now - days * A_DAY, zone=zone)
    if asker is not None:
        ignored.append(asker)

    def counts(task: str | None) -> bool:
        return task is None or not any(fits(task, name) for name in ignored)

    own = [each.until - each.started_at for each in seen.busy if each.task == asker]
    unseen = [name for name in seen.unseen if name != asker]
    unreadable = tuple(
        bad  # the asker's own could change how long the slot is, where nobody says that
        for bad in seen.unreadable
        if counts(bad.task) or (given is None and bad.task == asker)
    )
    doubt = ""
    if seen.retryable:
        doubt = f"the store does not say who runs then: {unreadable[0].why}"
    elif unreadable:
        doubt = f"what is unreadable may: {named(unreadable)}. {MEND}"
    elif unseen or not seen.busy:
        whose = " and ".join(unseen) or "any task"
        doubt = (
            f"no run of {whose} is on record in {count(days, 'day')}."
            f"{''.join(if_it_never_ran(each, opened) for each in unseen)} "
            "Try: another store, other names, or more days."
        )
    usual = percentile(sorted(own), USUAL) if own else UNLESS_TOLD
    return _Day(
        planned=[Planned.ahead(each, moment.now) for each in maintenance],
        busy=[each for each in seen.busy if counts(each.task)],
        takes=given or min(max(usual, SHORTEST), A_DAY),
        zone=zone,
        days=days,
        now=moment.now,
        doubt=doubt,
        unreadable=unreadable,
        retryable=seen.retryable,
    )


def _names(given: str | Sequence[str]) -> list[str]:
    return [check_task_or_pattern(each) for each in ([given] if isinstance(given, str) else given)]


def _checked(takes: timedelta) -> timedelta:
    if not SHORTEST <= takes <= A_DAY:
        raise ConfigError(f"takes is {in_words(takes)}; a slot is from 1m to 24h long.")
    return takes


def _around(wish: time) -> Iterator[time]:
    """Every quarter of an hour from a time of day, the nearest first."""
    minute, step, day = wish.hour * 60 + wish.minute, STEP // SHORTEST, A_DAY // SHORTEST
    for steps in range(day // step // 2 + 1):
        for at in dict.fromkeys(((minute + steps * step) % day, (minute - steps * step) % day)):
            yield time(at // 60, at % 60)


def _conflicting(
    slot: Slot, maintenance: Sequence[MaintenanceConflict], tasks: Sequence[TaskConflict]
) -> str:
    """Every conflict, in a sentence."""
    parts = [f"maintenance '{each.name}' ({each.times} {each.time_zone})" for each in maintenance]
    if tasks:
        more = f"; and {len(tasks) - _SHOWN} more" if len(tasks) > _SHOWN else ""
        shown = "; ".join(each.reason for each in tasks[:_SHOWN])
        parts.append(f"{count(len(tasks), 'task')}: {shown}{more}")
    return f"{slot.name} conflicts with {' and '.join(parts)}."
