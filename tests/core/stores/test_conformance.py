from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from ubunye_core.runids import new_run_id
from ubunye_core.stores import FileStore, MemoryStore, open_store
from ubunye_core.testing import A_TASK, HoldsDocuments, StoreConformance, a_receipt, at


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

    def test_a_run_that_is_newer_than_its_file_hides_no_other(self, store: FileStore) -> None:
        store.save(a_receipt(run_id=new_run_id(at(0))))
        store.save(a_receipt(run_id="a", started_at=at(5)))
        store.save(a_receipt(run_id="b", started_at=at(60 * 24 * 36_500)))
        store.save(a_receipt(run_id="c", started_at=at(60 * 24 * 36_501)))
        for found in (
            store.search(A_TASK, batch={"month": "2026-10"}),
            store.search(A_TASK, since=at(-1)),
            store.list_runs(A_TASK),
            open_store(store.url).search(A_TASK),
        ):
            assert [run.run_id[:1] for run in found] == ["c", "b", "a", "0"]
        assert [run.run_id for run in store.list_runs(A_TASK, 2)] == ["c", "b"]


class TestMemoryStore(StoreConformance, HoldsDocuments):
    @pytest.fixture
    def store(self) -> MemoryStore:
        store = open_store(f"memory://{uuid.uuid4()}")
        assert isinstance(store, MemoryStore)
        return store

    @pytest.fixture
    def put_document(self, store: MemoryStore) -> Callable[[str, str, bytes], None]:
        return store.put_document
