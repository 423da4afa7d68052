"""``postgresql://user@host/database`` and ``postgresql+psycopg://…``: PostgreSQL by psycopg 3."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.dialects import postgresql

from ubunye_core.errors import ConfigError
from ubunye_core.masking import masked_url, masked_value
from ubunye_core.names import is_segment
from ubunye_core.stores.capabilities import Finding
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.stores.sql.tables import Tables

_PATIENCE = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""So that a server that is gone is told in seconds; the URL may say otherwise."""
CLOCKS_DIFFER = 60
"""Seconds; so far apart, a run looks stuck or from the future."""
_CLASH, _DEADLOCK = "40001", "40P01"
_NO_TABLE, _NO_SCHEMA = "42P01", "3F000"


class Postgres:
    """How PostgreSQL does it."""

    has_own_clock = True
    has_lateral = True
    has_index_of_successes = False

    def __init__(self, url: sa.URL, schema: str | None) -> None:
        self._url, self._schema = url, schema

    def engine(self) -> sa.Engine:
        """A pool of connections; what reads goes without a transaction."""
        return sa.create_engine(
            self._url,
            # Nothing is prepared, so that a pool such as PgBouncer may stand between.
            connect_args={"prepare_threshold": None, "client_encoding": "utf8"},
            pool_size=2,
            max_overflow=14,
            pool_use_lifo=True,
            hide_parameters=True,
            isolation_level="AUTOCOMMIT",
        )

    def writer(self, engine: sa.Engine) -> sa.Engine:
        """The same pool, for transactions."""
        return engine.execution_options(isolation_level="READ COMMITTED")

    def make_place(self) -> None:
        """A database is made by those who own the server."""

    def lock_all(self, connection: sa.Connection) -> None:
        """A lock of this database that ends with the transaction."""
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(7_285_310_921)))
        # "IF NOT EXISTS" asks for the right to make one also where it is there.
        if self._schema is not None and not sa.inspect(connection).has_schema(self._schema):
            connection.execute(sa.schema.CreateSchema(self._schema))

    def is_absent(self, error: exc.DBAPIError) -> bool:
        """No table, or no schema."""
        return _state(error) in (_NO_TABLE, _NO_SCHEMA)

    def is_passing(self, error: exc.DBAPIError) -> bool:
        """A serialisation failure or a deadlock."""
        return _state(error) in (_CLASH, _DEADLOCK)

    def in_words(self, error: exc.DBAPIError) -> str:
        """The server's first line; the ones below it may hold rows."""
        diagnosis = getattr(error.orig, "diag", None)
        said = getattr(diagnosis, "message_primary", None) or str(error.orig)
        if isinstance(error, exc.DataError):  # it quotes what it could not use
            said = type(error.orig).__name__
        return str(said).strip().splitlines()[0] if said else type(error.orig).__name__

    def now(self) -> sa.ColumnElement[int]:
        """The server's clock now, not when the transaction began."""
        seconds = sa.extract("epoch", sa.func.clock_timestamp())
        return sa.cast(seconds * 1_000_000, sa.BigInteger)

    def document(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        """Text; the server has checked that it is."""
        return column

    def size(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
        """From the head of the value; the document is not read."""
        return sa.func.octet_length(column, type_=sa.BigInteger)

    def names(self) -> sa.FromClause:
        """One parameter, however many there are."""
        listed = sa.bindparam("names", type_=postgresql.ARRAY(sa.Text))
        return sa.func.unnest(listed).table_valued("task").render_derived("named")

    def names_value(self, names: Sequence[str]) -> object:
        """An array."""
        return list(names)

    def examine(self, connection: sa.Connection, tables: Tables) -> Iterator[Finding]:
        """Version, rights, durability and clock of the server."""
        version, recovers, encoding = connection.execute(
            sa.text(
                "SELECT current_setting('server_version'), pg_is_in_recovery(), "
                "current_setting('server_encoding')"
            )
        ).one()
        yield Finding(what="server", good=True, why=f"PostgreSQL {version}, {encoding}")
        if recovers:
            why = "it is a standby: nothing can be written, and what was just saved may lag behind"
            yield Finding(what="write", good=False, why=why)
        else:
            yield self._rights(connection, tables)
        yield _durability(connection)
        yield _clock(connection, self.now())

    def _rights(self, connection: sa.Connection, tables: Tables) -> Finding:
        missing = []
        for table in (tables.receipts, tables.variables, tables.claims, tables.damaged):
            name = connection.dialect.identifier_preparer.format_table(table)
            for right in ("INSERT", "UPDATE"):
                allowed = sa.select(sa.func.has_table_privilege(name, right))
                if not connection.execute(allowed).scalar():
                    missing.append(f"{right} on {name}")
        if missing:
            return Finding(what="write", good=False, why=f"no right to {', '.join(missing)}")
        return Finding(what="write", good=True, why="it has the rights to insert and update")

    def insert(self, table: sa.Table) -> Any:
        """``ON CONFLICT DO NOTHING``: waits for another's insert, then says that it was there."""
        return postgresql.insert(table).on_conflict_do_nothing()


def _durability(connection: sa.Connection) -> Finding:
    settings = sa.text("SELECT current_setting('fsync'), current_setting('synchronous_commit')")
    fsync, commits = connection.execute(settings).one()
    said = f"fsync is {fsync}, synchronous_commit is {commits}"
    if fsync == "on" and commits != "off":
        why = f"a save is on disk when it returns: {said}"
        return Finding(what="durability", good=True, why=why)
    return Finding(what="durability", good=False, why=f"a crash may lose the last saves: {said}")


def _clock(connection: sa.Connection, now: sa.ColumnElement[int]) -> Finding:
    before = time.time_ns() // 1000
    theirs = connection.execute(sa.select(now)).scalar_one()
    ours = (before + time.time_ns() // 1000) // 2
    seconds = (theirs - ours) / 1e6
    why = f"the server's clock is {abs(seconds):.3f} s {'ahead' if seconds > 0 else 'behind'}"
    return Finding(what="clock", good=abs(seconds) < CLOCKS_DIFFER, why=why)


def _state(error: exc.DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)


def open_postgres(url: str) -> SqlStore:
    """The store in a database of PostgreSQL; ``?schema=NAME`` puts its tables into a schema."""
    try:
        parsed = sa.make_url("postgresql+psycopg://" + url.partition("://")[2])
    except (exc.ArgumentError, ValueError):
        raise ConfigError(
            f"'{masked_url(url)}' is not the URL of a database.",
            hint="Write postgresql://user@host:5432/database; in a password, write '@' as %40, "
            "':' as %3A and '/' as %2F.",
        ) from None
    schema = parsed.query.get("schema")
    if schema is not None and not (isinstance(schema, str) and is_segment(schema)):
        raise ConfigError(f"'{masked_url(url)}' names no schema.", hint="Write ?schema=NAME once.")
    parsed = parsed.difference_update_query(["schema"])
    try:
        psycopg.conninfo.make_conninfo(**{name: str(text) for name, text in parsed.query.items()})
    except psycopg.ProgrammingError as error:
        raise ConfigError(f"'{masked_url(url)}': {masked_value(str(error)).strip()}.") from None
    patience = {name: text for name, text in _PATIENCE.items() if name not in parsed.query}
    dialect = Postgres(parsed.update_query_dict(patience), schema)
    return SqlStore(Database(dialect, Tables(schema), masked_url(url)))
