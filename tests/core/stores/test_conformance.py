from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from ubunye_core.stores import FileStore, MemoryStore, open_store
from ubunye_core.testing import HoldsDocuments, StoreConformance


class TestFileStore(StoreConformance, HoldsDocuments):
    @pytest.fixture
    def store(self, tmp_path: Path) -> FileStore:
        root = tmp_path / "receipts"
        root.mkdir()
        return FileStore(root)

    @pytest.fixture
    def put_document(self, store: FileStore) -> Callable[[str, str, bytes], None]:
        def put(task: str, run_id: str, document: bytes) -> None:
            folder = store.root / task
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{run_id}.json").write_bytes(document)

        return put


class TestMemoryStore(StoreConformance, HoldsDocuments):
    @pytest.fixture
    def store(self) -> MemoryStore:
        store = open_store(f"memory://{uuid.uuid4()}")
        assert isinstance(store, MemoryStore)
        return store

    @pytest.fixture
    def put_document(self, store: MemoryStore) -> Callable[[str, str, bytes], None]:
        return store.put_document
