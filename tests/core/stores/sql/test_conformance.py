from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.core.stores.sql.stores import made, place
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import (
    ClaimsAcrossProcesses,
    ClaimsConformance,
    HoldsDocuments,
    ProcessConformance,
    StoreConformance,
)

Put = Callable[[str, str, bytes], None]


class SqlConformance(
    StoreConformance, HoldsDocuments, ProcessConformance, ClaimsConformance, ClaimsAcrossProcesses
):
    PARTS = 150  # so that a save does not take longer than the time until a kill

    @pytest.fixture
    def put_document(self, store: SqlStore) -> Put:
        return lambda task, run_id, document: place(store, task, run_id, document)


class TestSqlite(SqlConformance):
    @pytest.fixture
    def store(self, sqlite_url: str) -> Iterator[SqlStore]:
        store = made(sqlite_url)
        yield store
        store.close()


class TestPostgresql(SqlConformance):
    @pytest.fixture
    def store(self, postgres_url: str) -> Iterator[SqlStore]:
        store = made(postgres_url)
        yield store
        store.close()
