"""Is a job healthy? When it last succeeded, what failed since, and what is stuck."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.names import check_task_or_pattern, is_pattern
from ubunye_core.questions.answer import (
    MEND,
    Moment,
    Verdict,
    how_it_stands,
    named,
    together,
    unavailable,
    view,
)
from ubunye_core.questions.symptoms import (
    Limits,
    failing,
    failures,
    silent,
    staleness,
    stuck_runs,
)
from ubunye_core.questions.tasks import fitting_tasks
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.select import could_be_since
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import duration, to_the_second

RUNS_READ = 50


@dataclass(frozen=True, kw_only=True)
class TaskHealth:
    """How one task stands. True only when it is healthy."""

    task: str
    verdict: Verdict
    reason: str
    last_status: Status | None = None
    last_run: str | None = None
    last_success_at: datetime | None = None
    consecutive_failures: int = 0
    """Finished runs in a row that have not succeeded since the last success."""
    retrying: bool = False
    """The newest run failed, and its scheduler has tries left."""
    stuck: tuple[str, ...] = ()
    """Runs that say ``running`` and have shown no sign of life for too long."""
    stale: bool = False
    unreadable: tuple[Unreadable, ...] = ()
    """What could not be read and could change the answer."""
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS


@dataclass(frozen=True, kw_only=True)
class Health:
    """How several tasks stand together. True only when all are healthy."""

    verdict: Verdict
    reason: str
    tasks: tuple[TaskHealth, ...]
    now: datetime
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What could not be read and could change the answer."""
        return tuple(bad for task in self.tasks for bad in task.unreadable)


def job_health(
    task: str | Sequence[str],
    *,
    store: StoreLike = None,
    now: datetime | str | None = None,
    stuck_after: timedelta | str | None = None,
    max_age: timedelta | str | None = None,
    failure_threshold: int = 1,
) -> Health:
    """Whether jobs are healthy: not failing, not stuck and not stale.

    Args:
        task: A task, a pattern such as ``pay/*/*``, or several.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        now: The instant to answer for; None is the clock. In the past: as it looked then.
        stuck_after: How long a run may be silent. Default: five heartbeats and at least five
            minutes where the run says how often it beats, else six hours. A given value is
            raised to three heartbeats. A retry that its scheduler owes is awaited for six hours,
            or for this long where that is longer; then the attempt counts as failed.
        max_age: How old the newest succeeded window's end (without windows: the last success)
            may be.
        failure_threshold: How many runs in a row must fail to be unhealthy.

    Returns:
        ``PASS``, ``FAIL``, or ``UNKNOWN`` when it cannot be told; never raises for a store that
        cannot answer.

    Raises:
        ConfigError: an argument is wrong.
    """
    names = [task] if isinstance(task, str) else list(task)
    if not names:
        raise ConfigError("No task is named.")
    if failure_threshold < 1:
        raise ConfigError(f"failure_threshold is {failure_threshold}; it must be 1 or more.")
    moment, opened = Moment.of(now), store_of(store)
    limits = Limits(
        None if stuck_after is None else duration(stuck_after, what="stuck_after"),
        None if max_age is None else duration(max_age, what="max_age"),
        failure_threshold,
    )
    found: dict[str, TaskHealth] = {}
    for name in [check_task_or_pattern(name) for name in names]:
        for health in _healths(name, opened, moment, limits):
            found[health.task] = health
    healths = list(found.values())
    return Health(
        verdict=together(health.verdict for health in healths),
        reason=_summary(healths),
        tasks=tuple(healths),
        now=moment.now,
        retryable=any(health.retryable for health in healths),
    )


def _healths(
    name: str, store: ReceiptStore, moment: Moment, limits: Limits
) -> Iterator[TaskHealth]:
    """How each task stands that a name or a pattern stands for."""
    tasks = [name]
    if is_pattern(name):
        try:
            tasks = fitting_tasks(name, store)
        except StoreUnavailableError as error:
            yield _cannot_be_told(name, store, error)
            return
        if not tasks:
            reason = f"No task in {store.url} fits {name}."
            yield TaskHealth(task=name, verdict=Verdict.UNKNOWN, reason=reason)
    for task in tasks:
        try:
            yield _task_health(task, store, moment, limits)
        except StoreUnavailableError as error:
            yield _cannot_be_told(task, store, error)


def _cannot_be_told(task: str, store: ReceiptStore, error: StoreUnavailableError) -> TaskHealth:
    bad = unavailable(store, error)
    return TaskHealth(
        task=task, verdict=Verdict.UNKNOWN, reason=bad.why, unreadable=(bad,), retryable=True
    )


def _summary(healths: Sequence[TaskHealth]) -> str:
    if len(healths) == 1:
        return healths[0].reason
    bad = [health for health in healths if health.verdict is Verdict.FAIL]
    dark = [health for health in healths if health.verdict is Verdict.UNKNOWN]
    if not bad and not dark:
        return f"All {len(healths)} tasks are healthy."
    parts = []
    if bad:
        parts.append(f"{len(bad)} of {len(healths)} tasks unhealthy: {_few(bad)}")
    if dark:
        parts.append(f"{len(dark)} of {len(healths)} unknown: {_few(dark)}")
    return "; ".join(parts) + "."


def _few(healths: Sequence[TaskHealth]) -> str:
    more = f" and {len(healths) - 3} more" if len(healths) > 3 else ""
    return ", ".join(health.task for health in healths[:3]) + more


def _task_health(task: str, store: ReceiptStore, moment: Moment, limits: Limits) -> TaskHealth:
    """How one task stands, from its newest runs, and its last success if that is older."""
    found = store.list_runs(task, RUNS_READ)
    seen = view(found, found.unreadable, moment)
    whole = len(found) < RUNS_READ
    if not whole and len(seen.receipts) < RUNS_READ:  # some had not started at that instant
        found, whole = store.search(task), True
        seen = view(found, found.unreadable, moment)
    successes, unreadable = _successes(seen.receipts), seen.unreadable
    if not whole and (not successes or staleness(successes, moment.now, limits) is not None):
        older = store.search(task, Status.SUCCESS)
        past = view(older, older.unreadable, moment)
        successes, unreadable = _successes(past.receipts), past.unreadable
    runs = seen.receipts[:RUNS_READ]
    return _judge(task, runs, successes, unreadable, moment.now, limits)


def _successes(receipts: Sequence[Receipt]) -> list[Receipt]:
    return [run for run in receipts if run.status is Status.SUCCESS]


def _judge(
    task: str,
    runs: Sequence[Receipt],
    successes: Sequence[Receipt],
    unreadable: Sequence[Unreadable],
    now: datetime,
    limits: Limits,
) -> TaskHealth:
    """The verdict on one task, and whether something unreadable could change it."""
    success = successes[0] if successes else None
    failed, retrying = failures(runs, now, limits)
    stuck = stuck_runs(runs, now, limits)
    stale = staleness(successes, now, limits)
    problems = [symptom for symptom in (failing(failed, limits), stale) if symptom is not None]
    problems += [silent(run, now) for run in stuck]
    ran = [run for run in runs if run.status is not Status.SKIPPED]
    refused = len(list(takewhile(lambda run: run.was_refused, runs)))
    certain_from = None
    if problems:
        verdict, reason = Verdict.FAIL, f"{task}: {'; '.join(each.text for each in problems)}."
        certain = [each.certain_from for each in problems if each.certain_from is not None]
        certain_from = max(certain, default=None)
    elif success is None and not ran:
        verdict, reason = Verdict.UNKNOWN, f"{task} has never run, as far as the store knows."
    else:
        verdict, reason = (
            Verdict.PASS,
            f"{task} is healthy: {_good(success, ran, retrying, refused)}.",
        )
        certain_from = None if success is None else success.started_at
    doubtful = tuple(bad for bad in unreadable if could_be_since(bad, certain_from))
    if doubtful:
        verdict = Verdict.UNKNOWN
        reason = (
            f"{task}: a receipt that could change the answer is unreadable: {named(doubtful)}. "
            f"{MEND} The others say: {reason}"
        )
    return TaskHealth(
        task=task,
        verdict=verdict,
        reason=reason,
        last_status=runs[0].status if runs else None,
        last_run=runs[0].run_id if runs else None,
        last_success_at=None if success is None else success.finished_at,
        consecutive_failures=len(failed),
        retrying=retrying,
        stuck=tuple(run.run_id for run in stuck),
        stale=stale is not None,
        unreadable=doubtful,
    )


def _good(success: Receipt | None, ran: Sequence[Receipt], retrying: bool, refused: int) -> str:
    """What is good about a task, and what is worth a look although it is healthy."""
    parts = []
    if success is not None:
        parts.append(f"it last succeeded at {to_the_second(success.finished_at)}")
    elif not retrying:
        parts.append(f"it has not succeeded yet; its newest run is {how_it_stands(ran[0])}")
    if retrying:
        parts.append("a failed attempt is to be retried")
    if refused:
        runs = "newest run was" if refused == 1 else f"newest {refused} runs were"
        parts.append(f"but its {runs} refused by a gate")
    return ", ".join(parts)
