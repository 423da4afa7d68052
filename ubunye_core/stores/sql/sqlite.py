"""``sqlite:///receipts.db`` (relative) and ``sqlite:////srv/receipts.db``: a file of SQLite."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.dialects import sqlite

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.masking import masked_url
from ubunye_core.stores.capabilities import Finding
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.stores.sql.tables import Tables

WRITES = "ubunye_writes"
"""The execution option of a connection on which a transaction that writes begins."""
_SHARES = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "ceph", "glusterfs", "lustre")
OLDEST = (3, 35)
"""The version of SQLite that has RETURNING."""
PATIENCE = 15.0
"""Seconds that a writer waits for the others of the file."""


class Sqlite:
    """How SQLite does it. One writer at a time; readers are never in the way (WAL)."""

    has_own_clock = False
    has_lateral = False
    has_index_of_successes = True

    def __init__(self, path: Path) -> None:
        self.path = path

    def engine(self) -> sa.Engine:
        """A pool of connections to the file, which must be there."""
        engine = sa.create_engine(
            "sqlite://",
            creator=lambda: self._connect("rw"),
            poolclass=sa.pool.QueuePool,
            pool_size=2,
            max_overflow=14,
            pool_use_lifo=True,
            hide_parameters=True,
        )
        sa.event.listen(engine, "begin", _begin)
        return engine

    def writer(self, engine: sa.Engine) -> sa.Engine:
        """The same pool, for transactions."""
        return engine.execution_options(**{WRITES: True})

    def make_place(self) -> None:
        """Make the file and its folder."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connect("rwc")
            try:
                _to_wal(connection)
            finally:
                connection.close()
        except (OSError, sqlite3.Error) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise StoreUnavailableError(
                f"The store {self.path} could not be made: {why}."
            ) from None

    def lock_all(self, connection: sa.Connection) -> None:
        """``BEGIN IMMEDIATE`` has done it."""

    def is_absent(self, error: exc.DBAPIError) -> bool:
        """No file, or no table."""
        text = str(error.orig)
        return "no such table" in text or (
            "unable to open" in text and not os.path.exists(self.path)
        )

    def is_passing(self, error: exc.DBAPIError) -> bool:
        """A file that was just made, or tables that were; for locks, SQLite waits by itself."""
        text = str(error.orig)
        was_made = "unable to open" in text and os.path.exists(self.path)
        return was_made or "schema has changed" in text

    def in_words(self, error: exc.DBAPIError) -> str:
        """SQLite's texts name tables and columns, never values."""
        return str(error.orig)

    def now(self) -> sa.ColumnElement[int]:
        """This machine's clock: there is no other."""
        return sa.bindparam("now", callable_=_now, type_=sa.BigInteger(), unique=True)

    def document(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        """Bytes: a text column of SQLite may hold what is no text."""
        return sa.cast(column, sa.LargeBinary)

    def size(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
        """The length of its bytes."""
        return sa.func.length(self.document(column), type_=sa.BigInteger)

    def names(self) -> sa.FromClause:
        """One parameter, however many there are."""
        listed = sa.func.json_each(sa.bindparam("names", type_=sa.Text)).table_valued("value")
        return sa.select(listed.c.value.label("task")).subquery("named")

    def names_value(self, names: Sequence[str]) -> object:
        """A list in JSON."""
        return json.dumps(list(names))

    def examine(self, connection: sa.Connection, tables: Tables) -> Iterator[Finding]:
        """Version, rights and durability of the file."""
        yield Finding(what="server", good=True, why=f"SQLite {sqlite3.sqlite_version}, a file")
        allowed = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        why = "the file and its folder may be written" if allowed else "this user may not write it"
        yield Finding(what="write", good=allowed, why=why)
        journal = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
        why = f"a save is on disk when it returns: journal_mode is {journal}, synchronous is full"
        yield Finding(what="durability", good=True, why=why)
        share = share_below(self.path)
        if share is not None:
            why = f"the file is on a share ({share}), where SQLite's locks cannot be relied on"
            yield Finding(what="locks", good=False, why=why)

    def insert(self, table: sa.Table) -> Any:
        """``ON CONFLICT DO NOTHING``."""
        return sqlite.insert(table).on_conflict_do_nothing()

    def _connect(self, mode: str) -> sqlite3.Connection:
        place = f"file:{quote(str(self.path))}?mode={mode}"
        connection = sqlite3.connect(
            place, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = FULL")
        return connection


def _now() -> int:
    return time.time_ns() // 1000


def _begin(connection: sa.Connection) -> None:
    # What reads needs no transaction; what writes must not begin as a reader, or it could fail
    # when another has written meanwhile.
    if connection.get_execution_options().get(WRITES):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _to_wal(connection: sqlite3.Connection) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:  # another connection does the same: nobody waits for it
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def share_below(path: Path) -> str | None:
    """The kind of the network share that a file is on, where the system tells it."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    except OSError:
        return None
    at = [(fields[1], fields[2]) for fields in mounts if path.is_relative_to(fields[1])]
    kind = max(at, key=lambda mount: len(mount[0]), default=("", ""))[1]
    return kind if kind.startswith(_SHARES) else None


def open_sqlite(url: str) -> SqlStore:
    """The store in a file of SQLite."""
    rest = url.partition("://")[2]
    text = unquote(rest.removeprefix("/"))
    if not rest.startswith("/") or not text or text == ":memory:" or text.endswith("/"):
        raise ConfigError(
            f"'{masked_url(url)}' names no file.",
            hint="Write sqlite:///receipts.db, sqlite:////srv/receipts.db for a whole path, or "
            "memory://name for a store that is not kept.",
        )
    if "?" in rest or "#" in rest or "\0" in text:
        raise ConfigError(
            f"'{masked_url(url)}' has options; a file of SQLite takes none.",
            hint="In a path, write '?' as %3F and '#' as %23.",
        )
    if sqlite3.sqlite_version_info < OLDEST:
        raise ConfigError(
            f"This Python has SQLite {sqlite3.sqlite_version}, and the store needs "
            f"{'.'.join(map(str, OLDEST))} or later.",
            hint="Use another Python, or a folder: file:///srv/receipts.",
        )
    path = Path(text).absolute()
    place = f"sqlite:///{quote(str(path))}"
    return SqlStore(Database(Sqlite(path), Tables(), place))
