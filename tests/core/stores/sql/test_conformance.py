from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from ubunye_core.stores import open_store
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import HoldsDocuments, StoreConformance, a_receipt

Put = Callable[[str, str, bytes], None]


def made(url: str) -> SqlStore:
    """An empty store that has its tables."""
    store = open_store(url)
    assert isinstance(store, SqlStore)
    store.save(a_receipt())
    store.remove(a_receipt().task, [a_receipt().run_id])
    return store


def placed(store: SqlStore, document: Callable[[bytes], object]) -> Put:
    """What places a document as somebody with SQL would: without the columns that are drawn."""

    def put(task: str, run_id: str, given: bytes) -> None:
        receipts = store._database.tables.receipts
        row = {"task": task, "run_id": run_id, "document": document(given)}
        store._database.write(lambda connection: connection.execute(receipts.insert().values(row)))

    return put


class SqlConformance(StoreConformance, HoldsDocuments):
    pass


class TestSqlite(SqlConformance):
    @pytest.fixture
    def store(self, sqlite_url: str) -> Iterator[SqlStore]:
        store = made(sqlite_url)
        yield store
        store.close()

    @pytest.fixture
    def put_document(self, store: SqlStore) -> Put:
        # SQLite keeps bytes that are no text in a column of text.
        return placed(store, lambda document: sa.literal(document, sa.LargeBinary))


class TestPostgresql(SqlConformance):
    @pytest.fixture
    def store(self, postgres_url: str) -> Iterator[SqlStore]:
        store = made(postgres_url)
        yield store
        store.close()

    @pytest.fixture
    def put_document(self, store: SqlStore) -> Put:
        return placed(store, _as_text)


def _as_text(document: bytes) -> str:
    """As near to these bytes as a text of PostgreSQL comes."""
    return document.decode("utf-8", "replace").replace("\0", "\x01")
