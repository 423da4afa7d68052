"""What can be wrong with a task: it is failing, a run of it is stuck, its data is stale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ubunye_core.questions.answer import one_line
from ubunye_core.receipt import Receipt, Status
from ubunye_core.times import in_words, to_the_second

SILENT_WITHOUT_HEARTBEATS = timedelta(hours=6)
SILENT_AT_LEAST = timedelta(minutes=5)
SILENT_BEATS, SILENT_BEATS_AT_LEAST = 5, 3


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
            return SILENT_WITHOUT_HEARTBEATS if self.stuck_after is None else self.stuck_after
        if self.stuck_after is None:
            return max(SILENT_BEATS * every, SILENT_AT_LEAST)
        return max(SILENT_BEATS_AT_LEAST * every, self.stuck_after)

    @property
    def retry_awaited(self) -> timedelta:
        """How long after a failed attempt its scheduler's retry may come."""
        return max(self.stuck_after or timedelta(0), SILENT_WITHOUT_HEARTBEATS)


@dataclass(frozen=True)
class Symptom:
    """One thing that is wrong with a task."""

    text: str
    certain_from: datetime | None
    """What is unreadable and started earlier cannot undo it; None: anything could."""


def failures(runs: Sequence[Receipt], now: datetime, limits: Limits) -> tuple[list[Receipt], bool]:
    """The failed runs since the last success, newest first; and whether one is to be retried.

    Attempts of one scheduled run count once, by the newest. A retry that is owed for too long is
    not awaited.
    """
    failed: list[Receipt] = []
    scheduled, retrying = set(), False
    for run in runs:
        if run.status is Status.SUCCESS:
            break
        attempt = run.orchestrator
        if attempt is not None and attempt.ids and attempt.attempt is not None:
            if attempt.scheduled_run in scheduled:
                continue
            scheduled.add(attempt.scheduled_run)
        if run.has_tries_left and now - run.finished_at <= limits.retry_awaited:
            retrying = True
        elif run.status in (Status.ERROR, Status.INTERRUPTED):
            failed.append(run)
    return failed, retrying


def failing(failed: Sequence[Receipt], limits: Limits) -> Symptom | None:
    """Whether so many runs in a row failed that the task is unhealthy."""
    if len(failed) < limits.failure_threshold:
        return None
    newest = failed[0]
    error = f": {one_line(newest.error)}" if newest.error else ""
    ended = f"{newest.status} at {to_the_second(newest.finished_at)}"
    latest = f"{newest.run_id}{_for_batch(newest)}"
    what = f"{len(failed):,} runs in a row failed, the latest {latest}"
    if len(failed) == 1:
        what = f"run {latest} failed"
    text = f"{what} ({ended}{error})"
    return Symptom(text, failed[limits.failure_threshold - 1].started_at)


def stuck_runs(runs: Sequence[Receipt], now: datetime, limits: Limits) -> list[Receipt]:
    """Runs that are silent for too long, and that no later success of their batch has replaced."""
    stuck = []
    for index, run in enumerate(runs):
        is_silent = now - run.last_sign_of_life > limits.silence_allowed(run)
        if run.status is not Status.RUNNING or not is_silent:
            continue
        if not any(
            later.status is Status.SUCCESS and later.batch.is_same(run.batch)
            for later in runs[:index]
        ):
            stuck.append(run)
    return stuck


def silent(run: Receipt, now: datetime) -> Symptom:
    """What to say of a stuck run."""
    host = f" on {one_line(run.host)}" if run.host else ""
    text = (
        f"run {run.run_id}{_for_batch(run)}{host} is stuck: it has said running for "
        f"{in_words(now - run.started_at)}, silent for {in_words(now - run.last_sign_of_life)}"
    )
    return Symptom(text, run.started_at)


def staleness(successes: Sequence[Receipt], now: datetime, limits: Limits) -> Symptom | None:
    """Whether the newest data is too old: the newest window counts, not the newest write.

    Only where no success has a window does the end of the last one count.
    """
    if limits.max_age is None:
        return None
    allowed = f"older than {in_words(limits.max_age)}"
    if not successes:
        return Symptom(f"it has never succeeded, so its data is {allowed}", None)
    last, oldest = successes[0], now - limits.max_age
    newest = max((run.window.end for run in successes if run.window is not None), default=None)
    if newest is None:
        text = f"its last success was {to_the_second(last.finished_at)}, {allowed}"
        return Symptom(text, last.started_at) if last.finished_at < oldest else None
    text = f"its newest succeeded window ended {to_the_second(newest)}, {allowed}"
    # A run that started before ``oldest`` was for a window that had ended by then.
    return Symptom(text, min(last.started_at, oldest)) if newest < oldest else None


def _for_batch(run: Receipt) -> str:
    return f" for {run.batch}" if run.batch else ""
