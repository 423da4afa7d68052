from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from ubunye_core import Receipt
from ubunye_core.stores import FileStore, MemoryStore

TASK = "pay/monthly/calc"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(str(uuid.uuid4()))


@pytest.fixture
def folder(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "receipts")


@pytest.fixture
def only(store: MemoryStore) -> Callable[[], Receipt]:
    """The one receipt in the store."""

    def find() -> Receipt:
        (receipt,) = store.search()
        return receipt

    return find
