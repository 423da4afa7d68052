"""The Delta store in a folder passes the suite that every store passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.stores.delta.rows import put
from ubunye_core import open_store
from ubunye_core.stores.delta import DeltaStore
from ubunye_core.testing import (
    ClaimsAcrossProcesses,
    ClaimsConformance,
    HoldsDocuments,
    ProcessConformance,
    StoreConformance,
)


@pytest.mark.slow
class TestDeltaStore(
    StoreConformance, HoldsDocuments, ClaimsConformance, ProcessConformance, ClaimsAcrossProcesses
):
    @pytest.fixture
    def store(self, tmp_path: Path) -> DeltaStore:
        made = open_store(f"delta+file://{tmp_path}/receipts")
        assert isinstance(made, DeltaStore)
        made.save_many([])  # the table is there, and empty
        return made

    @pytest.fixture
    def put_document(self, store: DeltaStore) -> Callable[[str, str, bytes], None]:
        return lambda task, run_id, document: put(store, task, run_id, document)
