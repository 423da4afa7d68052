"""Answers to questions about receipts: rows by an index, read from their documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa

from ubunye_core.batch import Batch, agrees
from ubunye_core.errors import AmbiguousRunError, ReceiptNotFoundError
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.sql.queries import PAGE, Queries, Wanted, rows
from ubunye_core.stores.sql.rows import Stored, attempt_key, batch_key, pairs_wanted


class Searching:
    """One connection that asks about receipts."""

    def __init__(self, queries: Queries, connection: sa.Connection, url: str) -> None:
        self._queries, self._connection, self._url = queries, connection, url

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its id or a beginning of it."""
        row = self._one(task, run_id)
        if row is None:
            names = self._connection.execute(self._queries.beginning(task, run_id)).scalars()
            fitting = list(names)
            if len(fitting) > 1:
                raise AmbiguousRunError(run_id, fitting)
            row = self._one(task, fitting[0]) if fitting else None
        if row is None:
            raise ReceiptNotFoundError(f"{self._url} holds no run '{run_id}' of {task}.")
        return row.receipt(self._url)

    def search(
        self, wanted: Wanted, batch: Mapping[str, str], limit: int | None
    ) -> tuple[list[Receipt], list[Unreadable]]:
        """The newest readable receipts that fit, and what was unreadable among them."""
        # Rows without columns first: one that gets them meanwhile is then found twice, not never.
        placed = {(row.task, row.run_id): row for row in self._rows(self._queries.placed(wanted))}
        receipts: list[Receipt] = []
        unreadable: list[Unreadable] = []
        left = limit
        for row in self._newest_first(wanted, batch, limit):
            placed.pop((row.task, row.run_id), None)
            read = row.read(self._url)
            if isinstance(read, Unreadable):
                unreadable.append(read)
            elif agrees(read.variables, batch):
                receipts.append(read)
                left = None if left is None else left - 1
                if left == 0:
                    break
        for row in placed.values():
            read = row.read(self._url)
            if isinstance(read, Unreadable):
                unreadable.append(read)
            else:
                receipts.append(read)
        return receipts, unreadable

    def success(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and the newest run of it; None where there is doubt."""
        wanted, pairs = Wanted(task=task), pairs_wanted(batch)
        if pairs is None or self._rows(self._queries.placed(wanted).limit(1)):
            return None
        if whole:
            found = self._rows(self._queries.of_batch(task, batch_key(batch)))
        else:
            wanted = replace(wanted, pairs=self._rarest_first(task, pairs))
            success = replace(wanted, status=Status.SUCCESS)
            found = [
                row
                for each in (success, wanted)
                for row in self._rows(self._queries.page(each, None, 1))
            ]
        receipts: dict[str, Receipt] = {}
        for row in found:
            read = row.read(self._url)
            if isinstance(read, Unreadable) or not agrees(read.variables, batch):
                return None
            if whole and not read.batch.is_same(Batch.of(batch)):
                return None
            receipts[read.run_id] = read
        has_success = any(each.status is Status.SUCCESS for each in receipts.values())
        return Found(receipts.values()) if has_success else None

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of an attempt of a scheduler."""
        found = self._rows(self._queries.placed(Wanted(task=task)))
        found += self._rows(self._queries.of_attempt(task, attempt_key(attempt)))
        read = {row.run_id: row.read(self._url) for row in found}.values()
        return Found(
            (
                each
                for each in read
                if isinstance(each, Receipt) and attempt.is_same_attempt(each.orchestrator)
            ),
            (each for each in read if isinstance(each, Unreadable)),
        )

    def _newest_first(
        self, wanted: Wanted, batch: Mapping[str, str], limit: int | None
    ) -> Iterator[Stored]:
        """The rows of an answer, page by page, as long as somebody takes them."""
        pairs = pairs_wanted(batch)
        if pairs is None or (limit is not None and limit <= 0):
            return
        wanted = replace(wanted, pairs=self._rarest_first(wanted.task, pairs))
        size = PAGE if limit is None else min(limit, PAGE)
        after = None
        while True:
            page = self._rows(self._queries.page(wanted, after, size))
            yield from page
            if len(page) < size:
                return
            after = page[-1]

    def _rarest_first(self, task: str | None, pairs: Sequence[int]) -> Sequence[int]:
        """The variables, that of the fewest runs first: its runs are then looked through."""
        if len(pairs) < 2:
            return pairs
        counts = self._connection.execute(self._queries.how_many(pairs, task))
        found = {row.number: row.found for row in counts}
        return [pairs[number] for number in sorted(found, key=lambda number: found[number])]

    def _one(self, task: str, run_id: str) -> Stored | None:
        found = self._rows(self._queries.one(task, run_id))
        return found[0] if found else None

    def _rows(self, query: sa.Executable) -> list[Stored]:
        return rows(self._connection, query)
