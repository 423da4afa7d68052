"""The Delta store in a bucket."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.core.stores.delta.rows import put
from tests.core.stores.objects.conftest import credentials, moto  # noqa: F401  # fixtures
from tests.core.stores.objects.servers import BUCKET, SECRET, Moto, ask
from tests.core.stores.together import HoldsDocumentsTogether
from ubunye_core import Status, StoreUnavailableError, open_store
from ubunye_core.stores import ClaimKey
from ubunye_core.stores.delta import DeltaStore, open_delta
from ubunye_core.testing import (
    A_TASK,
    ClaimsConformance,
    ProcessConformance,
    StoreConformance,
    a_receipt,
)


@pytest.fixture
def url(moto: Moto) -> str:  # noqa: F811
    name = f"delta-{uuid.uuid4().hex[:12]}"
    return f"delta+s3://{BUCKET}/{name}?region=us-east-1&endpoint={moto.endpoint}"


def an_empty_store(url: str) -> DeltaStore:
    made = open_delta(url)
    made.save_many([])
    return made


@pytest.fixture
def store(url: str) -> DeltaStore:
    return an_empty_store(url)


def test_a_bucket_keeps_receipts_and_gives_claims(store: DeltaStore) -> None:
    other = open_store(store.url)
    store.save(a_receipt(status=Status.RUNNING))
    assert other.load(A_TASK, "run-1").status is Status.RUNNING
    store.save(a_receipt())
    assert list(other.search(A_TASK, Status.SUCCESS)) == [a_receipt()]
    key = ClaimKey.of(A_TASK, {"month": "2026-10"})
    assert store.claim(key, run_id="run-2", lease=timedelta(minutes=15))
    assert not open_delta(store.url).claim(key, run_id="run-3", lease=timedelta(minutes=15))


def test_an_examination_tries_the_server_and_leaves_nothing(
    store: DeltaStore,
    moto: Moto,  # noqa: F811
) -> None:
    def keys() -> int:
        return ask(f"{moto.endpoint}/{BUCKET}?list-type=2", "GET").count(b"<Key>")

    before = keys()
    findings = {finding.what: finding for finding in store.examine()}
    assert findings["write"].good, findings["write"].why
    assert findings["claim"].good
    assert keys() == before


def test_an_examination_of_a_bucket_that_is_not_there_says_so(url: str) -> None:
    findings = list(open_delta(url.replace(f"//{BUCKET}/", "//nowhere/")).examine())
    assert (findings[0].what, findings[0].good) == ("write", False)
    assert not any(SECRET in finding.why for finding in findings)


def test_a_table_that_is_not_there_is_unavailable(url: str) -> None:
    with pytest.raises(StoreUnavailableError, match="There is no Delta table"):
        open_store(url).search(A_TASK)


def test_a_bucket_that_is_not_there_is_unavailable_and_no_key_is_told(url: str) -> None:
    elsewhere = open_store(url.replace(f"//{BUCKET}/", "//nowhere/"))
    with pytest.raises(StoreUnavailableError) as refused:
        elsewhere.save(a_receipt())
    assert SECRET not in str(refused.value)


def test_a_server_that_is_not_there_is_unavailable_in_time() -> None:
    nowhere = open_store("delta+s3://receipts/table?region=us-east-1&endpoint=http://127.0.0.1:9")
    with pytest.raises(StoreUnavailableError):
        nowhere.search(A_TASK)


@pytest.mark.slow
@pytest.mark.timeout(600)
class TestDeltaStoreInABucket(
    StoreConformance, HoldsDocumentsTogether, ClaimsConformance, ProcessConformance
):
    LEASE = timedelta(seconds=2)
    WRITERS, RUNS_OF_EACH = 6, 3
    PARTS, LOOKS, KILLS = 200, 3, 5

    @pytest.fixture
    def store(self, url: str) -> DeltaStore:
        return an_empty_store(url)

    @pytest.fixture
    def put_document(self, store: DeltaStore) -> Callable[[str, str, bytes], None]:
        return lambda task, run_id, document: put(store, task, run_id, document)
