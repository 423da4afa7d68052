"""The store in a SQL database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

import sqlalchemy as sa

from ubunye_core.batch import Batch, agrees
from ubunye_core.errors import AmbiguousRunError, ReceiptNotFoundError
from ubunye_core.names import check_run_id, check_task
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.capabilities import Settled
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.select import select
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.reading import PAGE, Queries, Wanted, is_sealed, rows, stored
from ubunye_core.stores.sql.rows import (
    Stored,
    attempt_key,
    batch_key,
    micros,
    moment_of,
    pairs_wanted,
)
from ubunye_core.stores.sql.writing import Writing
from ubunye_core.times import as_utc


class SqlStore:
    """Receipts in tables of a database that several machines may share.

    A save is one transaction. Every question goes by an index, and what it finds is read from the
    documents themselves. Nothing is remembered between two questions.
    """

    def __init__(self, database: Database) -> None:
        self.url = database.url
        self._database = database
        self._queries = Queries(database.dialect, database.tables)

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends."""
        check_task(receipt.task)
        check_run_id(receipt.run_id)
        self._database.write(lambda connection: self._writing(connection).save(receipt))

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        check_task(task)
        check_run_id(run_id)
        return self._database.read(lambda connection: self._load(connection, task, run_id))

    def list_runs(self, task: str, n: int = 20) -> Found:
        """The newest ``n`` readable receipts of a task."""
        return self.search(task, limit=n)

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        """The receipts that fit everything given."""
        if task is not None:
            check_task(task)
        wanted = Wanted(
            task=task,
            status=None if status is None else Status(status),
            since=None if since is None else micros(as_utc(since)),
        )
        pairs = [] if batch is None else pairs_wanted(batch)
        receipts, unreadable = self._database.read(
            lambda connection: self._searched(connection, wanted, pairs, batch or {}, limit)
        )
        return select(receipts, unreadable, status=status, since=since, batch=batch, limit=limit)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        names = self._database.read(
            lambda connection: list(connection.execute(self._queries.tasks()).scalars())
        )
        return [name for name in names if _is_task(name)]

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and the newest run of it."""
        check_task(task)
        return self._database.read(
            lambda connection: self._success(connection, task, batch, whole=whole)
        )

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a task that stand for this attempt."""
        check_task(task)

        def ask(connection: sa.Connection) -> list[Stored]:
            placed = list(rows(connection, self._queries.placed(task)))
            return placed + list(
                rows(connection, self._queries.of_attempt(task, attempt_key(attempt)))
            )

        found = {row.run_id: row.read(self.url) for row in self._database.read(ask)}
        return Found(
            (
                each
                for each in found.values()
                if isinstance(each, Receipt) and attempt.is_same_attempt(each.orchestrator)
            ),
            (each for each in found.values() if isinstance(each, Unreadable)),
        )

    def settled(self, tasks: Sequence[str]) -> Mapping[str, Settled]:
        """Those of the tasks whose newest run is a success, with that run."""
        names = sorted({check_task(task) for task in tasks})
        if not names:
            return {}
        found = self._database.read(
            lambda connection: [
                dict(row) for row in connection.execute(self._queries.settled(names)).mappings()
            ]
        )
        return {
            row["task"]: Settled(
                run_id=row["run_id"],
                started_at=moment_of(row["started_at"]),
                finished_at=moment_of(row["ended_at"] or row["started_at"]),
                window_end=None if row["window_end"] is None else moment_of(row["window_end"]),
            )
            for row in found
            if is_sealed(row)
        }

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        """Every receipt of a task."""
        check_task(task)
        after = ""
        while True:
            query = self._queries.of_task(task, after, PAGE)
            page = self._database.read(
                lambda connection, query=query: list(rows(connection, query))
            )
            for row in page:
                yield row.read(self.url)
            if len(page) < PAGE:
                return
            after = page[-1].run_id

    def remove(self, task: str, run_ids: Sequence[str]) -> int:
        """Remove the receipts of these runs."""
        check_task(task)
        names = sorted({check_run_id(run_id) for run_id in run_ids})
        return self._database.write(
            lambda connection: self._writing(connection).remove(task, names)
        )

    def close(self) -> None:
        """Close the connections that are open; the next question opens one anew."""
        self._database.close()

    def _writing(self, connection: sa.Connection) -> Writing:
        return Writing(self._database, self._queries, connection)

    def _load(self, connection: sa.Connection, task: str, run_id: str) -> Receipt:
        row = connection.execute(self._queries.one(task, run_id)).one_or_none()
        if row is None:
            fitting = list(connection.execute(self._queries.beginning(task, run_id)).scalars())
            if len(fitting) > 1:
                raise AmbiguousRunError(run_id, fitting)
            if fitting:
                row = connection.execute(self._queries.one(task, fitting[0])).one_or_none()
        if row is None:
            raise ReceiptNotFoundError(f"{self.url} holds no run '{run_id}' of {task}.")
        return stored(row).receipt(self.url)

    def _searched(
        self,
        connection: sa.Connection,
        wanted: Wanted,
        pairs: Sequence[int] | None,
        batch: Mapping[str, str],
        limit: int | None,
    ) -> tuple[list[Receipt], list[Unreadable]]:
        # Rows without columns first: one that gets them meanwhile is then found twice, not never.
        placed = {(row.task, row.run_id): row for row in
                  rows(connection, self._queries.placed(wanted.task))}  # fmt: skip
        receipts: list[Receipt] = []
        unreadable: list[Unreadable] = []
        if pairs is not None and (limit is None or limit > 0):
            driven = Wanted(
                wanted.task, wanted.status, wanted.since, self._rarest(connection, pairs, wanted)
            )
            left = limit
            for row in self._newest_first(connection, driven, limit):
                placed.pop((row.task, row.run_id), None)
                read = row.read(self.url)
                if isinstance(read, Unreadable):
                    unreadable.append(read)
                elif agrees(read.variables, batch):
                    receipts.append(read)
                    left = None if left is None else left - 1
                    if left == 0:
                        break
        for row in placed.values():
            read = row.read(self.url)
            if isinstance(read, Unreadable):
                unreadable.append(read)
            else:
                receipts.append(read)
        return receipts, unreadable

    def _newest_first(
        self, connection: sa.Connection, wanted: Wanted, limit: int | None
    ) -> Iterator[Stored]:
        """The rows of an answer, page by page, as long as somebody takes them."""
        size = PAGE if limit is None else min(limit, PAGE)
        after = None
        while True:
            page = list(rows(connection, self._queries.page(wanted, after, size)))
            yield from page
            if len(page) < size:
                return
            after = page[-1]

    def _rarest(
        self, connection: sa.Connection, pairs: Sequence[int], wanted: Wanted
    ) -> Sequence[int]:
        """The variables, that of the fewest runs first."""
        if len(pairs) < 2:
            return pairs
        counts = connection.execute(self._queries.how_many(pairs, wanted.task))
        found = {row.number: row.found for row in counts}
        return [pairs[number] for number in sorted(found, key=lambda number: found[number])]

    def _success(
        self, connection: sa.Connection, task: str, batch: Mapping[str, str], *, whole: bool
    ) -> Found | None:
        pairs = pairs_wanted(batch)
        if pairs is None or connection.execute(self._queries.placed(task).limit(1)).first():
            return None
        if whole:
            found = list(rows(connection, self._queries.of_batch(task, batch_key(batch))))
        else:
            driven = self._rarest(connection, pairs, Wanted(task))
            found = [
                row
                for status in (Status.SUCCESS, None)
                for row in rows(
                    connection, self._queries.page(Wanted(task, status, None, driven), None, 1)
                )
            ]
        receipts = {row.run_id: row.read(self.url) for row in found}
        good = [each for each in receipts.values() if isinstance(each, Receipt)]
        if len(good) < len(receipts) or not all(agrees(each.variables, batch) for each in good):
            return None
        if whole and not all(each.batch.is_same(Batch.of(batch)) for each in good):
            return None
        return Found(good) if any(each.status is Status.SUCCESS for each in good) else None


def _listed(connection: sa.Connection, query: sa.Executable) -> list[Stored]:
    return list(rows(connection, query))


def _is_task(name: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(check_task(name))
    return False
