"""The databases that stand under the tests of this folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.stores.sql.server import PostgresServer, running_postgres
from tests.core.stores.sql.stores import made
from ubunye_core.stores.sql.store import SqlStore

EMPTIED = ("receipts", "variables", "claims", "damaged")
_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture
def new_postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """A schema of its own in that server, which is not made yet."""
    name = f"test_{next(_numbers)}"
    yield postgres.url(name)
    with postgres.connect() as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """A schema with empty tables, once some test has made them."""
    yield postgres.url("used_again")
    names = ", ".join(f"used_again.ubunye_{table}" for table in EMPTIED)
    with postgres.connect() as connection:
        connection.execute(f"TRUNCATE {names}")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/receipts.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """A store of each kind, of which nothing is there yet."""
    name = "sqlite_url" if request.param == "sqlite" else "new_postgres_url"
    return str(request.getfixturevalue(name))


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[SqlStore]:
    """An empty store of each kind."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    store = made(str(request.getfixturevalue(name)))
    yield store
    store.close()
