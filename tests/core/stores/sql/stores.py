"""Stores for the tests of this folder, and what somebody with SQL can do to them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from ubunye_core.stores import open_store
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import a_receipt


def opened(url: str) -> SqlStore:
    """The store of a URL."""
    store = open_store(url)
    assert isinstance(store, SqlStore)
    return store


def made(url: str) -> SqlStore:
    """An empty store that has its tables."""
    store = opened(url)
    store.save(a_receipt())
    store.remove(a_receipt().task, [a_receipt().run_id])
    return store


def receipts_of(store: SqlStore) -> sa.Table:
    return store._database.tables.receipts


def execute(store: SqlStore, statement: Any) -> None:
    """Run a statement of somebody else's."""
    store._database.write(lambda connection: connection.execute(statement) and None)


def place(store: SqlStore, task: str, run_id: str, document: bytes) -> None:
    """Insert a row without the columns that are drawn from the document."""
    row = {"task": task, "run_id": run_id, "document": as_kept(store, document)}
    execute(store, receipts_of(store).insert().values(row))


def change(store: SqlStore, run_id: str = "run-1", **columns: Any) -> None:
    """Update a row behind the store's back."""
    if "document" in columns:
        columns["document"] = as_kept(store, columns["document"])
    receipts = receipts_of(store)
    execute(store, receipts.update().where(receipts.c.run_id == run_id).values(columns))


def as_kept(store: SqlStore, document: bytes) -> Any:
    """A document as the database can hold it: SQLite also keeps bytes in a column of text."""
    if store.url.startswith("sqlite"):
        return sa.literal(document, sa.LargeBinary)
    return document.decode("utf-8", "replace").replace("\0", "\x01")
