"""The table of events as Spark sees it: frames of rows that stand, and appends."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.events import (
    COLUMNS,
    PARTITIONED_BY,
    PROPERTIES,
    STANDING_FIRST,
    Event,
    Kind,
    check_columns,
)
from ubunye_core.stores.spark.name import quoted
from ubunye_core.stores.spark.session import LostError, NoTableError, active_session, telling
from ubunye_core.times import as_utc, instant_of, microseconds

PATIENCE = 120.0
"""Seconds for which a writer looks again after another came first."""
OTHERS_MAKE_IT = 10.0
"""Seconds for which a table may be half made by another."""
_IN_PLACE = "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"

_TIMES = frozenset(column.name for column in COLUMNS if column.kind is Kind.TIME)
_NAMES = tuple(column.name for column in COLUMNS)
_IN_SQL = {Kind.TEXT: "STRING", Kind.NUMBER: "BIGINT", Kind.TIME: "TIMESTAMP"}
_IN_ROWS: dict[Kind, types.DataType] = {
    Kind.TEXT: types.StringType(),
    Kind.NUMBER: types.LongType(),
    Kind.TIME: types.LongType(),  # microseconds: no time zone of a session has a say in them
    Kind.TEXTS: types.MapType(types.StringType(), types.StringType()),
}
_ROW = types.StructType([types.StructField(c.name, _IN_ROWS[c.kind]) for c in COLUMNS])
_PLACE = "_place"
_STANDING = f"row_number() OVER (PARTITION BY task, run_id ORDER BY {STANDING_FIRST}) AS {_PLACE}"
_ALONE = {"delta.isolationLevel": "Serializable"}
"""An append that looks at the table first is refused where anything was appended meanwhile."""

Answer = TypeVar("Answer")


class Table:
    """A handle on the table of a name. Nothing of its rows is kept."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._is_known = False

    def rows(self) -> Any:
        """A frame of all rows.

        Raises:
            NoTableError: there is no such table.
            ConfigError: it is another one.
        """
        with telling(self.name, "read"):
            frame = active_session().table(quoted(self.name))
            if not self._is_known:
                found = {field.name: _kind(field.dataType) for field in frame.schema.fields}
                check_columns(found, where=f"The table {self.name}")
                self._is_known = True
        return frame

    def standing(self, where: Any = None) -> Any:
        """A frame of the rows that stand, of the runs that a condition on task and id names."""
        rows = self.rows()
        rows = rows if where is None else rows.where(where)
        return rows.selectExpr("*", _STANDING).where(f"{_PLACE} = 1")

    def told(self, frame: Any, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Columns of a frame, with times as instants."""
        with telling(self.name, "read"):
            return [_as_told(row) for row in frame.select(*map(_column, columns)).collect()]

    def events(self, frame: Any, columns: Sequence[str] = _NAMES) -> list[Event]:
        """The rows of a frame."""
        return [Event.from_row(row) for row in self.told(frame, columns)]

    def each_event(self, frame: Any, columns: Sequence[str] = _NAMES) -> Iterator[Event]:
        """The rows of a frame, a part at a time."""
        with telling(self.name, "read"):
            for row in frame.select(*map(_column, columns)).toLocalIterator():
                yield Event.from_row(_as_told(row))

    def append(self, events: Sequence[Event], *, elected_by: tuple[str, int] | None = None) -> None:
        """Append rows in one commit.

        Args:
            events: The rows, whole.
            elected_by: An app transaction: its id and version. Of commits with this id that are
                under way at once, one gets through. Spark drops one whose version is not new
                without a word: the caller looks whether its row is there.

        Raises:
            LostError: another commit came first.
        """
        self._append(self._frame(events), elected_by)

    def append_new(self, events: Sequence[Event], others: Sequence[Event] = ()) -> None:
        """Append those rows whose runs have no row of the same turn, or of a later one, yet.

        Args:
            events: The rows that must be elected.
            others: Rows that are appended with them, whatever is there.

        Raises:
            LostError: another commit to one of the tasks of ``events`` came first.
        """
        frame = self._frame(others)
        if events:
            seen = self.rows().where(F.col("task").isin(sorted({event.task for event in events})))
            seen = seen.selectExpr("task AS seen_task", "run_id AS seen_run", "turn AS seen_turn")
            same = "task = seen_task AND run_id = seen_run AND seen_turn >= turn"
            new = self._frame(events).join(seen, F.expr(same), "left_anti")
            frame = new.unionByName(frame) if others else new
        self._append(frame, None)

    def _append(self, frame: Any, elected_by: tuple[str, int] | None) -> None:
        with telling(self.name, "written"):
            writer = frame.write.format("delta").mode("append")
            if elected_by is not None:
                app_id, version = elected_by
                writer = writer.option("txnAppId", app_id).option("txnVersion", str(version))
            writer.saveAsTable(quoted(self.name))

    def _frame(self, events: Sequence[Event]) -> Any:
        rows = [
            tuple(_micros(value) if name in _TIMES else value for name, value in row.items())
            for row in (event.as_row() for event in events)
        ]
        with telling(self.name, "written"):
            frame = active_session().createDataFrame(rows, _ROW).coalesce(1)
            return frame.select(
                *(F.timestamp_micros(n).alias(n) if n in _TIMES else F.col(n) for n in _NAMES)
            )

    def delete(self, task: str, run_ids: Sequence[str]) -> None:
        """Remove all rows of these runs, in one commit.

        Raises:
            LostError: another commit came first.
        """
        with telling(self.name, "written"):
            goes = active_session().createDataFrame([(task, run_id) for run_id in run_ids], _RUN)
            same = F.expr("task = gone_task AND run_id = gone_run")
            goes.mergeInto(quoted(self.name), same).whenMatched().delete().merge()

    def run(self, statement: str, done: str) -> list[Any]:
        """The answer to a statement on the table, such as ``OPTIMIZE {table}``."""
        with telling(self.name, done):
            rows: list[Any] = (
                active_session().sql(statement.format(table=quoted(self.name))).collect()
            )
        return rows

    def make(self) -> None:
        """Make the table where there is none.

        Raises:
            StoreUnavailableError: there is something in its place that is no table.
        """
        columns = ", ".join(f"`{c.name}` {_IN_SQL.get(c.kind, c.kind.upper())}" for c in COLUMNS)
        properties = ", ".join(f"'{k}' = '{v}'" for k, v in (PROPERTIES | _ALONE).items())
        statement = (
            f"CREATE TABLE IF NOT EXISTS {{table}} ({columns}) USING DELTA "
            f"PARTITIONED BY (`{PARTITIONED_BY}`) TBLPROPERTIES ({properties})"
        )
        began = time.monotonic()
        while True:
            try:
                self.run(statement, "made")
            except StoreUnavailableError as error:
                # Another may be making it just now: its folder is there, its log not yet.
                if _IN_PLACE not in str(error) or time.monotonic() - began > OTHERS_MAKE_IT:
                    raise
                time.sleep(0.2)
            else:
                return

    def until_it_holds(self, work: Callable[[], Answer], *, makes: bool = False) -> Answer:
        """Do ``work`` again for as long as others come first.

        Args:
            work: It looks, decides and commits anew each time.
            makes: Make the table where there is none.

        Raises:
            StoreUnavailableError: others came first for minutes.
        """
        began, tries = time.monotonic(), 0
        while True:
            try:
                return self._made(work) if makes else work()
            except LostError as error:
                tries += 1
                if time.monotonic() - began > PATIENCE:
                    raise StoreUnavailableError(
                        f"The table {self.name} cannot be written: in {tries} tries another writer "
                        f"came first each time."
                    ) from error
                time.sleep(random.uniform(0.0, min(2.0, 0.05 * 2**tries)))

    def _made(self, work: Callable[[], Answer]) -> Answer:
        """Do ``work``; make the table first if it is not there."""
        try:
            return work()
        except NoTableError:
            self.make()
            return work()


_RUN = types.StructType(
    [types.StructField(name, types.StringType()) for name in ("gone_task", "gone_run")]
)


def _column(name: str) -> Any:
    return F.unix_micros(name).alias(name) if name in _TIMES else F.col(name)


def _as_told(row: Any) -> dict[str, Any]:
    return {n: _instant(v) if n in _TIMES else v for n, v in row.asDict().items()}


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else microseconds(as_utc(moment))


def _instant(micros: int | None) -> datetime | None:
    """The instant; None for one that is not in the calendar."""
    try:
        return None if micros is None else instant_of(micros)
    except OverflowError:
        return None


def instant(moment: datetime) -> Any:
    """An instant as a column."""
    return F.timestamp_micros(F.lit(_micros(moment)))


def _kind(kind: types.DataType) -> str:
    """The type of a column by its name in Delta."""
    return kind.simpleString().replace("bigint", "long")
