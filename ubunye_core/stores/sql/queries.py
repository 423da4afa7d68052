"""Questions about receipts, as statements that go by an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ubunye_core.receipt import Status
from ubunye_core.stores.sql.database import Dialect
from ubunye_core.stores.sql.rows import Stored, seal_of
from ubunye_core.stores.sql.tables import Tables

PAGE = 500
COUNTED = 200
"""Of so many receipts that have a variable, it is not counted on."""
_AFTER_ALL_NAMES = "~"
"""Sorts after every character of a name."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked for."""

    task: str | None = None
    status: Status | None = None
    since: int | None = None
    """Microseconds since 1970."""
    pairs: Sequence[int] = ()
    """Variables, as numbers; by the first of them the rows are found."""


class Queries:
    """The statements, for one database and its tables."""

    def __init__(self, dialect: Dialect, tables: Tables) -> None:
        self._dialect, self._tables = dialect, tables
        receipts = tables.receipts.c
        self.columns = (
            receipts.task,
            receipts.run_id,
            receipts.status,
            receipts.started_at,
            receipts.ended_at,
            dialect.document(receipts.document).label("document"),
        )

    def page(self, wanted: Wanted, after: Stored | None, size: int) -> sa.Select[Any]:
        """The next rows of an answer, newest first."""
        receipts, variables = self._tables.receipts.c, self._tables.variables
        by: Any = receipts
        query = sa.select(*self.columns)
        if wanted.pairs:
            by = variables.c
            join = sa.and_(by.task == receipts.task, by.run_id == receipts.run_id)
            query = query.select_from(variables.join(self._tables.receipts, join))
            query = query.where(by.pair == wanted.pairs[0])
            query = query.where(*(self._has_too(pair) for pair in wanted.pairs[1:]))
        order = [by.started_at, by.run_id]
        if wanted.task is None:
            order.append(by.task)
        else:
            query = query.where(by.task == wanted.task)
        query = query.where(by.started_at.is_not(None))
        if wanted.status is not None:
            query = query.where(receipts.status == _is(wanted.status))
        if wanted.since is not None:
            query = query.where(by.started_at >= wanted.since)
        if after is not None:
            last = after.order[: len(order)]
            query = query.where(sa.tuple_(*order) < sa.tuple_(*map(sa.literal, last)))
        return query.order_by(*(column.desc() for column in order)).limit(size)

    def _has_too(self, pair: int) -> sa.ColumnElement[bool]:
        """Whether the run of a row of variables has this one, too."""
        one, other = self._tables.variables.c, self._tables.variables.alias()
        same = (other.c.task == one.task, other.c.started_at == one.started_at)
        found = sa.select(sa.literal(1)).where(
            other.c.pair == pair, *same, other.c.run_id == one.run_id
        )
        return found.correlate(self._tables.variables).exists()

    def how_many(self, pairs: Sequence[int], task: str | None) -> sa.CompoundSelect[Any]:
        """How many runs have each variable; of many, only that they are many."""
        variables, counts = self._tables.variables.c, []
        for number, pair in enumerate(pairs):
            some = sa.select(sa.literal(1).label("one")).where(variables.pair == pair)
            if task is not None:
                some = some.where(variables.task == task)
            inner = some.limit(COUNTED).subquery()
            counts.append(
                sa.select(sa.literal(number).label("number"), sa.func.count().label("found"))
                .select_from(inner)
            )  # fmt: skip
        return sa.union_all(*counts)

    def placed(self, wanted: Wanted) -> sa.Select[Any]:
        """The rows that somebody else placed, without what is drawn from their documents."""
        receipts = self._tables.receipts.c
        query = sa.select(*self.columns).where(receipts.status.is_(None))
        return query if wanted.task is None else query.where(receipts.task == wanted.task)

    def one(self, task: str, run_id: str) -> sa.Select[Any]:
        """The row of one run."""
        receipts = self._tables.receipts.c
        return sa.select(*self.columns).where(receipts.task == task, receipts.run_id == run_id)

    def beginning(self, task: str, beginning: str) -> sa.Select[Any]:
        """The runs of a task whose ids begin like this."""
        receipts = self._tables.receipts.c
        return (
            sa.select(receipts.run_id)
            .where(receipts.task == task)
            .where(receipts.run_id >= beginning, receipts.run_id <= beginning + _AFTER_ALL_NAMES)
            .order_by(receipts.run_id)
        )

    def of_task(self, task: str, after: str, size: int) -> sa.Select[Any]:
        """The next rows of a task, by run id."""
        receipts = self._tables.receipts.c
        query = sa.select(*self.columns).where(receipts.task == task, receipts.run_id > after)
        return query.order_by(receipts.run_id).limit(size)

    def whole_rows(self, after: tuple[str, str], size: int) -> sa.Select[Any]:
        """The next rows of all, with every column."""
        receipts = self._tables.receipts.c
        key = sa.tuple_(receipts.task, receipts.run_id)
        query = self._whole().where(key > sa.tuple_(*map(sa.literal, after)))
        return query.order_by(receipts.task, receipts.run_id).limit(size)

    def whole_row(self, task: str, run_id: str) -> sa.Select[Any]:
        """The row of one run, with every column."""
        receipts = self._tables.receipts.c
        return self._whole().where(receipts.task == task, receipts.run_id == run_id)

    def _whole(self) -> sa.Select[Any]:
        told = {column.name for column in self.columns}
        others = (each for each in self._tables.receipts.c if each.name not in told)
        return sa.select(*self.columns, *others)

    def of_attempt(self, task: str, key: str) -> sa.Select[Any]:
        """The rows of a scheduler's attempt."""
        receipts = self._tables.receipts.c
        return sa.select(*self.columns).where(receipts.task == task, receipts.attempt_key == key)

    def of_batch(self, task: str, key: str) -> sa.CompoundSelect[Any]:
        """The newest success of a whole batch, and the newest run of it."""
        receipts = self._tables.receipts.c
        of_batch = sa.select(*self.columns).where(
            receipts.task == task, receipts.batch_key == key, receipts.started_at.is_not(None)
        )
        newest = of_batch.order_by(receipts.started_at.desc(), receipts.run_id.desc()).limit(1)
        success = newest.where(receipts.status == _is(Status.SUCCESS))
        return sa.union_all(sa.select(success.subquery()), sa.select(newest.subquery()))

    def tasks(self) -> sa.Select[Any]:
        """Each task once, by one probe for each."""
        receipts = self._tables.receipts.c
        first = sa.select(sa.func.min(receipts.task).label("task"))
        names = first.cte("names", recursive=True)
        after = sa.select(sa.func.min(receipts.task)).where(receipts.task > names.c.task)
        names = names.union_all(
            sa.select(after.correlate(names).scalar_subquery()).where(names.c.task.is_not(None))
        )
        return sa.select(names.c.task).where(names.c.task.is_not(None)).order_by(names.c.task)

    def settled(self, tasks: Sequence[str]) -> sa.Select[Any]:
        """The newest run of each task, where it is a success and no run of it is running.

        One statement, and three probes of an index for each task.
        """
        receipts = self._tables.receipts
        named, newest = self._dialect.names(tasks), receipts.alias("newest")
        started = (newest.c.started_at.desc(), newest.c.run_id.desc())
        of_newest = (
            sa.select(newest.c.run_id)
            .where(newest.c.task == named.c.task, newest.c.started_at.is_not(None))
            .order_by(*started)
            .limit(1)
            .correlate(named)
            .scalar_subquery()
        )
        told = receipts.c
        join = sa.and_(told.task == named.c.task, told.run_id == of_newest)
        columns = (told.run_id, told.status, told.started_at, told.ended_at, told.window_end)
        return (
            sa.select(
                named.c.task, *columns, told.seal,
                self._dialect.digest(told.document).label("digest"),
            )
            .select_from(named.join(receipts, join))
            .where(told.status == _is(Status.SUCCESS))
            .where(*(~self._any(named.c.task, status, named) for status in (Status.RUNNING, None)))
        )  # fmt: skip

    def _any(self, task: Any, status: Status | None, named: Any) -> sa.ColumnElement[bool]:
        """Whether a task has a row of this status; None is one that somebody else placed."""
        other = self._tables.receipts.alias()
        fits = other.c.status.is_(None) if status is None else other.c.status == _is(status)
        some = sa.select(sa.literal(1)).select_from(other).where(other.c.task == task, fits)
        return some.limit(1).correlate(named).scalar_subquery().is_not(None)


def _is(status: Status) -> sa.BindParameter[str]:
    """A status, written out: an index of one status only is used where the statement shows it."""
    return sa.literal(status.value, sa.Text, literal_execute=True)


def stored(row: Any) -> Stored:
    """A row of a statement about receipts."""
    task, run_id, status, started_at, ended_at, document = row
    return Stored(task, run_id, status, started_at, ended_at, as_bytes(document))


def as_bytes(document: str | bytes | None) -> bytes:
    """A document as a database gave it."""
    return document.encode() if isinstance(document, str) else document or b""


def is_sealed(row: sa.RowMapping) -> bool:
    """Whether a row of ``settled`` is as it was saved."""
    return bool(row["seal"] == seal_of(row, row["digest"]))


def rows(connection: sa.Connection, query: sa.Executable) -> list[Stored]:
    """What a statement about receipts finds."""
    return list(map(stored, connection.execute(query)))
