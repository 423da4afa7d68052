"""Answers to questions about receipts: rows by an index, read from their documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa

from ubunye_core.batch import Batch, agrees
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.refusals import not_found, only_run
from ubunye_core.stores.select import select
from ubunye_core.stores.sql.queries import PAGE, Queries, Wanted, as_bytes
from ubunye_core.stores.sql.rows import (
    Stored,
    attempt_key,
    batch_key,
    micros,
    pair_of,
    pairs_wanted,
    seal_of,
)
from ubunye_core.stores.successes import Named, Successes, Summaries, Summed

FEW = 4
"""Runs of a batch among which its last success mostly is."""


class Searching:
    """One connection that asks about receipts."""

    def __init__(self, queries: Queries, connection: sa.Connection, url: str) -> None:
        self._queries, self._connection, self._url = queries, connection, url

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its id or a beginning of it."""
        row = self._one(task, run_id)
        if row is None:
            begins = self._queries.beginning(task, run_id).rows(self._connection)
            fitting = [each.run_id for each in begins]
            row = self._one(task, only_run(fitting, run_id, task=task, url=self._url))
        if row is None:
            raise not_found(run_id, task=task, url=self._url)
        return row.receipt(self._url)

    def search(
        self, wanted: Wanted, batch: Mapping[str, str], limit: int | None
    ) -> tuple[list[Receipt], list[Unreadable]]:
        """The newest readable receipts that fit, and what was unreadable among them."""
        receipts: list[Receipt] = []
        unreadable: list[Unreadable] = []
        left = limit
        for row in self._rows(wanted, batch, limit):
            if left == 0 and row.status is not None:
                break
            read = row.read(self._url)
            if isinstance(read, Unreadable):
                unreadable.append(read)
            elif agrees(read.variables, batch):
                receipts.append(read)
                left = None if left is None or row.status is None else left - 1
        return receipts, unreadable

    def success(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and the newest run of it; None where there is doubt."""
        pairs = pairs_wanted(batch)
        if pairs is None:
            return None
        rows = self._of_whole_batch(task, batch) if whole else self._of_variables(task, pairs)
        receipts: dict[str, Receipt] = {}
        for row in rows:
            read = row.read(self._url)
            if isinstance(read, Unreadable) or row.status is None:
                return None
            if not agrees(read.variables, batch):
                return None
            if whole and not read.batch.is_same(Batch.of(batch)):
                return None
            receipts[read.run_id] = read
        has_success = any(each.status is Status.SUCCESS for each in receipts.values())
        return Found(receipts.values()) if has_success else None

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of an attempt of a scheduler."""
        found = self._queries.of_attempt(task, attempt_key(attempt)).stored(self._connection)
        read = [row.read(self._url) for row in found]
        return Found(
            (
                each
                for each in read
                if isinstance(each, Receipt) and attempt.is_same_attempt(each.orchestrator)
            ),
            (each for each in read if isinstance(each, Unreadable)),
        )

    def in_short(self, task: str, asked: Summed) -> Summaries:
        """The runs of a task since an instant, its successes in short."""
        until = micros(asked.until)
        query = self._queries.in_short(task, micros(asked.since), until)
        successes = Successes()
        read: list[Receipt | Unreadable] = []
        doubtful: list[str] = []
        named = _named_by_pairs(asked)
        for page in query.pages(self._connection):
            told = []
            for run_id, status, started, ended, start, end, pairs, size, seal, document in page:
                if document is not None:
                    stored = Stored(task, run_id, status, started, ended, as_bytes(document))
                    read.append(stored.read(self._url))
                    continue
                sealed = seal_of(size, task, run_id, status, started, ended, start, end, pairs)
                if seal != sealed or ended is None or ended > until:
                    doubtful.append(run_id)
                    continue
                names = named(pairs) if start is None or end is None else ()
                told.append((started, run_id, ended, start, end, names, None))
            if told:
                successes.extend(*zip(*told, strict=True))
        read += [row.read(self._url) for row in self._several(task, doubtful)]
        others = []
        for each in read:
            if isinstance(each, Receipt):
                success = asked.success_of(each) if each.started_at >= asked.since else None
                others.append(each) if success is None else successes.append(success)
        unreadable = (each for each in read if isinstance(each, Unreadable))
        found = select(others, unreadable, since=asked.since)
        return Summaries(successes=successes, others=found)

    def _rows(
        self, wanted: Wanted, batch: Mapping[str, str], limit: int | None
    ) -> Iterator[Stored]:
        """The rows that may fit, page by page, as long as somebody takes them.

        First those that somebody else placed, then the others, newest first.
        """
        pairs = pairs_wanted(batch)
        nothing_fits = pairs is None or (limit is not None and limit <= 0)
        wanted = replace(wanted, pairs=pairs or ())
        size = 0 if nothing_fits else PAGE if limit is None else min(limit, PAGE)
        after = None
        while True:
            found = self._queries.page(wanted, after, size).stored(self._connection)
            page = [row for row in found if row.status is not None]
            page.sort(key=lambda row: row.place, reverse=True)
            yield from (row for row in found if row.status is None)
            yield from page
            if len(page) < size or size == 0:
                return
            after = page[-1]

    def _of_whole_batch(self, task: str, batch: Mapping[str, str]) -> list[Stored]:
        return self._queries.success(task, batch_key(batch)).stored(self._connection)

    def _of_variables(self, task: str, pairs: Sequence[int]) -> list[Stored]:
        """The newest run, and the newest success if there is one; and rows that were placed.

        Mostly it is among a few runs. To ask for it by itself in the same statement would take
        a server as long again to plan.
        """
        wanted = Wanted(task=task, pairs=pairs)
        found = self._queries.page(wanted, None, FEW).stored(self._connection)
        page = sorted(
            (row for row in found if row.status is not None),
            key=lambda row: row.place,
            reverse=True,
        )
        successes = [row for row in page if row.status == Status.SUCCESS]
        if not successes and len(page) == FEW:
            older = self._queries.page(replace(wanted, status=Status.SUCCESS), page[-1], 1)
            successes = older.stored(self._connection)
        return [*(row for row in found if row.status is None), *page[:1], *successes[:1]]

    def _several(self, task: str, run_ids: Sequence[str]) -> Iterator[Stored]:
        """The rows of these runs, as far as they are still there."""
        for at in range(0, len(run_ids), PAGE):
            some = self._queries.several(task, run_ids[at : at + PAGE])
            yield from some.stored(self._connection)

    def _one(self, task: str, run_id: str) -> Stored | None:
        found = self._queries.one(task, run_id).stored(self._connection)
        return found[0] if found else None


def _named_by_pairs(asked: Summed) -> Callable[[str], tuple[Named, ...]]:
    """Tells which of the variables that are asked for a run has, from the column of its pairs."""
    if not asked.variables:
        return lambda _: ()
    by_pair: dict[int, Named] = {}

    def named(pairs: str) -> tuple[Named, ...]:
        if not by_pair:
            by_pair.update({pair_of(*each): each for each in asked.variables})
        numbers = map(int, pairs.split())
        return tuple(by_pair[pair] for pair in numbers if pair in by_pair)

    return named
