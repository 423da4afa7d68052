"""How one task stands: what a look at its runs says, and how certain that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.questions.answer import (
    MEND,
    Moment,
    Verdict,
    how_it_stands,
    named,
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
from ubunye_core.questions.tasks import did_you_mean
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.capabilities import RUNS_READ, Settled
from ubunye_core.stores.protocol import Found, ReceiptStore, Unreadable
from ubunye_core.stores.select import could_be_since
from ubunye_core.times import to_the_second

FEW = 3


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


def well(task: str, last: Settled) -> TaskHealth:
    """What a look says of a task whose newest run is a success, with nothing else to look at."""
    return TaskHealth(
        task=task,
        verdict=Verdict.PASS,
        reason=f"{task} is healthy: {_succeeded_at(last.finished_at)}.",
        last_status=Status.SUCCESS,
        last_run=last.run_id,
        last_success_at=last.finished_at,
    )


def cannot_be_told(task: str, store: ReceiptStore, error: StoreUnavailableError) -> TaskHealth:
    """What is said where the store cannot answer now."""
    bad = unavailable(store, error)
    return TaskHealth(
        task=task, verdict=Verdict.UNKNOWN, reason=bad.why, unreadable=(bad,), retryable=True
    )


def look_at(
    task: str,
    store: ReceiptStore,
    moment: Moment,
    limits: Limits,
    settled: Settled | None = None,
) -> TaskHealth:
    """How a task stands, from its runs; never raises for a store that cannot answer.

    Args:
        task: The task.
        store: Where its receipts are.
        moment: The instant to answer for.
        limits: What counts as unhealthy.
        settled: What the store has told of it: then the runs since the last success may be enough.
    """
    try:
        few = None if settled is None else _enough(task, store, moment, settled)
        return _task_health(task, store, moment, limits, few)
    except StoreUnavailableError as error:
        return cannot_be_told(task, store, error)


def _enough(task: str, store: ReceiptStore, moment: Moment, settled: Settled) -> Found | None:
    """A few of the newest runs, if the last success and all open runs are among them.

    None where anything is in doubt.
    """
    found = store.list_runs(task, FEW)
    seen = view(found, found.unreadable, moment)
    is_plain = not seen.unreadable and seen.receipts == tuple(found)
    has_open = settled.open_runs <= {run.run_id for run in found}
    return found if is_plain and has_open and _successes(found) else None


def _task_health(
    task: str, store: ReceiptStore, moment: Moment, limits: Limits, few: Found | None = None
) -> TaskHealth:
    """How one task stands, from its newest runs, and its last success if that is older."""
    found = store.list_runs(task, RUNS_READ) if few is None else few
    seen = view(found, found.unreadable, moment)
    whole = len(found) < RUNS_READ
    if few is not None:
        whole = False
    elif not whole and len(seen.receipts) < RUNS_READ:  # some had not started at that instant
        found, whole = store.search(task), True
        seen = view(found, found.unreadable, moment)
    successes, unreadable = _successes(seen.receipts), seen.unreadable
    if not whole and (not successes or staleness(successes, moment.now, limits) is not None):
        successes, unreadable = _of_all_time(task, store, moment, limits)
    runs = seen.receipts[:RUNS_READ]
    health = _judge(task, runs, successes, unreadable, moment.now, limits)
    if found or found.unreadable:
        return health
    return replace(health, reason=f"{health.reason}{did_you_mean(task, store)}")


def _of_all_time(
    task: str, store: ReceiptStore, moment: Moment, limits: Limits
) -> tuple[list[Receipt], tuple[Unreadable, ...]]:
    """The last success of a task, further back than its newest runs.

    For freshness the one with the newest window comes with it, which any of them may be.
    """
    if limits.max_age is None:
        found = store.search(task, Status.SUCCESS, limit=RUNS_READ)
        seen = view(found, found.unreadable, moment)
        if seen.receipts or len(found) < RUNS_READ:
            return _successes(seen.receipts), seen.unreadable
    kept: list[Receipt] = []
    unreadable: list[Unreadable] = []
    for each in _all_of(task, store):
        readable = [each] if isinstance(each, Receipt) else []
        seen = view(readable, () if isinstance(each, Receipt) else (each,), moment)
        unreadable += seen.unreadable
        kept = _that_matter([*kept, *_successes(seen.receipts)])
    return kept, tuple(unreadable)


def _all_of(task: str, store: ReceiptStore) -> Iterator[Receipt | Unreadable]:
    """Every success of a task, and what is unreadable; other runs may be among them."""
    scan: Callable[[str], Iterator[Receipt | Unreadable]] | None = getattr(store, "scan", None)
    if scan is not None:
        yield from scan(task)
        return
    found = store.search(task, Status.SUCCESS)
    yield from found
    yield from found.unreadable


def _that_matter(successes: Sequence[Receipt]) -> list[Receipt]:
    """The newest success, and the one with the newest window; newest first."""
    if len(successes) < 2:
        return list(successes)
    last = max(successes, key=lambda run: run.order)
    windowed = [run for run in successes if run.window is not None]
    newest = max(windowed, key=_end_of_window, default=last)
    return [last] if newest is last else [last, newest]


def _end_of_window(run: Receipt) -> datetime:
    return run.started_at if run.window is None else run.window.end


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
        verdict, reason = Verdict.UNKNOWN, f"{task} has never run, {_but(runs, refused)}."
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


def _but(runs: Sequence[Receipt], refused: int) -> str:
    """What there is of a task that has never run."""
    if not runs:
        return "as far as the store knows"
    if refused:
        return _refused(refused)
    return f"but was skipped: its newest receipt is {how_it_stands(runs[0])}"


def _refused(number: int) -> str:
    runs = "newest run was" if number == 1 else f"newest {number} runs were"
    return f"but its {runs} refused by a gate or a guard"


def _good(success: Receipt | None, ran: Sequence[Receipt], retrying: bool, refused: int) -> str:
    """What is good about a task, and what is worth a look although it is healthy."""
    parts = []
    if success is not None:
        parts.append(_succeeded_at(success.finished_at))
    elif not retrying:
        newest = "the newest that ran" if refused else "its newest run"
        parts.append(f"it has not succeeded yet; {newest} is {how_it_stands(ran[0])}")
    if retrying:
        parts.append("a failed attempt is to be retried")
    if refused:
        parts.append(_refused(refused))
    return ", ".join(parts)


def _succeeded_at(finished_at: datetime) -> str:
    return f"it last succeeded at {to_the_second(finished_at)}"
