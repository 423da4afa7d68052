"""A ledger, by the suites that every store passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ubunye_core.stores.jsonl import JsonlStore
from ubunye_core.stores.jsonl.events import line_of
from ubunye_core.testing import (
    ClaimsAcrossProcesses,
    ClaimsConformance,
    HoldsDocuments,
    ProcessConformance,
    StoreConformance,
)


class TestJsonlStore(
    StoreConformance, HoldsDocuments, ClaimsConformance, ClaimsAcrossProcesses, ProcessConformance
):
    @pytest.fixture
    def store(self, tmp_path: Path) -> JsonlStore:
        path = tmp_path / "ledger.jsonl"
        path.touch()
        return JsonlStore(path)

    @pytest.fixture
    def put_document(self, store: JsonlStore) -> Callable[[str, str, bytes], None]:
        def put(task: str, run_id: str, document: bytes) -> None:
            held = b',"receipt":' + document.replace(b"\n", b" ")
            with open(store.path, "ab") as file:
                file.write(line_of("save", task, run_id, held))

        return put
