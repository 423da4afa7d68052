"""Versions of the tables, and the way from one to the next.

Each step is taken by a writer, under a lock, in one transaction. A reader never changes anything.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.stores.sql.tables import SIZE, Tables

Step = Callable[[sa.Connection, Tables], None]


def _first_tables(connection: sa.Connection, tables: Tables) -> None:
    tables.all.create_all(connection)


def _index_of_successes(connection: sa.Connection, tables: Tables) -> None:
    """What is told of successes in short stands in an index, where documents lie in the rows.

    SQLite reads the beginning of a document with every row. A server keeps it elsewhere. The
    column of the size takes no place, and whoever changes a document changes it too.
    """
    if connection.dialect.name != "sqlite":
        return
    name = tables.receipts.name
    for statement in (
        f"ALTER TABLE {name} ADD COLUMN {SIZE} INTEGER "
        "GENERATED ALWAYS AS (length(CAST(document AS BLOB))) VIRTUAL",
        f"CREATE INDEX {name}_in_short ON {name} (task, status, started_at, run_id, ended_at, "
        f"window_start, window_end, pairs, {SIZE}, seal) WHERE status = 'success'",
    ):
        connection.exec_driver_sql(statement)


STEPS: list[Step] = [_first_tables, _index_of_successes]
"""Step n makes version n + 1 of version n. A step that was released is never changed."""


class NoTablesError(StoreUnavailableError):
    """The database has no tables of receipts, or is not there."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"The store {url} has no tables of receipts yet.",
            hint="Is it the right database and schema? The first recorded run makes them.",
        )


class OlderTablesError(StoreUnavailableError):
    """The tables are of an older version than this library's."""

    def __init__(self, url: str, version: int) -> None:
        self.version = version
        super().__init__(
            f"The tables of the store {url} have version {version}, and this library reads "
            f"version {len(STEPS)}.",
            hint="The next run that is recorded by this version of the library changes them; "
            "'ubunye-runs store repair' does too.",
        )


def check_version(connection: sa.Connection, tables: Tables, url: str) -> None:
    """Refuse tables of another version.

    Raises:
        ConfigError: they are newer.
        OlderTablesError: they are older.
    """
    version = _version(connection, tables, url)
    if version is None:
        raise OlderTablesError(url, 0)
    if version > len(STEPS):
        raise _newer(url, version)
    if version < len(STEPS):
        raise OlderTablesError(url, version)


def migrate(connection: sa.Connection, tables: Tables, url: str) -> int | None:
    """Take the steps that are missing. The caller holds the lock, and a transaction.

    Returns:
        The version that the tables had; None where no step was missing.
    """
    tables.versions.create(connection, checkfirst=True)
    version = _version(connection, tables, url)
    if version is None:
        version = 0
        connection.execute(tables.versions.insert().values(version=0))
    if version > len(STEPS):
        raise _newer(url, version)
    for step in STEPS[version:]:
        step(connection, tables)
    connection.execute(tables.versions.update().values(version=len(STEPS)))
    return version if version < len(STEPS) else None


def _version(connection: sa.Connection, tables: Tables, url: str) -> int | None:
    """The version of the tables; None where it is not written down yet.

    Raises:
        ConfigError: what is written there is none: SQLite takes anything from somebody's hand.
    """
    version = connection.execute(sa.select(tables.versions.c.version)).scalar()
    if version is None or (isinstance(version, int) and version >= 0):
        return version
    raise ConfigError(
        f"The tables of the store {url} have version {str(version)[:80]!r}, which is none.",
        hint=f"Write the number back into the table {tables.versions.name}.",
    )


def _newer(url: str, version: int) -> ConfigError:
    return ConfigError(
        f"The tables of the store {url} have version {version}; this library knows versions up to "
        f"{len(STEPS)}.",
        hint="Install a newer version of ubunye-receipts.",
    )
