"""Questions about receipts, as statements that go by an index.

Each is made once for its shape, and asked with values: making one takes longer than asking it. A
server plans one each time it is asked, which takes longer than answering it: so they join little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql.operators import custom_op

from ubunye_core.receipt import Status
from ubunye_core.stores.sql.database import Dialect
from ubunye_core.stores.sql.rows import SEALED, Stored
from ubunye_core.stores.sql.tables import SIZE, Tables

PAGE = 500
COUNTED = 200
"""Runs that have a variable are counted up to here: of so many, that they are many is enough."""
_AFTER_ALL_NAMES = "~"
"""Sorts after every character of a name."""

Statement = sa.Select[Any] | sa.CompoundSelect[Any]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked for."""

    task: str | None = None
    status: Status | None = None
    since: int | None = None
    """Microseconds since 1970."""
    pairs: Sequence[int] = ()
    """Variables, as numbers."""


class Asked:
    """A statement and its values."""

    def __init__(self, statement: Statement, **values: Any) -> None:
        self.statement, self.values = statement, values

    def rows(self, connection: sa.Connection) -> Sequence[sa.Row[Any]]:
        """What it finds."""
        return connection.execute(self.statement, self.values).all()

    def pages(self, connection: sa.Connection) -> Iterator[Sequence[Any]]:
        """What it finds, some rows at a time: tens of thousands that stay burden whatever else is
        done meanwhile.
        """
        return connection.execute(self.statement, self.values).partitions(PAGE)

    def stored(self, connection: sa.Connection) -> list[Stored]:
        """What it finds, where that is rows of receipts."""
        return [stored(row) for row in self.rows(connection)]


class Queries:
    """The statements, for one database and its tables."""

    def __init__(self, dialect: Dialect, tables: Tables) -> None:
        self._dialect, self._tables = dialect, tables
        self._made: dict[object, Statement] = {}
        receipts = tables.receipts.c
        self.columns = (
            receipts.task,
            receipts.run_id,
            receipts.status,
            receipts.started_at,
            receipts.ended_at,
            dialect.document(receipts.document).label("document"),
        )

    def page(self, wanted: Wanted, after: Stored | None, size: int) -> Asked:
        """The next rows of an answer, in no order; the first page has those that were placed."""
        is_first = after is None
        shape = ("page", _shape(wanted), is_first)
        if shape not in self._made:
            page = self._page(wanted, is_first=is_first)
            self._made[shape] = self._with_placed(wanted, page) if is_first else page
        values = _values(wanted) | {"size": size}
        if after is not None:
            values |= dict(zip(("last_start", "last_run", "last_task"), after.order, strict=True))
            if wanted.task is not None:
                del values["last_task"]
        return Asked(self._made[shape], **values)

    def success(self, task: str, key: str) -> Asked:
        """The newest success and the newest run of a whole batch, and one row that was placed."""
        return Asked(self._success, task=task, key=key, size=1)

    def one(self, task: str, run_id: str) -> Asked:
        """The row of one run."""
        return Asked(self._one, task=task, run_id=run_id)

    def several(self, task: str, run_ids: Sequence[str]) -> Asked:
        """The rows of some runs."""
        receipts = self._tables.receipts.c
        query = sa.select(*self.columns)
        return Asked(query.where(receipts.task == task, receipts.run_id.in_(run_ids)))

    def beginning(self, task: str, beginning: str) -> Asked:
        """The ids of a task's runs that begin like this."""
        end = beginning + _AFTER_ALL_NAMES
        return Asked(self._beginning, task=task, beginning=beginning, end=end)

    def of_task(self, task: str, after: str, size: int) -> Asked:
        """The next rows of a task, by run id."""
        receipts = self._tables.receipts.c
        query = sa.select(*self.columns).where(receipts.task == task, receipts.run_id > after)
        return Asked(query.order_by(receipts.run_id).limit(size))

    def of_attempt(self, task: str, key: str) -> Asked:
        """The rows of a scheduler's attempt, and those that were placed."""
        return Asked(self._of_attempt, task=task, key=key)

    def locked(self, task: str, run_ids: Sequence[str]) -> Asked:
        """The rows of runs, which nobody else changes until the transaction ends."""
        if len(run_ids) == 1:
            return Asked(self._locked, task=task, run_id=run_ids[0])
        receipts = self._tables.receipts.c
        some = self._whole().where(receipts.task == task, receipts.run_id.in_(run_ids))
        return Asked(some.order_by(receipts.run_id).with_for_update())

    def whole_rows(self, after: tuple[str, str], size: int) -> Asked:
        """The next rows of all, with every column."""
        receipts = self._tables.receipts.c
        key = sa.tuple_(receipts.task, receipts.run_id)
        query = self._whole().where(key > sa.tuple_(*map(sa.literal, after)))
        return Asked(query.order_by(receipts.task, receipts.run_id).limit(size))

    def tasks(self) -> Asked:
        """Each task once, by one probe for each."""
        return Asked(self._tasks)

    def settled(self, tasks: Sequence[str]) -> Asked:
        """The newest run of each task, where it is a success and no run of it is running."""
        return Asked(self._settled, names=self._dialect.names_value(tasks))

    def in_short(self, task: str, since: int, until: int) -> Asked:
        """A task's rows since an instant; of successes until another, no document.

        Where an index holds what is told of them, that of those that ended later neither.
        """
        return Asked(self._in_short, task=task, since=since, until=until)

    def _page(self, wanted: Wanted, *, is_first: bool) -> sa.Select[Any]:
        by = self._tables.variables.c if wanted.pairs else self._tables.receipts.c
        query = self._of_pairs(wanted) if wanted.pairs else self._of_status(wanted.status)
        order, last = [by.started_at, by.run_id], ["last_start", "last_run"]
        if wanted.task is None:
            order.append(by.task)
            last.append("last_task")
        else:
            query = query.where(by.task == sa.bindparam("task"))
        query = query.where(by.started_at.is_not(None))
        if wanted.since is not None:
            query = query.where(by.started_at >= sa.bindparam("since"))
        if not is_first:
            query = query.where(sa.tuple_(*order) < sa.tuple_(*map(_bound, order, last)))
        newest_first = [column.desc() for column in order]
        return query.order_by(*newest_first).limit(sa.bindparam("size"))

    def _of_status(self, status: Status | None) -> sa.Select[Any]:
        """The rows of a status, or all but those that were placed."""
        known = self._tables.receipts.c.status
        fits = known.is_not(None) if status is None else known == _is(status)
        return sa.select(*self.columns).where(fits)

    def _of_pairs(self, wanted: Wanted) -> sa.Select[Any]:
        """The rows that have all of these variables, by the first of them."""
        variables, receipts = self._tables.variables, self._tables.receipts
        same = (variables.c.task == receipts.c.task, variables.c.run_id == receipts.c.run_id)
        fits = self._of_status(wanted.status)
        if self._dialect.has_lateral:
            # A server takes half as long to plan a probe for each as to plan a join.
            row = fits.where(*same).limit(1).correlate(variables).lateral("row")
            query = sa.select(*row.c).select_from(variables.join(row, sa.true()))
        else:
            query = fits.select_from(variables.join(receipts, sa.and_(*same)))
        names = [f"pair_{number}" for number in range(len(wanted.pairs))]
        if len(names) == 1:
            return query.where(variables.c.pair == sa.bindparam(names[0]))
        rarest = self._rarest(names, is_of_task=wanted.task is not None)
        return query.where(variables.c.pair == rarest, *map(self._has_too, names))

    def _rarest(self, names: Sequence[str], *, is_of_task: bool) -> sa.ColumnElement[int]:
        """The variable of the fewest runs, looked for by the same statement."""
        counted = []
        for name in names:
            one, pair = self._tables.variables.alias(), sa.bindparam(name, type_=sa.BigInteger)
            some: sa.Select[Any] = sa.select(sa.literal_column("1").label("one"))
            some = some.select_from(one).where(one.c.pair == pair)
            if is_of_task:
                some = some.where(one.c.task == sa.bindparam("task"))
            count = sa.func.count().label("found")
            inner = some.limit(COUNTED).subquery()
            counted.append(sa.select(pair.label("pair"), count).select_from(inner))
        each = sa.union_all(*counted).subquery()
        return sa.select(each.c.pair).order_by(each.c.found).limit(1).scalar_subquery()

    def _has_too(self, name: str) -> sa.ColumnElement[bool]:
        """Whether the run of a row of variables has this one, too."""
        one, other = self._tables.variables.c, self._tables.variables.alias()
        same = (other.c.task == one.task, other.c.started_at == one.started_at)
        found: sa.Select[Any] = sa.select(sa.literal_column("1")).where(
            other.c.pair == sa.bindparam(name), *same, other.c.run_id == one.run_id
        )
        probe = found.limit(1).correlate(self._tables.variables).scalar_subquery()
        return probe.is_not(None)

    def _placed(self, wanted: Wanted) -> sa.Select[Any]:
        """The rows that somebody else placed, without what is drawn from their documents."""
        receipts = self._tables.receipts.c
        query = sa.select(*self.columns).where(receipts.status.is_(None))
        return query if wanted.task is None else query.where(receipts.task == sa.bindparam("task"))

    def _with_placed(self, wanted: Wanted, query: sa.Select[Any]) -> Statement:
        return self._union(query, self._placed(wanted))

    def _union(self, *queries: sa.Select[Any]) -> sa.CompoundSelect[Any]:
        if self._dialect.has_lateral:  # and takes a limit in a part of a union
            return sa.union_all(*queries)
        return sa.union_all(*(sa.select(query.subquery()) for query in queries))

    @cached_property
    def _success(self) -> Statement:
        receipts, wanted = self._tables.receipts.c, Wanted(task="")
        of_batch = receipts.batch_key == sa.bindparam("key")
        newest = self._page(wanted, is_first=True).where(of_batch)
        success = newest.where(receipts.status == _is(Status.SUCCESS))
        placed = self._placed(wanted).limit(sa.bindparam("size"))
        return self._union(success, newest, placed)

    @cached_property
    def _one(self) -> Statement:
        receipts = self._tables.receipts.c
        here = (receipts.task == sa.bindparam("task"), receipts.run_id == sa.bindparam("run_id"))
        return sa.select(*self.columns).where(*here)

    @cached_property
    def _locked(self) -> Statement:
        receipts = self._tables.receipts.c
        here = (receipts.task == sa.bindparam("task"), receipts.run_id == sa.bindparam("run_id"))
        return self._whole().where(*here).with_for_update()

    @cached_property
    def _beginning(self) -> Statement:
        receipts = self._tables.receipts.c
        return (
            sa.select(receipts.run_id)
            .where(receipts.task == sa.bindparam("task"))
            .where(receipts.run_id >= sa.bindparam("beginning"))
            .where(receipts.run_id <= sa.bindparam("end"))
            .order_by(receipts.run_id)
        )

    @cached_property
    def _of_attempt(self) -> Statement:
        receipts = self._tables.receipts.c
        here = (receipts.task == sa.bindparam("task"), receipts.attempt_key == sa.bindparam("key"))
        return self._union(self._of_status(None).where(*here), self._placed(Wanted(task="")))

    @cached_property
    def _tasks(self) -> Statement:
        receipts = self._tables.receipts.c
        names = sa.select(sa.func.min(receipts.task).label("task")).cte("names", recursive=True)
        after = sa.select(sa.func.min(receipts.task)).where(receipts.task > names.c.task)
        names = names.union_all(
            sa.select(after.correlate(names).scalar_subquery()).where(names.c.task.is_not(None))
        )
        return sa.select(names.c.task).where(names.c.task.is_not(None)).order_by(names.c.task)

    @cached_property
    def _settled(self) -> Statement:
        """One statement, and three or four probes of an index for each task."""
        receipts, named = self._tables.receipts, self._dialect.names()
        newest = receipts.alias("newest")
        of_task = (
            sa.select(newest)
            .where(newest.c.task == named.c.task, newest.c.started_at.is_not(None))
            .order_by(newest.c.started_at.desc(), newest.c.run_id.desc())
            .limit(1)
            .correlate(named)
        )
        if self._dialect.has_lateral:
            run: Any = of_task.lateral("run")
            join: sa.ColumnElement[bool] = sa.true()
        else:
            run = receipts.alias("run")
            its_id = of_task.with_only_columns(newest.c.run_id).scalar_subquery()
            join = sa.and_(run.c.task == named.c.task, run.c.run_id == its_id)
        told, size = run.c, self._dialect.size(run.c.document).label("size")
        sealed = (told[name] for name in SEALED)
        return (
            sa.select(*sealed, size, told.seal)
            .select_from(named.join(run, join))
            .where(told.status == _is(Status.SUCCESS))
            .where(self._none(named, "running"), self._none(named, "placed"))
        )

    @cached_property
    def _in_short(self) -> Statement:
        receipts = self._tables.receipts.c
        since, until = (sa.bindparam(name, type_=sa.BigInteger) for name in ("since", "until"))
        document = self._dialect.document(receipts.document)
        size = self._dialect.size(receipts.document)
        success = receipts.status == _is(Status.SUCCESS)
        if not self._dialect.has_index_of_successes:
            is_short = sa.and_(success, receipts.started_at <= until, receipts.ended_at <= until)
            told = self._told(size, sa.case((is_short, sa.null()), else_=document))
            known = told.where(receipts.started_at >= since, receipts.status.is_not(None))
            return self._union(known, told.where(receipts.status.is_(None)))
        short = self._told(sa.literal_column(SIZE, sa.BigInteger), sa.null())
        whole = self._told(size, document)
        others = whole.where(_unindexed(receipts.started_at) >= since)
        return self._union(
            short.where(success, receipts.started_at >= since, receipts.started_at <= until),
            whole.where(success, receipts.started_at >= since, receipts.started_at > until),
            # Every other status, as two ranges of the index of statuses: so few are left that an
            # index of starts would read far more.
            others.where(receipts.status < _is(Status.SUCCESS)),
            others.where(receipts.status > _is(Status.SUCCESS)),
            whole.where(receipts.status.is_(None)),
        )

    def _told(self, size: sa.ColumnElement[int], document: sa.ColumnElement[Any]) -> sa.Select[Any]:
        """The rows of a task, as they are told in short, by a seal."""
        receipts = self._tables.receipts.c
        sealed = (receipts[name] for name in SEALED if name != "task")
        columns = (*sealed, size.label("size"), receipts.seal, document.label("document"))
        return sa.select(*columns).where(receipts.task == sa.bindparam("task"))

    def _none(self, named: Any, what: str) -> sa.ColumnElement[bool]:
        """Whether a task has no row that says ``running``, or none that somebody else placed."""
        other = self._tables.receipts.alias(what)
        fits = (
            other.c.status.is_(None) if what == "placed" else other.c.status == _is(Status.RUNNING)
        )
        some = sa.select(other.c.run_id).where(other.c.task == named.c.task, fits)
        return some.limit(1).correlate(named).scalar_subquery().is_(None)

    def _whole(self) -> sa.Select[Any]:
        told = {column.name for column in self.columns}
        others = (each for each in self._tables.receipts.c if each.name not in told)
        return sa.select(*self.columns, *others)


def _shape(wanted: Wanted) -> tuple[object, ...]:
    """What two questions have in common that are asked by one statement."""
    return (wanted.task is None, wanted.status, wanted.since is None, len(wanted.pairs))


def _values(wanted: Wanted) -> dict[str, Any]:
    values: dict[str, Any] = {f"pair_{n}": pair for n, pair in enumerate(wanted.pairs)}
    values |= {} if wanted.task is None else {"task": wanted.task}
    return values | ({} if wanted.since is None else {"since": wanted.since})


def _bound(column: Any, name: str) -> sa.BindParameter[Any]:
    return sa.bindparam(name, type_=column.type)


def _is(status: Status) -> sa.ColumnElement[str]:
    """A status, written out: an index of one status only is used where the statement shows it."""
    return sa.literal_column(f"'{status.value}'", sa.Text)


def _unindexed(column: Any) -> sa.ColumnElement[Any]:
    """A column by which SQLite uses no index. The sign changes no value, not even a text."""
    return sa.UnaryExpression(column, operator=custom_op("+"), type_=column.type)


def stored(row: Any) -> Stored:
    """A row of a statement about receipts; further columns may follow."""
    task, run_id, status, started_at, ended_at, document = row[:6]
    return Stored(task, run_id, status, started_at, ended_at, as_bytes(document))


def as_bytes(document: str | bytes | None) -> bytes:
    """A document as a database gave it."""
    return document.encode() if isinstance(document, str) else document or b""
