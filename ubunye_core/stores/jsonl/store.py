"""The store of a ledger."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice
from pathlib import Path

from ubunye_core.batch import Batch, Scalar, agrees
from ubunye_core.errors import (
    BadReceiptError,
    ConfigError,
    ReceiptConflictError,
    StoreUnavailableError,
)
from ubunye_core.masking import masked_url
from ubunye_core.names import check_run_id, check_task
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.addresses import local_path
from ubunye_core.stores.base import BaseStore, HasClaims, checked, of_the_attempt
from ubunye_core.stores.capabilities import RUNS_READ, Finding, Settled
from ubunye_core.stores.ends import standing
from ubunye_core.stores.jsonl.claims import LedgerClaims
from ubunye_core.stores.jsonl.events import attempt_digest, saved_line
from ubunye_core.stores.jsonl.ledger import Change, Ledger
from ubunye_core.stores.jsonl.reading import Reading, agreeing
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.refusals import raise_if_refused
from ubunye_core.stores.select import select

AT_ONCE = 200
"""So many receipts are read or written in one step, between which others have their turn."""


class JsonlStore(HasClaims, BaseStore):
    """Receipts in one file that only grows: a save adds a line, and no line is ever changed.

    For one machine. A save is on disk when it returns, whole or not at all; of a run, the latest
    line stands. Each question reads what was added since the last one. A file that does not exist
    is ``StoreUnavailableError`` to a reader; a writer makes it.
    """

    def __init__(self, path: Path) -> None:
        self._ledger = Ledger(path.absolute())
        self._claims = LedgerClaims(self._ledger, self)
        self.path = self._ledger.path
        self.url = self.path.as_uri().replace("file:", "jsonl:", 1)

    @property
    def heartbeat_every(self) -> timedelta:
        """Each sign of life is a line for ever, so it is given rarely."""
        return timedelta(minutes=10)

    def save(self, receipt: Receipt) -> None:
        """Add a line with a receipt, by the rules about ends."""
        checked(receipt)

        def work(change: Change) -> None:
            stands = standing(change.replaced_by(receipt), receipt)
            if stands is not None:
                change.append(saved_line(stands))

        self._ledger.change(work)

    def save_many(self, receipts: Iterable[Receipt]) -> None:
        """Save each, many in one write. One that is refused is named; the others are kept."""
        refused: list[ReceiptConflictError | BadReceiptError] = []
        rest = iter(receipts)
        while some := list(islice(rest, AT_ONCE)):
            refused += self._ledger.change(partial(_saved, receipts=some))
        raise_if_refused(refused)

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        check_task(task)
        check_run_id(run_id)
        return self._ledger.ask(lambda reading: reading.found(task, run_id))

    def _search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        asked = batch or {}
        is_of_batch = agreeing(asked, lambda variables: agrees(variables, asked))

        def ask(reading: Reading) -> Found:
            receipts: list[Receipt] = []
            unreadable = reading.unreadable(task)
            for name, fact in reading.newest_first(task):
                is_older = since is not None and fact.started_at and fact.started_at < since
                if is_older or (limit is not None and len(receipts) >= limit):
                    break
                if status not in (None, fact.status) or (asked and not is_of_batch(fact)):
                    continue
                found = reading.look(name, fact.run_id)
                if isinstance(found, Receipt):
                    receipts.append(found)
                else:
                    unreadable.append(found)
            return select(
                receipts, unreadable, status=status, since=since, batch=batch, limit=limit
            )

        return self._ledger.ask(ask)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        return self._ledger.ask(Reading.tasks)

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        """Every receipt of a task."""
        check_task(task)

        def begin(reading: Reading) -> tuple[list[str], list[Unreadable]]:
            run_ids = [fact.run_id for _, fact in reading.newest_first(task)]
            return run_ids, reading.unreadable(task)

        run_ids, unreadable = self._ledger.ask(begin)
        for start in range(0, len(run_ids), AT_ONCE):
            some = run_ids[start : start + AT_ONCE]
            yield from self._ledger.ask(partial(_looked_at, task=task, run_ids=some))
        yield from unreadable

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and the newest run of it."""
        check_task(task)
        asked = Batch.of(batch)

        def is_it(variables: Mapping[str, Scalar]) -> bool:
            same = not whole or Batch.of(variables).is_same(asked)
            return same and agrees(variables, batch)

        is_of_batch = agreeing(batch, is_it)

        def ask(reading: Reading) -> Found | None:
            if reading.unreadable(task):
                return None
            runs = (fact for _, fact in reading.newest_first(task) if is_of_batch(fact))
            newest = next(runs, None)
            if newest is None:
                return None
            successes = (f for f in chain([newest], runs) if f.status is Status.SUCCESS)
            success = next(successes, None)
            if success is None:
                return None
            two = {newest.run_id, success.run_id}
            found = [reading.look(task, run_id) for run_id in two]
            receipts = [each for each in found if isinstance(each, Receipt)]
            return Found(receipts) if len(receipts) == len(two) else None

        return self._ledger.ask(ask)

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a task that stand for this attempt."""
        check_task(task)
        digest = attempt_digest(attempt)

        def ask(reading: Reading) -> Found:
            runs = (fact for _, fact in reading.newest_first(task) if fact.attempt == digest)
            found = [reading.look(task, fact.run_id) for fact in runs]
            return of_the_attempt([*found, *reading.unreadable(task)], attempt)

        return self._ledger.ask(ask)

    def settled(self, tasks: Sequence[str]) -> Mapping[str, Settled]:
        """Those of the tasks whose newest run is a success and that need no further look."""
        names = [check_task(task) for task in tasks]
        if not names:
            return {}

        def ask(reading: Reading) -> dict[str, Settled]:
            found = {name: _settled(reading, name) for name in names}
            return {name: each for name, each in found.items() if each is not None}

        return self._ledger.ask(ask)

    def examine(self) -> Iterator[Finding]:
        """What can be told of the file."""
        yield _writable(self.path)
        try:
            yield self._ledger.ask(_lines)
        except StoreUnavailableError as error:
            yield Finding(what="lines", good=None, why=error.message)
        yield Finding(
            what="durability",
            good=True,
            why="a save is on disk when it returns, whole or not at all; no line is ever changed",
        )
        yield Finding(
            what="claim",
            good=True,
            why="one at a time, by an exclusive lock on this machine",
        )
        yield Finding(
            what="clock",
            good=None,
            why="leases go by the clocks of those who write, which is one on one machine",
        )


def _saved(change: Change, receipts: list[Receipt]) -> list[ReceiptConflictError | BadReceiptError]:
    """Save receipts in one write; those that were refused, as errors."""
    lines: list[bytes] = []
    refused: list[ReceiptConflictError | BadReceiptError] = []
    waiting: dict[tuple[str, str], Receipt] = {}
    for receipt in receipts:
        of = (check_task(receipt.task), check_run_id(receipt.run_id))
        try:
            stands = standing(waiting.get(of) or change.replaced_by(receipt), receipt)
        except (ReceiptConflictError, BadReceiptError) as error:
            refused.append(error)
            continue
        if stands is not None:
            lines.append(saved_line(stands))
            waiting[of] = stands
    if lines:
        change.append(b"".join(lines))
    return refused


def _looked_at(reading: Reading, task: str, run_ids: list[str]) -> list[Receipt | Unreadable]:
    return [reading.look(task, run_id) for run_id in run_ids]


def _settled(reading: Reading, task: str) -> Settled | None:
    """The newest run of a task, where nothing of it needs a look."""
    if reading.unreadable(task):
        return None
    facts = [fact for _, fact in islice(reading.newest_first(task), RUNS_READ)]
    if not facts or facts[0].status is not Status.SUCCESS:
        return None
    if any(fact.status is Status.RUNNING for fact in facts):
        return None
    receipt = reading.look(task, facts[0].run_id)
    if not isinstance(receipt, Receipt):
        return None
    return Settled(
        run_id=receipt.run_id,
        started_at=receipt.started_at,
        finished_at=receipt.finished_at,
        window_end=None if receipt.window is None else receipt.window.end,
    )


def _lines(reading: Reading) -> Finding:
    index, bad = reading.index, reading.unreadable(None)
    runs = sum(len(of_task) for of_task in index.runs.values())
    told = [f"{index.lines} in all; runs: {runs}"]
    if index.torn:
        first = reading.where(index.torn[0])
        told.append(f"cut short before the save returned: {len(index.torn)}, the first is {first}")
    if reading.torn is not None:
        last = reading.where(reading.torn.line)
        told.append(f"{last} is cut short, and the next save marks it")
    if bad:
        told.append(f"unreadable: {len(bad)}, the first is {bad[0].where}")
    return Finding(what="lines", good=not bad, why="; ".join(told))


def _writable(path: Path) -> Finding:
    """Whether lines can be added here, told without adding one."""
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    if place == path and not path.is_file():
        return Finding(what="write", good=False, why="it is not a file")
    folders = [path.parent] if place == path else [place]
    if all(os.access(each, os.W_OK) for each in {place, *folders}):
        return Finding(what="write", good=True, why="lines can be added")
    return Finding(what="write", good=False, why="this user may not write there")


def open_jsonl(url: str) -> JsonlStore:
    """The store at a ``jsonl:`` URL."""
    example = "jsonl:///srv/ledger.jsonl"
    path = local_path(url, what="file of a ledger", example=example)
    if path.endswith("/"):
        raise ConfigError(f"'{masked_url(url)}' names no file.", hint=f"Write {example}.")
    return JsonlStore(Path(path))
