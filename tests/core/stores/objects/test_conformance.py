from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import obstore
import pytest
from obstore.store import AzureStore

from tests.core.stores.objects.servers import AZURE_ACCOUNT, AZURE_KEY, BUCKET, Moto
from ubunye_core.stores.objects import ObjectStore, open_objects
from ubunye_core.testing import (
    ClaimsAcrossProcesses,
    ClaimsConformance,
    HoldsDocuments,
    ProcessConformance,
    StoreConformance,
)


class TestObjectStore(
    StoreConformance, HoldsDocuments, ClaimsConformance, ProcessConformance, ClaimsAcrossProcesses
):
    @pytest.fixture
    def store(self, url: str) -> ObjectStore:
        return open_objects(url)

    @pytest.fixture
    def put_document(self, moto: Moto, store: ObjectStore) -> Callable[[str, str, bytes], None]:
        folder = urlsplit(store.url).path.strip("/")

        def put(task: str, run_id: str, document: bytes) -> None:
            moto.put(f"{folder}/{task}/{run_id}.json", document)

        return put


@pytest.mark.slow
class TestObjectStoreOnAzure(StoreConformance, HoldsDocuments, ClaimsConformance):
    """Another server, of another kind, that keeps the conditions of writes."""

    @pytest.fixture
    def store(self, azure_url: str) -> ObjectStore:
        return open_objects(azure_url)

    @pytest.fixture
    def put_document(self, azurite: str, store: ObjectStore) -> Callable[[str, str, bytes], None]:
        folder = urlsplit(store.url).path.strip("/")
        container = AzureStore(
            BUCKET,
            account_name=AZURE_ACCOUNT,
            account_key=AZURE_KEY,
            endpoint=azurite,
            client_options={"allow_http": True},
        )

        def put(task: str, run_id: str, document: bytes) -> None:
            obstore.put(container, f"{folder}/{task}/{run_id}.json", document)

        return put
