"""Which old receipts a store still needs: what it answers must stay the same without the others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from ubunye_core.batch import comparable
from ubunye_core.questions.answer import Moment
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.capabilities import RUNS_READ


@dataclass(frozen=True, slots=True)
class Facts:
    """What pruning has to know of a receipt, so that many fit into memory."""

    order: tuple[datetime, str]
    finished_at: datetime
    status: Status
    window_end: datetime | None
    batch: bytes
    """Stands for all its variables as text: a gate may name any of them, ``mode`` too."""
    pairs: frozenset[int]
    """Stand for each of them with its value."""
    pins: tuple[tuple[str, str], ...]
    """The runs of other tasks that were evidence for it, each by task and run id."""
    is_impossible: bool
    """It has a time that no clock has reached, so no question believes it."""
    status_then: Status | None
    """As it looked at the instant that the prune counts from; None if it had not started."""

    @property
    def run_id(self) -> str:
        return self.order[1]

    @classmethod
    def of(cls, receipt: Receipt, moment: Moment) -> Facts:
        """The facts of a receipt."""
        texts = comparable(receipt.variables)
        text = json.dumps(texts, sort_keys=True)
        return cls(
            order=receipt.order,
            finished_at=receipt.finished_at,
            status=receipt.status,
            window_end=None if receipt.window is None else receipt.window.end,
            batch=hashlib.sha256(text.encode()).digest()[:16],
            pairs=frozenset(map(hash, texts.items())),
            pins=tuple(
                (pin.task, pin.run_id) for pin in receipt.upstreams if pin.task != receipt.task
            ),
            is_impossible=moment.is_impossible(receipt),
            status_then=None if moment.hides(receipt) else moment.as_it_looked(receipt).status,
        )


def kept_of_task(runs: Iterable[Facts], cut: datetime) -> dict[str, str]:
    """The runs of one task that stay, pins aside, each with the reason, by their ids.

    Those that are needed for what the store answers now, and for what it answered at the instant
    that the prune counts from: a run that ended later was running then.

    Args:
        runs: All its runs.
        cut: What ended earlier is old.
    """
    now = list(runs)
    then = [replace(run, status=run.status_then) for run in now if run.status_then is not None]
    return _kept(now, cut) if then == now else _kept(then, cut) | _kept(now, cut)


def _kept(runs: list[Facts], cut: datetime) -> dict[str, str]:
    newest_first = sorted(runs, key=lambda run: run.order, reverse=True)
    believed = [run for run in newest_first if not run.is_impossible]
    kept: dict[str, str] = {}

    def keep(why: str, which: Iterable[Facts]) -> None:
        for run in which:
            kept.setdefault(run.run_id, why)

    keep("young", (run for run in newest_first if run.is_impossible or run.finished_at >= cut))
    keep("running", (run for run in newest_first if run.status is Status.RUNNING))
    keep("newest", believed[:1])
    successes = [run for run in believed if run.status is Status.SUCCESS]
    keep("last success", [*successes[:1], *_latest(successes)])
    succeeded = _newest_by_batch(successes)
    keep("last success of a batch", succeeded.values())
    keep("newest of a batch", _told_beside(succeeded, _newest_by_batch(believed)))
    since = believed.index(successes[0]) if successes else len(believed)
    keep("since the last success", believed[: min(since, RUNS_READ)])
    if len(believed) >= RUNS_READ:
        # Health looks at so many runs: with some of them gone, it would come upon older ones.
        keep("newest", believed[:RUNS_READ])
    return kept


def _latest(successes: list[Facts]) -> list[Facts]:
    """The successes whose end and whose window's end are the latest: by these data grow stale."""
    windows = [run for run in successes if run.window_end is not None]
    return [
        *([max(successes, key=lambda run: run.finished_at)] if successes else []),
        *([max(windows, key=lambda run: run.window_end or run.finished_at)] if windows else []),
    ]


def _told_beside(
    succeeded: Mapping[bytes, Facts], newest: Mapping[bytes, Facts]
) -> Iterator[Facts]:
    """The newest runs of batches that a gate tells of beside the success that meets it.

    A gate may name some variables only, and meet a later run of another batch that agrees on them.
    """
    first: dict[int, tuple[datetime, str]] = {}
    for success in succeeded.values():
        for pair in success.pairs:
            first[pair] = min(first.get(pair, success.order), success.order)
    for batch, run in newest.items():
        if batch in succeeded or any(first.get(p, run.order) < run.order for p in run.pairs):
            yield run


def _newest_by_batch(newest_first: list[Facts]) -> dict[bytes, Facts]:
    found: dict[bytes, Facts] = {}
    for run in newest_first:
        found.setdefault(run.batch, run)
    return found


def pinned(
    kept: Mapping[str, Iterable[tuple[tuple[str, str], ...]]],
    old: Mapping[str, Mapping[str, Facts]],
) -> set[tuple[str, str]]:
    """The old runs that are evidence for a run that stays, and the evidence for those in turn.

    A run of a task's own is no evidence of others: a chain of a task's runs would keep them all.

    Args:
        kept: Of each task, the pins of the runs that stay.
        old: Of each task, its other runs by their ids.
    """
    found: set[tuple[str, str]] = set()
    open_pins = [pin for pins in kept.values() for each in pins for pin in each]
    while open_pins:
        task, run_id = pin = open_pins.pop()
        run = old.get(task, {}).get(run_id)
        if run is not None and pin not in found:
            found.add(pin)
            open_pins += run.pins
    return found
