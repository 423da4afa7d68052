"""The store in a SQL database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TypeVar

from ubunye_core.errors import BadReceiptError, ReceiptConflictError
from ubunye_core.names import check_run_id, check_task, is_task
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.base import BaseStore, HasClaims, checked, in_parts
from ubunye_core.stores.capabilities import Finding, Repaired, Settled
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.refusals import raise_if_refused
from ubunye_core.stores.select import select
from ubunye_core.stores.sql.claiming import Claiming
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.examining import examine
from ubunye_core.stores.sql.queries import PAGE, Queries, Wanted
from ubunye_core.stores.sql.repairing import repair
from ubunye_core.stores.sql.rows import micros, moment_of, seal_of
from ubunye_core.stores.sql.searching import Searching
from ubunye_core.stores.sql.writing import Writing
from ubunye_core.stores.successes import Summaries, Summed, in_short

Answer = TypeVar("Answer")

AT_ONCE = 200
"""So many receipts are saved, or removed, in one transaction."""


class SqlStore(HasClaims, BaseStore):
    """Receipts in tables of a database that several machines may share.

    A save is one transaction. Every question goes by an index, and what it finds is read from the
    documents themselves. Nothing is remembered between two questions. Tables that are not there
    are ``StoreUnavailableError`` to a reader; a writer makes them.
    """

    def __init__(self, database: Database) -> None:
        self.url = database.url
        self._database = database
        self._queries = Queries(database.dialect, database.tables)
        self._claims = Claiming(database, self._queries)

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends."""
        self._write(lambda writing: writing.save(checked(receipt)))

    def save_many(self, receipts: Iterable[Receipt]) -> None:
        """``save`` for each, many in one transaction."""
        refused: list[ReceiptConflictError | BadReceiptError] = []
        left = iter(receipts)
        while some := list(islice(left, AT_ONCE)):
            refused += self._write(partial(_save_all, receipts=list(map(checked, some))))
        raise_if_refused(refused)

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        check_task(task)
        check_run_id(run_id)
        return self._ask(lambda searching: searching.load(task, run_id))

    def _search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        first = None if since is None else micros(since)
        wanted = Wanted(task=task, status=status, since=first)
        receipts, unreadable = self._ask(
            lambda searching: searching.search(wanted, batch or {}, limit)
        )
        return select(receipts, unreadable, status=status, since=since, batch=batch, limit=limit)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        found = self._database.read(self._queries.tasks().rows)
        return [row.task for row in found if is_task(row.task)]

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and the newest run of it."""
        check_task(task)
        return self._ask(lambda searching: searching.success(task, batch, whole=whole))

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a task that stand for this attempt."""
        check_task(task)
        return self._ask(lambda searching: searching.of_attempt(task, attempt))

    def settled(self, tasks: Sequence[str]) -> Mapping[str, Settled]:
        """Those of the tasks whose newest run is a success, with that run."""
        names = sorted({check_task(task) for task in tasks})
        if not names:
            return {}
        settled = {}
        for row in self._database.read(self._queries.settled(names).rows):
            *sealed, size, seal = tuple(row)
            if seal != seal_of(size, *sealed):
                continue
            task, run_id, _, started_at, ended_at, _, window_end, _ = sealed
            settled[task] = Settled(
                run_id=run_id,
                started_at=moment_of(started_at),
                finished_at=moment_of(started_at if ended_at is None else ended_at),
                window_end=None if window_end is None else moment_of(window_end),
            )
        return settled

    def summaries(self, task: str, asked: Summed) -> Summaries:
        """The runs of a task since an instant, its successes in short."""
        check_task(task)
        if asked.rows:  # they stand in the documents only
            return in_short(self.search(task, since=asked.since), asked)
        return self._ask(lambda searching: searching.in_short(task, asked))

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        """Every receipt of a task."""
        check_task(task)
        after = ""
        while True:
            page = self._database.read(self._queries.of_task(task, after, PAGE).stored)
            for row in page:
                yield row.read(self.url)
            if len(page) < PAGE:
                return
            after = page[-1].run_id

    def remove(self, task: str, run_ids: Sequence[str]) -> int:
        """Remove the receipts of these runs."""
        parts = in_parts(task, run_ids, at_once=AT_ONCE)
        return sum(
            self._write(partial(_remove, task=task, run_ids=part), makes=False) for part in parts
        )

    def examine(self) -> Iterator[Finding]:
        """What can be told of the database, without leaving a trace in it."""
        return examine(self._database)

    def repair(self, *, set_aside: bool = False) -> Repaired:
        """Draw the columns of every row from its document anew; move damage to its own table."""
        return repair(self._database, self._queries, set_aside=set_aside)

    def close(self) -> None:
        """Close the connections that are open; the next question opens one anew."""
        self._database.close()

    def _ask(self, question: Callable[[Searching], Answer]) -> Answer:
        return self._database.read(
            lambda connection: question(Searching(self._queries, connection, self.url))
        )

    def _write(self, work: Callable[[Writing], Answer], *, makes: bool = True) -> Answer:
        return self._database.write(
            lambda connection: work(Writing(self._database, self._queries, connection)),
            makes=makes,
        )


def _save_all(
    writing: Writing, receipts: Sequence[Receipt]
) -> list[ReceiptConflictError | BadReceiptError]:
    return writing.save_all(receipts)


def _remove(writing: Writing, task: str, run_ids: Sequence[str]) -> int:
    return writing.remove(task, run_ids)
