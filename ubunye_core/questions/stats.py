"""How reliable are tasks, how long do they take, and do they fail more often than they did?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from ubunye_core.counted import count
from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.names import check_task_or_pattern, is_pattern
from ubunye_core.questions.answer import MEND, Moment, Verdict, named, together, unavailable, view
from ubunye_core.questions.symptoms import Limits
from ubunye_core.questions.tally import (
    Counted,
    Durations,
    Outcome,
    by_window,
    counted_runs,
    durations,
    longest_failing_streak,
)
from ubunye_core.questions.tasks import did_you_mean, fitting_tasks
from ubunye_core.receipt import Receipt
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.url import StoreLike, store_of

MOST_DAYS = 3_660
"""Ten years: a longer period is a mistake, and each day of it is told."""
_DAY = timedelta(days=1)


class Trend(StrEnum):
    """Whether a larger part of the runs fails in the later half of a period than in the earlier."""

    RISING = "rising"
    FALLING = "falling"
    STEADY = "steady"
    UNKNOWN = "unknown"
    """One of the halves has no run that ended."""


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """How the runs ended that started in a stretch of time."""

    start: datetime
    """Included, UTC."""
    end: datetime
    """Excluded, UTC."""
    succeeded: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class TaskStats:
    """What the runs of one task come to that started in a period. True when it could be told.

    All attempts of a scheduled run are one run, by the newest. ``runs`` are those that succeeded
    or failed; all others are counted apart.
    """

    task: str
    verdict: Verdict
    """``PASS``; or ``UNKNOWN``, where something unreadable could change a number."""
    reason: str
    runs: int = 0
    succeeded: int = 0
    failed: int = 0
    """Errors and interrupted runs, unless another attempt is to follow."""
    retrying: int = 0
    running: int = 0
    stuck: int = 0
    """Those that say ``running``, and have been silent for too long."""
    skipped: int = 0
    """By decision."""
    refused: int = 0
    """By a gate or a guard."""
    durations: Durations | None = None
    """Of the successes."""
    windows: int = 0
    """How many windows (else batches, else single runs) had a run that succeeded or failed."""
    windows_failed: int = 0
    """How many of them have no success, however often they were tried."""
    windows_recovered: int = 0
    """How many of them failed and succeeded."""
    longest_failing_streak: int = 0
    """How many runs in a row failed at the worst."""
    last_success_at: datetime | None = None
    """When the newest success of the period ended."""
    earlier: Stretch | None = None
    """The first half of the period."""
    later: Stretch | None = None
    """The second half."""
    trend: Trend = Trend.UNKNOWN
    by_day: tuple[Stretch, ...] = ()
    """Each 24 hours, counted back from ``now``; the oldest first."""
    unreadable: tuple[Unreadable, ...] = ()
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def success_rate(self) -> float | None:
        """The part of ``runs`` that succeeded, from 0 to 1; None where there are none."""
        return self.succeeded / self.runs if self.runs else None


@dataclass(frozen=True, kw_only=True)
class Stats:
    """What the runs of several tasks come to. True when all of it could be told."""

    verdict: Verdict
    reason: str
    tasks: tuple[TaskStats, ...]
    since: datetime
    """The period's first instant."""
    now: datetime
    """Its last."""
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What could not be read and could change a number."""
        return tuple(bad for task in self.tasks for bad in task.unreadable)


def task_stats(
    task: str | Sequence[str],
    *,
    store: StoreLike = None,
    days: int = 30,
    now: datetime | str | None = None,
) -> Stats:
    """What the runs of tasks come to that started in the last days.

    One search of the store for each task. A run that started before the period does not count,
    nor does it for its window.

    Args:
        task: A task, a pattern such as ``pay/*/*``, or several.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        days: How many times 24 hours, counted back from ``now``.
        now: The instant to answer for; None is the clock. In the past: as it looked then.

    Returns:
        The numbers. They are of what could be read: where anything else could change them, or the
        store has never heard of a task, the verdict is ``UNKNOWN``. It is never ``FAIL``.

    Raises:
        ConfigError: an argument is wrong.
    """
    names = [task] if isinstance(task, str) else list(task)
    if not names:
        raise ConfigError("No task is named.")
    if not 1 <= days <= MOST_DAYS:
        raise ConfigError(f"days is {days}.", hint=f"Give 1 to {MOST_DAYS:,}.")
    opened, moment = store_of(store), Moment.of(now)
    found: dict[str, TaskStats] = {}
    for name in map(check_task_or_pattern, names):
        try:
            tasks = fitting_tasks(name, opened) if is_pattern(name) else [name]
        except StoreUnavailableError as error:
            found[name] = _cannot_be_told(name, opened, error)
            continue
        if not tasks:
            reason = f"No task in {opened.url} fits {name}."
            found[name] = TaskStats(task=name, verdict=Verdict.UNKNOWN, reason=reason)
        for each in tasks:
            if each not in found:
                found[each] = _stats_of(each, opened, moment, days)
    every = tuple(found.values())
    return Stats(
        verdict=together(each.verdict for each in every),
        reason=_together(every, days),
        tasks=every,
        since=moment.now - days * _DAY,
        now=moment.now,
        retryable=any(each.retryable for each in every),
    )


def _stats_of(task: str, store: ReceiptStore, moment: Moment, days: int) -> TaskStats:
    """What the runs of one task come to; never raises for a store that cannot answer."""
    try:
        found = store.search(task, since=moment.now - days * _DAY)
        seen = view(found, found.unreadable, moment)
        if not seen.receipts and not seen.unreadable and not _has_run(task, store):
            hint = did_you_mean(task, store)
            reason = f"{task} has never run, as far as the store knows.{hint}"
            return TaskStats(task=task, verdict=Verdict.UNKNOWN, reason=reason)
    except StoreUnavailableError as error:
        return _cannot_be_told(task, store, error)
    return _counted(task, seen.receipts, seen.unreadable, moment.now, days)


def _has_run(task: str, store: ReceiptStore) -> bool:
    newest = store.list_runs(task, 1)
    return bool(newest or newest.unreadable)


def _cannot_be_told(task: str, store: ReceiptStore, error: StoreUnavailableError) -> TaskStats:
    bad = unavailable(store, error)
    return TaskStats(
        task=task, verdict=Verdict.UNKNOWN, reason=bad.why, unreadable=(bad,), retryable=True
    )


def _counted(
    task: str,
    runs: Sequence[Receipt],
    unreadable: tuple[Unreadable, ...],
    now: datetime,
    days: int,
) -> TaskStats:
    """The numbers of one task, from all its runs of the period, newest first."""
    counted = counted_runs(runs, now, Limits())
    number = dict.fromkeys(Outcome, 0)
    for run in counted:
        number[run.outcome] += 1
    succeeded, failed = number[Outcome.SUCCEEDED], number[Outcome.FAILED]
    successes = [each.receipt for each in counted if each.outcome is Outcome.SUCCEEDED]
    windows = by_window(counted)
    since, half = now - days * _DAY, now - days * _DAY / 2
    earlier, later = _stretches(counted, [since, half, now])
    trend = _trend(earlier, later)
    reason = _reason(task, succeeded, failed, trend, days)
    if unreadable:
        reason = (
            f"{task}: a receipt that could change the numbers is unreadable: {named(unreadable)}. "
            f"{MEND} The others say: {reason}"
        )
    return TaskStats(
        task=task,
        verdict=Verdict.UNKNOWN if unreadable else Verdict.PASS,
        reason=reason,
        runs=succeeded + failed,
        succeeded=succeeded,
        failed=failed,
        retrying=number[Outcome.RETRYING],
        running=number[Outcome.RUNNING],
        stuck=number[Outcome.STUCK],
        skipped=number[Outcome.SKIPPED],
        refused=number[Outcome.REFUSED],
        durations=durations(successes),
        windows=windows.windows,
        windows_failed=windows.failed,
        windows_recovered=windows.recovered,
        longest_failing_streak=longest_failing_streak(runs, counted),
        last_success_at=successes[0].finished_at if successes else None,
        earlier=earlier,
        later=later,
        trend=trend,
        by_day=_stretches(counted, [since + day * _DAY for day in range(days + 1)]),
        unreadable=unreadable,
    )


def _stretches(counted: Sequence[Counted], edges: Sequence[datetime]) -> tuple[Stretch, ...]:
    """How runs ended, by when they started. Stretches are equally long.

    A clock that is a little ahead may have put a run behind the last edge: it counts for the last.
    """
    length, last = edges[1] - edges[0], len(edges) - 2
    numbers = [{Outcome.SUCCEEDED: 0, Outcome.FAILED: 0} for _ in edges[1:]]
    for each in counted:
        if each.outcome in numbers[0]:
            at = (each.receipt.started_at - edges[0]) // length
            numbers[max(0, min(at, last))][each.outcome] += 1
    return tuple(
        Stretch(
            start=start,
            end=end,
            succeeded=number[Outcome.SUCCEEDED],
            failed=number[Outcome.FAILED],
        )
        for start, end, number in zip(edges[:-1], edges[1:], numbers, strict=True)
    )


def _trend(earlier: Stretch, later: Stretch) -> Trend:
    """Compares the failed parts of both halves, without rounding."""
    before, after = earlier.failed + earlier.succeeded, later.failed + later.succeeded
    if not before or not after:
        return Trend.UNKNOWN
    difference = later.failed * before - earlier.failed * after
    if difference == 0:
        return Trend.STEADY
    return Trend.RISING if difference > 0 else Trend.FALLING


def percent(succeeded: int, runs: int) -> str:
    """A part for people, never rounded up: what did not all succeed is not 100%."""
    thousandths = 1000 * succeeded // runs
    return f"{thousandths // 10}.{thousandths % 10}%" if thousandths < 1000 else "100%"


def _reason(task: str, succeeded: int, failed: int, trend: Trend, days: int) -> str:
    runs, period = succeeded + failed, in_days(days)
    if not runs:
        return f"{task}: no run of {period} has succeeded or failed."
    text = f"{task}: {succeeded:,} of {count(runs, 'run')} of {period} succeeded"
    text += f" ({percent(succeeded, runs)})"
    return f"{text}; failures are {trend}." if trend is not Trend.UNKNOWN else f"{text}."


def in_days(days: int) -> str:
    """The days that were looked at, in words."""
    return "the last day" if days == 1 else f"the last {days} days"


def _together(tasks: Sequence[TaskStats], days: int) -> str:
    if len(tasks) == 1:
        return tasks[0].reason
    dark = [each.task for each in tasks if not each]
    runs, succeeded = (sum(getattr(each, name) for each in tasks) for name in ("runs", "succeeded"))
    text = f"{count(len(tasks), 'task')}: {succeeded:,} of {count(runs, 'run')} of "
    text += f"{in_days(days)} succeeded."
    if dark:
        more = f" and {len(dark) - 3} more" if len(dark) > 3 else ""
        text += f" Not all could be told of {', '.join(dark[:3])}{more}."
    return text
