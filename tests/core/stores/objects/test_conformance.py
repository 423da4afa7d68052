from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from tests.core.stores.objects.servers import Moto
from ubunye_core.stores.objects import ObjectStore, open_objects
from ubunye_core.testing import (
    ClaimsConformance,
    HoldsDocuments,
    ProcessConformance,
    StoreConformance,
)


class TestObjectStore(StoreConformance, HoldsDocuments, ClaimsConformance, ProcessConformance):
    @pytest.fixture
    def store(self, url: str) -> ObjectStore:
        return open_objects(url)

    @pytest.fixture
    def put_document(self, moto: Moto, store: ObjectStore) -> Callable[[str, str, bytes], None]:
        folder = urlsplit(store.url).path.strip("/")

        def put(task: str, run_id: str, document: bytes) -> None:
            moto.put(f"{folder}/{task}/{run_id}.json", document)

        return put
