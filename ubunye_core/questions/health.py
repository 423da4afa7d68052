"""Is a job healthy? Are several?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.names import check_task_or_pattern, is_pattern
from ubunye_core.questions.answer import (
    CLOCK_SKEW,
    Moment,
    Verdict,
    together,
)
from ubunye_core.questions.symptoms import (
    Limits,
)
from ubunye_core.questions.task_health import TaskHealth, cannot_be_told, look_at, well
from ubunye_core.questions.tasks import fitting_tasks
from ubunye_core.receipt import Status
from ubunye_core.stores.capabilities import Settled
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import duration


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
    healths = _healths([check_task_or_pattern(name) for name in names], opened, moment, limits)
    return Health(
        verdict=together(health.verdict for health in healths),
        reason=_summary(healths),
        tasks=tuple(healths),
        now=moment.now,
        retryable=any(health.retryable for health in healths),
    )


def _healths(
    names: Sequence[str], store: ReceiptStore, moment: Moment, limits: Limits
) -> list[TaskHealth]:
    """How each task stands that the names and patterns stand for."""
    found: dict[str, TaskHealth | None] = {}
    for name in names:
        try:
            tasks = fitting_tasks(name, store) if is_pattern(name) else [name]
        except StoreUnavailableError as error:
            found[name] = cannot_be_told(name, store, error)
            continue
        if not tasks:
            reason = f"No task in {store.url} fits {name}."
            found[name] = TaskHealth(task=name, verdict=Verdict.UNKNOWN, reason=reason)
        for task in tasks:
            found.setdefault(task, None)
    to_ask = [task for task, health in found.items() if health is None]
    told = _settled(to_ask, store, moment)
    oldest = None if limits.max_age is None else moment.now - limits.max_age
    for task in to_ask:
        last = told.get(task)
        if last is not None and _is_well(last, oldest):
            found[task] = well(task, last)
        else:
            found[task] = look_at(task, store, moment, limits, last)
    return [health for health in found.values() if health is not None]


def _settled(tasks: Sequence[str], store: ReceiptStore, moment: Moment) -> dict[str, Settled]:
    """How the newest runs of tasks stand now, where a store tells that at once.

    Not in the past: any run may have been going on then that has ended since.
    """
    tell = getattr(store, "settled", None)
    if tell is None or moment.now + CLOCK_SKEW < moment.clock:
        return {}
    try:
        told: Mapping[str, Settled] = tell(tasks)
    except StoreUnavailableError:  # a look at the runs will say so
        return {}
    return {
        task: last
        for task, last in told.items()
        if max(last.started_at, last.finished_at) <= moment.now
    }


def _is_well(last: Settled, oldest: datetime | None) -> bool:
    """Whether the newest run of a settled task says that it is well, without another look."""
    fresh = oldest is None or (last.window_end is not None and last.window_end >= oldest)
    return last.status is Status.SUCCESS and not last.open_runs and fresh


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
