"""When tasks run, by their receipts: at which times of day, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.names import fits, is_pattern
from ubunye_core.questions.answer import Moment, unavailable, view
from ubunye_core.questions.symptoms import Limits
from ubunye_core.questions.tally import measured_length, percentile
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.select import could_be_since

USUAL = 95
"""Of 100 runs of a task at a time of day, so many took no longer than it usually takes."""
Kind = tuple[str, int]
QUARTER = timedelta(minutes=15)
"""Runs that start within the same one, by the clock, belong together."""


@dataclass(frozen=True)
class Busy:
    """One run, and for how long its task usually runs when it starts at that time of day."""

    task: str
    started_at: datetime
    until: datetime
    """Its start, and what 95 of 100 runs took that began then."""


@dataclass(frozen=True)
class Observed:
    """The runs of a period, in the order of their starts."""

    busy: tuple[Busy, ...]
    unseen: tuple[str, ...]
    """The tasks and patterns that no run fits."""
    unreadable: tuple[Unreadable, ...]
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""


def observe(
    tasks: Sequence[str],
    store: ReceiptStore,
    moment: Moment,
    *,
    since: datetime,
    zone: ZoneInfo,
) -> Observed:
    """The runs of tasks and patterns, of all where none is named, that started since an instant.

    Never raises for a store that cannot answer.
    """
    try:
        found, unreadable = _runs(tasks, store, since)
    except StoreUnavailableError as error:
        return Observed((), (), (unavailable(store, error),), retryable=True)
    seen = view(found, unreadable, moment)
    runs = [run for run in seen.receipts if since <= run.started_at]
    lengths = _lengths(runs, moment.now, zone)
    busy, doubtful = [], [bad for bad in seen.unreadable if could_be_since(bad, since)]
    for run in reversed(runs):
        length = lengths.get(_kind(run, zone))
        if length is None:
            where, why = f"{run.task} run {run.run_id}", "how long it took is not on record"
            doubtful.append(Unreadable(where=where, why=why, task=run.task))
            length = timedelta(0)
        busy.append(Busy(run.task, run.started_at, run.started_at + length))
    return Observed(
        busy=tuple(busy),
        unseen=tuple(name for name in tasks if not any(fits(run.task, name) for run in runs)),
        unreadable=tuple(doubtful),
    )


def _lengths(runs: Sequence[Receipt], now: datetime, zone: ZoneInfo) -> dict[Kind, timedelta]:
    """How long runs of each kind usually take: successes, or others where they take longer.

    Neither may hide the other: many that fail at once, few that hang until somebody ends them.
    """
    usual: dict[Kind, timedelta] = {
        _kind(run, zone): timedelta(0) for run in runs if run.status is Status.SKIPPED
    }
    found: dict[tuple[Kind, bool], list[timedelta]] = {}
    for run in runs:
        length = None if run.status is Status.SKIPPED else length_of(run, now)
        if length is not None:
            which = (_kind(run, zone), run.status is Status.SUCCESS)
            found.setdefault(which, []).append(length)
    for (kind, _), lengths in found.items():
        usual[kind] = max(percentile(sorted(lengths), USUAL), usual.get(kind, timedelta(0)))
    return usual


def length_of(run: Receipt, now: datetime) -> timedelta | None:
    """How long a run took, or has taken so far; None where that is not on record.

    What somebody else ended, and what has fallen silent, took as long as it showed signs of life.
    """
    if run.status is Status.RUNNING:
        is_silent = now - run.last_sign_of_life > Limits().silence_allowed(run)
        last = run.heartbeat_at if is_silent else now
    elif run.ended_by is not None:
        last = run.heartbeat_at
    else:
        last = run.ended_at
        if last is None:
            return measured_length(run)
    return None if last is None else max(last - run.started_at, timedelta(0))


def _runs(
    tasks: Sequence[str], store: ReceiptStore, since: datetime
) -> tuple[list[Receipt], list[Unreadable]]:
    """What is on record of the tasks, each once; and what could be and is unreadable."""
    if tasks and not any(map(is_pattern, tasks)):
        every = [store.search(task, since=since) for task in dict.fromkeys(tasks)]
        return (
            [run for found in every for run in found],
            [bad for found in every for bad in found.unreadable],
        )
    found = store.search(since=since)
    return (
        [run for run in found if _is_meant(run.task, tasks)],
        [bad for bad in found.unreadable if bad.task is None or _is_meant(bad.task, tasks)],
    )


def _is_meant(task: str, tasks: Sequence[str]) -> bool:
    return not tasks or any(fits(task, name) for name in tasks)


def _kind(run: Receipt, zone: ZoneInfo) -> Kind:
    """What runs have in common that begin at one time of day: the task, and the quarter hour."""
    local = run.started_at.astimezone(zone)
    return run.task, (local.hour * 60 + local.minute) // (QUARTER // timedelta(minutes=1))
