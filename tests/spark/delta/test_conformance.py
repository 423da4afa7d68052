"""The Delta store through Spark passes the suite that every store passes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.stores.together import HoldsDocumentsTogether
from tests.spark.delta.tables import an_empty_store, put
from ubunye_core.stores.spark import SparkStore
from ubunye_core.testing import StoreConformance

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class TestSparkStore(StoreConformance, HoldsDocumentsTogether):
    @pytest.fixture
    def store(self, table: str) -> SparkStore:
        return an_empty_store(table)

    @pytest.fixture
    def put_document(self, store: SparkStore) -> Callable[[str, str, bytes], None]:
        return lambda task, run_id, document: put(store, task, run_id, document)
