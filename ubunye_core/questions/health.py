"""Is a job healthy? When it last succeeded, what failed since, and what is stuck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.names import check_task_or_pattern, is_pattern
from ubunye_core.questions.answer import Moment, Verdict, how_it_stands, named, together, view
from ubunye_core.questions.tasks import fitting_tasks
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.select import could_be_since
from ubunye_core.times import duration, in_iso, in_words

RUNS_READ = 50
SILENT_WITHOUT_HEARTBEATS = timedelta(hours=6)
SILENT_AT_LEAST = timedelta(minutes=5)
SILENT_BEATS, SILENT_BEATS_AT_LEAST = 5, 3


@dataclass(frozen=True, kw_only=True)
class TaskHealth:
    """How one task stands."""

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


@dataclass(frozen=True, kw_only=True)
class Health:
    """How several tasks stand together."""

    verdict: Verdict
    reason: str
    tasks: tuple[TaskHealth, ...]
    now: datetime
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What could not be read and could change the answer."""
        return tuple(bad for task in self.tasks for bad in task.unreadable)


@dataclass(frozen=True)
class Limits:
    """What counts as unhealthy."""

    stuck_after: timedelta | None = None
    max_age: timedelta | None = None
    failure_threshold: int = 1

    def silence_allowed(self, receipt: Receipt) -> timedelta:
        """How long a running run may show no sign of life."""
        every = receipt.heartbeat_every
        if every is None:
            return self.stuck_after or SILENT_WITHOUT_HEARTBEATS
        if self.stuck_after is None:
            return max(SILENT_BEATS * every, SILENT_AT_LEAST)
        return max(SILENT_BEATS_AT_LEAST * every, self.stuck_after)


def job_health(
    task: str | Sequence[str],
    *,
    store: ReceiptStore,
    now: datetime | str | None = None,
    stuck_after: timedelta | str | None = None,
    max_age: timedelta | str | None = None,
    failure_threshold: int = 1,
) -> Health:
    """Whether jobs are healthy: not failing, not stuck and not stale.

    Args:
        task: A task, a pattern such as ``pay/*/*``, or several.
        store: Where the receipts are.
        now: The instant to answer for; None is the clock. In the past: as it looked then.
        stuck_after: How long a run may be silent. Default: five heartbeats and at least five
            minutes where the run says how often it beats, else six hours. A given value is
            raised to three heartbeats.
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
    moment = Moment.of(now)
    limits = Limits(
        None if stuck_after is None else duration(stuck_after, what="stuck_after"),
        None if max_age is None else duration(max_age, what="max_age"),
        failure_threshold,
    )
    found: dict[str, TaskHealth] = {}
    retryable = False
    for name in map(check_task_or_pattern, names):
        try:
            tasks = fitting_tasks(name, store) if is_pattern(name) else [name]
            healths = [_task_health(each, store, moment, limits) for each in tasks]
        except StoreUnavailableError as error:
            retryable = True
            healths = [TaskHealth(task=name, verdict=Verdict.UNKNOWN, reason=str(error))]
        if not healths:
            reason = f"No task in {store.url} fits {name}."
            healths = [TaskHealth(task=name, verdict=Verdict.UNKNOWN, reason=reason)]
        found |= {health.task: health for health in healths}
    healths = list(found.values())
    return Health(
        verdict=together(health.verdict for health in healths),
        reason=_summary(healths),
        tasks=tuple(healths),
        now=moment.now,
        retryable=retryable,
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
    runs = _latest_attempts(seen.receipts)[:RUNS_READ]
    successes = [run for run in runs if run.status is Status.SUCCESS]
    unreadable = seen.unreadable
    if not successes and not whole:
        older = store.search(task, Status.SUCCESS)
        past = view(older, older.unreadable, moment)
        successes = [run for run in past.receipts if run.status is Status.SUCCESS]
        unreadable = past.unreadable
    return _judge(task, runs, successes, unreadable, moment.now, limits)


def _latest_attempts(receipts: Sequence[Receipt]) -> list[Receipt]:
    """Runs, newest first, with one receipt for each scheduled run: its newest attempt's."""
    seen, runs = set(), []
    for receipt in receipts:
        scheduler = receipt.orchestrator
        if scheduler is not None and scheduler.ids and scheduler.attempt is not None:
            if scheduler.scheduled_run in seen:
                continue
            seen.add(scheduler.scheduled_run)
        runs.append(receipt)
    return runs


@dataclass(frozen=True)
class _Problem:
    """One thing that is wrong, and since which start nothing unreadable could undo it."""

    text: str
    certain_from: datetime | None


def _judge(
    task: str,
    runs: Sequence[Receipt],
    successes: Sequence[Receipt],
    unreadable: Sequence[Unreadable],
    now: datetime,
    limits: Limits,
) -> TaskHealth:
    success = successes[0] if successes else None
    failed, retrying = _failures(runs, now, limits)
    stuck = _stuck(runs, now, limits)
    stale = _staleness(successes, now, limits)
    problems = []
    if len(failed) >= limits.failure_threshold:
        text = f"{_times(len(failed), 'run')} in a row failed, the latest {_what(failed[0])}"
        problems.append(_Problem(text, failed[limits.failure_threshold - 1].started_at))
    for run in stuck:
        problems.append(_Problem(_stuck_text(run, now), run.started_at))
    if stale is not None:
        problems.append(_Problem(stale, None if success is None else success.started_at))
    ran = [run for run in runs if run.status is not Status.SKIPPED]
    if problems:
        verdict, reason = Verdict.FAIL, f"{task}: {'; '.join(each.text for each in problems)}."
        starts = [each.certain_from for each in problems if each.certain_from is not None]
        certain_from = max(starts, default=None)
    elif success is None and not ran:
        verdict, reason = Verdict.UNKNOWN, f"{task} has never run, as far as the store knows."
        certain_from = None
    else:
        verdict, reason = Verdict.PASS, f"{task} is healthy: {_good(success, ran, retrying)}."
        certain_from = None if success is None else success.started_at
    doubtful = tuple(bad for bad in unreadable if could_be_since(bad, certain_from))
    if doubtful:
        verdict = Verdict.UNKNOWN
        reason = f"{task}: a receipt that could change the answer is unreadable: {named(doubtful)}."
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


def _failures(runs: Sequence[Receipt], now: datetime, limits: Limits) -> tuple[list[Receipt], bool]:
    """The failed runs since the last success, newest first; and whether one is to be retried.

    A retry that its scheduler owes for longer than a silent run may be silent is not awaited.
    """
    failed, retrying = [], False
    patience = limits.stuck_after or SILENT_WITHOUT_HEARTBEATS
    for run in runs:
        if run.status is Status.SUCCESS:
            break
        if run.has_tries_left and now - run.finished_at <= patience:
            retrying = True
        elif run.status in (Status.ERROR, Status.INTERRUPTED):
            failed.append(run)
    return failed, retrying


def _stuck(runs: Sequence[Receipt], now: datetime, limits: Limits) -> list[Receipt]:
    """Runs that are silent for too long, and that no later success of their batch has replaced."""
    stuck = []
    for index, run in enumerate(runs):
        silent = now - run.last_sign_of_life > limits.silence_allowed(run)
        replaced = any(
            later.status is Status.SUCCESS and later.batch == run.batch for later in runs[:index]
        )
        if run.status is Status.RUNNING and silent and not replaced:
            stuck.append(run)
    return stuck


def _staleness(successes: Sequence[Receipt], now: datetime, limits: Limits) -> str | None:
    """Why the task is stale: the newest window that succeeded counts, not the newest write."""
    if limits.max_age is None:
        return None
    allowed = f"older than {in_words(limits.max_age)}"
    if not successes:
        return f"it has never succeeded, so its data is {allowed}"
    windows = [run.window.end for run in successes if run.window is not None]
    if windows and now - max(windows) > limits.max_age:
        return f"its newest succeeded window ended {in_iso(max(windows))}, {allowed}"
    if not windows and now - successes[0].finished_at > limits.max_age:
        return f"its last success was {in_iso(successes[0].finished_at)}, {allowed}"
    return None


def _what(run: Receipt) -> str:
    batch = f" for {run.batch}" if run.batch else ""
    error = f": {run.error.rstrip('.')}" if run.error else ""
    return f"{run.run_id}{batch} ({run.status} at {in_iso(run.finished_at)}{error})"


def _stuck_text(run: Receipt, now: datetime) -> str:
    host = f" on {run.host}" if run.host else ""
    batch = f" for {run.batch}" if run.batch else ""
    return (
        f"run {run.run_id}{batch}{host} is stuck: it has said running for "
        f"{in_words(now - run.started_at)}, silent for {in_words(now - run.last_sign_of_life)}"
    )


def _good(success: Receipt | None, ran: Sequence[Receipt], retrying: bool) -> str:
    parts = []
    if success is not None:
        parts.append(f"it last succeeded at {in_iso(success.finished_at)}")
    elif not retrying:
        parts.append(f"it has not succeeded yet; its newest run is {how_it_stands(ran[0])}")
    if retrying:
        parts.append("a failed attempt is to be retried")
    return ", ".join(parts)


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
