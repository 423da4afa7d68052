"""One Delta table: a handle that is brought up to date for each question, and its errors."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
from deltalake import (
    CommitProperties,
    DeltaTable,
    QueryBuilder,
    Transaction,
    WriterProperties,
    write_deltalake,
)
from deltalake.exceptions import CommitFailedError, TableNotFoundError

from ubunye_core.errors import StoreUnavailableError, UbunyeError
from ubunye_core.masking import error_text
from ubunye_core.stores.delta import disk
from ubunye_core.stores.delta.place import Place
from ubunye_core.stores.forks import Runtime

PATIENCE = 60.0
"""Seconds that a writer goes on when others commit before it, again and again."""
_ANY_PLACE = 100
"""How often an append that nothing can conflict with looks for the next free version."""
_IN_GROUPS_OF = 8192
"""Rows: few enough that a look for one document does not read all of a large file."""
_LATE = {
    "datafusion.execution.parquet.pushdown_filters": "true",
    "datafusion.execution.parquet.reorder_filters": "true",
}
"""Wide columns are read only in the rows that are asked for."""

runtime = Runtime("A Delta table")

Answer = TypeVar("Answer")
Elections = Mapping[str, int]
NOBODY: Elections = {}


class LostError(Exception):
    """Another writer has committed first: look again."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a table is made like."""

    schema: pa.Schema
    partition_by: str
    check: Callable[[Mapping[str, str]], None]
    """Raises ``ConfigError`` for the columns of a table that is another one."""
    configuration: Mapping[str, str]


class Snapshot:
    """The table at one version: several queries of one question see the same rows."""

    def __init__(self, place: Place, table: DeltaTable, name: str = "events") -> None:
        self._place = place
        self._queries = QueryBuilder(_LATE).register(name, table)

    def rows(self, sql: str) -> Iterator[dict[str, Any]]:
        """The answer to a query on the table by its name here, a part at a time.

        Raises:
            StoreUnavailableError: a file of the table cannot be read, or is not there.
        """
        with telling(self._place, "read"):
            reader = self._queries.execute(sql)
        while True:
            with telling(self._place, "read"):
                try:
                    batch = pa.record_batch(reader.read_next_batch())
                except StopIteration:
                    return
                rows = batch.to_pylist()
            yield from rows


class Table:
    """A handle on a table. Threads may share it; what changes the table takes turns."""

    def __init__(self, place: Place, shape: Shape) -> None:
        self.place, self._shape = place, shape
        self._lock = threading.RLock()
        self._table: DeltaTable | None = None
        self._log: tuple[int, int] | None = None
        self._checked = -1

    @property
    def lock(self) -> threading.RLock:
        """What those hold who use the handle. In a fork, its holder may be gone."""
        runtime.check()
        return self._lock

    def snapshot(self) -> Snapshot:
        """The table as it is now.

        Raises:
            StoreUnavailableError: there is none, or it cannot be read.
        """
        with self.lock:
            return Snapshot(self.place, self.now())

    def now(self) -> DeltaTable:
        """The handle, at the newest version; hold ``lock`` while it is used."""
        table = self._up_to_date()
        if table is None:
            raise StoreUnavailableError(
                f"There is no Delta table at {self.place.url}.",
                hint="Check the place, and that it is mounted; the first recorded run makes it.",
            )
        return table

    def is_missing(self) -> bool:
        """Whether there is no table, as far as the place can be reached."""
        with self.lock:
            return self._up_to_date() is None

    def made(self) -> DeltaTable:
        """The handle as ``now`` gives it; the table is made where there is none."""
        table = self._up_to_date()
        return self._create() if table is None else table

    def append(self, rows: Sequence[Mapping[str, Any]], *, elected_by: Elections = NOBODY) -> None:
        """Append rows in one commit, to the version that the handle has seen.

        Args:
            rows: Whole rows.
            elected_by: App transactions: ids and versions. Of all commits that name one of the
                ids, only those get through that have seen the one before. None: nothing stands
                in the way.

        Raises:
            LostError: another commit came first.
        """
        table = self.seen()
        data = pa.Table.from_pylist([dict(row) for row in rows], schema=self._shape.schema)
        self._write(table, data, elected_by, mode="append")

    def replace(
        self, rows: Sequence[Mapping[str, Any]], *, where: str, elected_by: Elections
    ) -> None:
        """Put rows in the place of those that a condition names, in one commit; see ``append``."""
        data = pa.Table.from_pylist([dict(row) for row in rows], schema=self._shape.schema)
        self._write(self.seen(), data, elected_by, mode="overwrite", predicate=where)

    def delete(self, where: str) -> None:
        """Remove the rows that a condition names, in one commit; see ``append``."""
        with telling(self.place, "written"):
            self.seen().delete(where, writer_properties=written_like())

    def _write(self, table: DeltaTable, data: pa.Table, elected_by: Elections, **how: Any) -> None:
        now_in_ms = int(time.time() * 1000)  # without it, Delta would never forget them
        if len(table.schema().fields) > len(data.schema):
            how["schema_mode"] = "merge"  # the columns of others stay null
        before = table.version()
        with telling(self.place, "written"):
            write_deltalake(
                table,
                data,
                writer_properties=written_like(),
                commit_properties=CommitProperties(
                    max_commit_retries=_ANY_PLACE,
                    app_transactions=[
                        Transaction(app_id, version, now_in_ms)
                        for app_id, version in elected_by.items()
                    ],
                ),
                **how,
            )
            if self.place.root is not None:
                disk.put_to_disk(self.place.root, before + 1, table.version())

    def seen(self) -> DeltaTable:
        """The handle at the version it was last brought to; hold ``lock`` while it is used."""
        assert self._table is not None, "look at the table before it is changed"
        return self._table

    def _up_to_date(self) -> DeltaTable | None:
        """The handle at the newest version; None where there is no table."""
        with telling(self.place, "read"):
            log = self.place.identity_of_log()
        if self._table is not None and log == self._log:
            try:
                with telling(self.place, "read"):
                    self._table.update_incremental()
            except StoreUnavailableError:  # its log may have been cleaned up meanwhile
                self._table = None
        else:
            self._table = None
        if self._table is None:
            self._table, self._log, self._checked = self._open(), log, -1
        if self._table is not None:
            self._check_commits(self._table)
        return self._table

    def _check_commits(self, table: DeltaTable) -> None:
        """Refuse a log with an empty commit, which would hide what was saved by it."""
        root, newest = self.place.root, table.version()
        if root is None or newest == self._checked:
            return
        with telling(self.place, "read"):
            first = self._checked + 1 or disk.first_commit(root)
            empty = disk.commit_without_content(root, first, newest)
        if empty is not None:
            raise StoreUnavailableError(
                f"The Delta table at {self.place.url} cannot be read: its commit {empty} is empty.",
                hint="A power cut leaves this. What was saved by it is lost; if it is the last "
                "commit, remove the file.",
            )
        self._checked = newest

    def _open(self) -> DeltaTable | None:
        with telling(self.place, "read"):
            if self.place.is_surely_empty:
                return None  # and delta-rs would make the folder
            runtime.use()
            try:
                table = DeltaTable(self.place.uri, storage_options=dict(self.place.options))
            except TableNotFoundError:
                return None
            columns = {field.name: _kind(field.type) for field in table.schema().fields}
        self._shape.check(columns)
        return table

    def _create(self) -> DeltaTable:
        """Make the table, empty: of several creators one does."""
        runtime.use()
        with contextlib.suppress(LostError), telling(self.place, "made"):
            self.place.prepare()
            DeltaTable.create(
                self.place.uri,
                self._shape.schema,
                mode="ignore",
                partition_by=self._shape.partition_by,
                configuration=dict(self._shape.configuration),
                storage_options=dict(self.place.options),
                # A second try would commit a second creation to the table of another creator.
                commit_properties=CommitProperties(max_commit_retries=0),
            )
        return self.now()


def _kind(kind: Any) -> str:
    """The type of a column by its name in Delta."""
    if hasattr(kind, "key_type"):
        return f"map<{_kind(kind.key_type)},{_kind(kind.value_type)}>"
    return str(getattr(kind, "type", kind))


def written_like() -> WriterProperties:
    """How files are written."""
    return WriterProperties(compression="ZSTD", max_row_group_size=_IN_GROUPS_OF)


@contextlib.contextmanager
def telling(place: Place, done: str) -> Iterator[None]:
    """What the library cannot do is a ``StoreUnavailableError``; a lost race is ``LostError``."""
    try:
        yield
    except (UbunyeError, TableNotFoundError, LostError):
        raise
    except CommitFailedError as error:
        raise LostError(str(error)) from error
    except Exception as error:
        raise StoreUnavailableError(
            f"The Delta table at {place.url} cannot be {done}: {error_text(error)}."
        ) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's; not to be named before it is raised
            raise
        raise StoreUnavailableError(
            f"The Delta table at {place.url} cannot be {done}: {error_text(error)}."
        ) from error


def until_it_holds(place: Place, work: Callable[[], Answer]) -> Answer:
    """Do ``work`` again for as long as others come first: it looks, decides and commits anew.

    Raises:
        StoreUnavailableError: others came first for a minute.
    """
    began, tries = time.monotonic(), 0
    while True:
        try:
            return work()
        except LostError as error:
            tries += 1
            if time.monotonic() - began > PATIENCE:
                raise StoreUnavailableError(
                    f"The Delta table at {place.url} cannot be written: in {tries} tries another "
                    f"writer came first each time."
                ) from error
            time.sleep(random.uniform(0.0, min(1.0, 0.01 * 2**tries)))
