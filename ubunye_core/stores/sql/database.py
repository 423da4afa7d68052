"""A database: connections, transactions, and what to do when they fail."""

from __future__ import annotations

import os
import random
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy import exc

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.masking import masked_value
from ubunye_core.stores.capabilities import Finding
from ubunye_core.stores.sql.schema import NoTablesError, OlderTablesError, check_version, migrate
from ubunye_core.stores.sql.tables import Tables

Answer = TypeVar("Answer")

TRIES = 6
"""How often a transaction is begun that others stand in the way of."""


class Dialect(Protocol):
    """What differs between the databases."""

    has_own_clock: bool
    has_lateral: bool
    has_index_of_successes: bool
    """Whether an index holds all that is told of successes in short."""

    def engine(self) -> sa.Engine:
        """A new pool of connections; none is opened yet."""
        ...

    def writer(self, engine: sa.Engine) -> sa.Engine:
        """The same pool, for transactions that write."""
        ...

    def make_place(self) -> None:
        """Make the place of the database, where a writer may."""
        ...

    def lock_all(self, connection: sa.Connection) -> None:
        """Wait until no other writer makes or changes the tables."""
        ...

    def is_absent(self, error: exc.DBAPIError) -> bool:
        """Whether the database, or a table in it, is not there."""
        ...

    def is_passing(self, error: exc.DBAPIError) -> bool:
        """Whether the transaction met another one, and may succeed when it is begun again."""
        ...

    def in_words(self, error: exc.DBAPIError) -> str:
        """What the database says, without values of rows."""
        ...

    def now(self) -> sa.ColumnElement[int]:
        """The database's clock at this moment, in microseconds since 1970."""
        ...

    def document(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        """A document as it is read: text, or bytes where the text may be none."""
        ...

    def size(self, column: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
        """How many bytes a document has."""
        ...

    def names(self) -> sa.FromClause:
        """A table with one column, ``task``, of the names in the parameter ``names``."""
        ...

    def names_value(self, names: Sequence[str]) -> object:
        """The value of that parameter."""
        ...

    def examine(self, connection: sa.Connection, tables: Tables) -> Iterator[Finding]:
        """What it says of itself: ``write``, ``durability`` and more."""
        ...

    def insert(self, table: sa.Table) -> Any:
        """An ``INSERT`` that does nothing where the row is there."""
        ...


class Database:
    """The tables of receipts in one database. Safe in threads, and in forked processes."""

    def __init__(self, dialect: Dialect, tables: Tables, url: str) -> None:
        self.dialect, self.tables, self.url = dialect, tables, url
        self._engines: tuple[sa.Engine, sa.Engine] | None = None
        self._process = 0
        self._left: list[object] = []
        self._is_known = False

    def read(self, work: Callable[[sa.Connection], Answer]) -> Answer:
        """Do what only reads; once more where the connection was lost.

        Raises:
            StoreUnavailableError: the database cannot be read, or has no tables of receipts yet.
        """

        def once() -> Answer:
            with self._pool().connect() as connection:
                if not self._is_known:
                    check_version(connection, self.tables, self.url)
                    self._is_known = True
                return work(connection)

        return self._tried(once, "read")

    def write(self, work: Callable[[sa.Connection], Answer], *, makes: bool = True) -> Answer:
        """Do something in one transaction; again where others stood in its way.

        The tables are brought to this version where they are older; and ``makes`` says whether
        they are made where there are none.
        """

        def once() -> Answer:
            with self._pool(writes=True).begin() as connection:
                check_version(connection, self.tables, self.url)
                return work(connection)

        def with_tables() -> Answer:
            try:
                return once()
            except OlderTablesError:
                pass
            except exc.DBAPIError as error:
                if not makes or not self.dialect.is_absent(error):
                    raise
            self._make_tables()
            return once()

        return self._tried(with_tables, "written")

    def bring_up_to_date(self) -> int | None:
        """Bring older tables to this version.

        Returns:
            The version that they had; None where they are of this version, also where another has
            just brought them to it.

        Raises:
            ConfigError: they are newer.
            StoreUnavailableError: the database cannot be written, or has no tables of receipts yet.
        """

        def once() -> int | None:
            try:
                with self._pool(writes=True).connect() as connection:
                    check_version(connection, self.tables, self.url)
            except OlderTablesError:
                return self._make_tables()
            return None

        return self._tried(once, "written")

    def close(self) -> None:
        """Close the connections that are open and idle; the next question opens one anew."""
        if self._engines is not None and self._process == os.getpid():
            self._engines[0].dispose()

    def _make_tables(self) -> int | None:
        self.dialect.make_place()
        with self._pool(writes=True).begin() as connection:
            self.dialect.lock_all(connection)
            older = migrate(connection, self.tables, self.url)
        self._is_known = False
        return older

    def _pool(self, *, writes: bool = False) -> sa.Engine:
        engines = self._engines
        if engines is None or self._process != os.getpid():
            # The connections of a parent are kept and left alone: to close them would end its own.
            self._left.append(engines)
            engine = self.dialect.engine()
            engines = self._engines = (engine, self.dialect.writer(engine))
            self._process = os.getpid()
            weakref.finalize(self, _dispose, engine, self._process)
        return engines[1] if writes else engines[0]

    def _tried(self, work: Callable[[], Answer], done: str) -> Answer:
        was_lost = False
        for tried in range(1, TRIES + 1):
            try:
                return work()
            except exc.DBAPIError as error:
                if error.connection_invalidated and not was_lost:
                    was_lost = True
                    continue
                if self.dialect.is_passing(error) and tried < TRIES:
                    time.sleep(random.uniform(0, 0.01 * 2**tried))  # those that met do not again
                    continue
                raise self._unavailable(error, done) from None
            except exc.SQLAlchemyError as error:  # no connection was free for long
                raise StoreUnavailableError(
                    f"The store {self.url} could not be {done}: {type(error).__name__}."
                ) from None
        raise AssertionError("unreachable")

    def _unavailable(self, error: exc.DBAPIError, done: str) -> StoreUnavailableError:
        # The texts of SQLAlchemy and of the drivers may hold rows; only ours is shown.
        if self.dialect.is_absent(error):
            return NoTablesError(self.url)
        why = masked_value(self.dialect.in_words(error)).strip().rstrip(".")[:300]
        return StoreUnavailableError(f"The store {self.url} could not be {done}: {why}.")


def _dispose(engine: sa.Engine, process: int) -> None:
    if process == os.getpid():
        engine.dispose()
