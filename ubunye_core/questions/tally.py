"""Counting runs: which count as one, how each ended, what they were for, how long they took."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import accumulate

from ubunye_core.masking import MASK
from ubunye_core.questions.symptoms import Limits, stuck_runs
from ubunye_core.receipt import Receipt, Status
from ubunye_core.times import LONGEST


class Outcome(StrEnum):
    """How a run counts."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """Finally: it is an error or was interrupted, and no attempt is to follow."""
    RETRYING = "retrying"
    """It failed, and its scheduler is to attempt it again."""
    RUNNING = "running"
    STUCK = "stuck"
    """It says that it is under way, and shows no sign of life."""
    SKIPPED = "skipped"
    REFUSED = "refused"
    """A gate or a guard stopped it before it did anything."""


@dataclass(frozen=True)
class Counted:
    """One run as it counts: all attempts of a scheduled run are one, by the newest."""

    receipt: Receipt
    outcome: Outcome


def counted_runs(runs: Sequence[Receipt], now: datetime, limits: Limits) -> list[Counted]:
    """Runs as they count.

    Args:
        runs: Newest first.
        now: The instant to answer for.
        limits: How long a run may be silent, and a retry awaited.
    """
    stuck = {run.run_id for run in stuck_runs(runs, now, limits)}
    counted, scheduled = [], set()
    for run in runs:
        attempt = run.orchestrator
        if attempt is not None and attempt.ids and attempt.attempt is not None:
            if attempt.scheduled_run in scheduled:
                continue
            scheduled.add(attempt.scheduled_run)
        is_owed = run.has_tries_left and now - run.finished_at <= limits.retry_awaited
        counted.append(Counted(run, _outcome(run, is_owed=is_owed, is_stuck=run.run_id in stuck)))
    return counted


def _outcome(run: Receipt, *, is_owed: bool, is_stuck: bool) -> Outcome:
    match run.status:
        case Status.SUCCESS:
            return Outcome.SUCCEEDED
        case Status.RUNNING:
            return Outcome.STUCK if is_stuck else Outcome.RUNNING
        case Status.SKIPPED:
            return Outcome.REFUSED if run.was_refused else Outcome.SKIPPED
        case _:
            return Outcome.RETRYING if is_owed else Outcome.FAILED


def longest_failing_streak(runs: Sequence[Receipt], counted: Sequence[Counted]) -> int:
    """How many runs in a row failed at the worst; only a success ends such a row.

    Args:
        runs: All attempts, newest first.
        counted: The same as they count.
    """
    failed = {each.receipt.run_id for each in counted if each.outcome is Outcome.FAILED}
    longest = current = 0
    for run in runs:
        current = 0 if run.status is Status.SUCCESS else current + (run.run_id in failed)
        longest = max(longest, current)
    return longest


@dataclass(frozen=True)
class ByWindow:
    """Runs by what they are for: their window, else their batch, else each for itself."""

    windows: int
    """How many windows had a run that succeeded or failed."""
    failed: int
    """How many have no success, and failed by their newest run that was not refused."""
    recovered: int
    """How many have a success and had a failed run too."""


def by_window(counted: Sequence[Counted]) -> ByWindow:
    """Count by window what may have been run several times.

    A success counts for every window inside its own. Args: ``counted``, newest first.
    """
    groups: dict[Hashable, list[Outcome]] = defaultdict(list)
    for each in counted:
        groups[_what_for(each.receipt)].append(each.outcome)
    covers = _Covered([each.receipt for each in counted if each.outcome is Outcome.SUCCEEDED])
    windows = failed = recovered = 0
    for key, outcomes in groups.items():
        has_failed = Outcome.FAILED in outcomes
        if not has_failed and Outcome.SUCCEEDED not in outcomes:
            continue
        windows += 1
        if Outcome.SUCCEEDED in outcomes or covers.has(key):
            recovered += has_failed
            continue
        newest = next(each for each in outcomes if each is not Outcome.REFUSED)
        failed += newest is Outcome.FAILED
    return ByWindow(windows, failed, recovered)


def _what_for(run: Receipt) -> Hashable:
    if run.window is not None:
        return (run.window.start, run.window.end)
    pairs = run.batch.pairs
    return pairs if pairs and all(text != MASK for _, text in pairs) else run.run_id


class _Covered:
    """The periods that successes cover."""

    def __init__(self, successes: Sequence[Receipt]) -> None:
        windows = sorted(
            (run.window.start, run.window.end) for run in successes if run.window is not None
        )
        self._starts = [start for start, _ in windows]
        self._ends = list(accumulate((end for _, end in windows), max))

    def has(self, key: Hashable) -> bool:
        """Whether one success covers the whole of a window."""
        match key:
            case (datetime() as start, datetime() as end):
                at = bisect_right(self._starts, start)
                return at > 0 and self._ends[at - 1] >= end
            case _:
                return False


@dataclass(frozen=True, kw_only=True)
class Durations:
    """How long successes took, by nearest rank: each of these is what one of them took."""

    p50: timedelta
    p95: timedelta
    longest: timedelta
    runs: int
    """How many runs these are of: those whose length is on record."""


def durations(successes: Sequence[Receipt]) -> Durations | None:
    """How long runs took; None where no length is on record."""
    took = sorted(length for length in map(measured_length, successes) if length is not None)
    if not took:
        return None
    return Durations(
        p50=percentile(took, 50), p95=percentile(took, 95), longest=took[-1], runs=len(took)
    )


def percentile(in_order: Sequence[timedelta], percent: int) -> timedelta:
    """The smallest value that so many of 100 do not exceed (nearest rank).

    Of ``n`` values in order it is the one at place ``ceil(n * percent / 100)``, counted from 1.
    """
    place = -(-len(in_order) * percent // 100)
    return in_order[max(place, 1) - 1]


def measured_length(run: Receipt) -> timedelta | None:
    """From start to end; what its recorder measured, where the end is not on record.

    None where neither is known, or it cannot be.
    """
    if run.ended_at is not None:
        length = run.ended_at - run.started_at
        return length if length >= timedelta(0) else None
    seconds = run.duration_sec
    is_possible = seconds is not None and 0 <= seconds <= LONGEST.total_seconds()
    return timedelta(seconds=seconds) if seconds is not None and is_possible else None
