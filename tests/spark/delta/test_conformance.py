"""The Delta store through Spark passes the suite that every store passes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.stores.together import HoldsDocumentsTogether
from tests.spark.delta.tables import an_empty_store, put
from ubunye_core.stores.spark import SparkStore
from ubunye_core.testing import A_TASK, StoreConformance, a_receipt, at

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class TestSparkStore(StoreConformance, HoldsDocumentsTogether):
    @pytest.fixture
    def store(self, table: str) -> SparkStore:
        return an_empty_store(table)

    @pytest.fixture
    def put_document(self, store: SparkStore) -> Callable[[str, str, bytes], None]:
        return lambda task, run_id, document: put(store, task, run_id, document)

    def test_many_receipts_come_back_whole(self, store: SparkStore) -> None:
        """In one append: one at a time they would take minutes."""
        store.save_many(a_receipt(run_id=f"r{n}", started_at=at(n % 7)) for n in range(150))
        assert len({receipt.run_id for receipt in store.search(A_TASK)}) == 150
