"""s3rver takes no notice of the conditions of writes: one can read there, and not write.

Nor does it show a folder that holds only folders.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from urllib.parse import urlsplit

import obstore
import pytest
from obstore.store import S3Store

from tests.core.stores.objects.servers import BUCKET, Server
from ubunye_core import ConfigError, Status
from ubunye_core.codec import encode
from ubunye_core.stores import ClaimKey
from ubunye_core.stores.objects import ObjectStore, open_objects
from ubunye_core.testing import A_TASK, a_receipt, at


@pytest.fixture
def unfit(s3rver: Server, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "S3RVER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "S3RVER")
    return open_objects(s3rver.url(f"test-{uuid.uuid4().hex[:12]}"))


@pytest.fixture
def objects(s3rver: Server) -> S3Store:
    return S3Store(
        BUCKET,
        endpoint=s3rver.endpoint,
        access_key_id="S3RVER",
        secret_access_key="S3RVER",
        client_options={"allow_http": True},
    )


def put(objects: S3Store, store: ObjectStore, run_id: str, document: bytes) -> None:
    folder = urlsplit(store.url).path.strip("/")
    obstore.put(objects, f"{folder}/{A_TASK}/{run_id}.json", document)


def test_the_server_does_write_over_an_object_that_was_to_be_absent(objects: S3Store) -> None:
    for text in (b"first", b"second"):
        obstore.put(objects, "control", text, mode="create")
    assert bytes(obstore.get(objects, "control").bytes()) == b"second"


def test_nothing_is_saved_where_writers_could_lose_receipts(unfit: ObjectStore) -> None:
    with pytest.raises(ConfigError, match="does not keep the conditions of writes"):
        unfit.save(a_receipt())
    with pytest.raises(ConfigError, match="does not keep"):
        unfit.save_many([a_receipt()])
    assert (list(unfit.search()), unfit.search().unreadable, unfit.tasks()) == ([], (), [])


def test_nothing_is_claimed_where_two_could_get_it(unfit: ObjectStore) -> None:
    key = ClaimKey.of(A_TASK, {"month": "2026-10"})
    with pytest.raises(ConfigError, match="does not keep"):
        unfit.claim(key, run_id="run-1", lease=timedelta(minutes=1))
    assert unfit.holder(key) is None


def test_an_examination_says_so_and_leaves_no_trace(unfit: ObjectStore, objects: S3Store) -> None:
    found = {finding.what: finding for finding in unfit.examine()}
    assert [found[what].good for what in ("list", "read", "write", "claim")] == [
        True, True, False, False
    ]  # fmt: skip
    assert "does not keep the conditions" in found["write"].why
    folder = urlsplit(unfit.url).path.strip("/")
    assert [each for page in obstore.list(objects, folder) for each in page] == []


def test_every_question_can_be_asked_of_it(unfit: ObjectStore, objects: S3Store) -> None:
    runs = [
        a_receipt(run_id=f"r{n:04}", started_at=at(n), status=Status.ERROR if n % 3 else "success")
        for n in range(60)
    ]
    for run in runs:
        put(objects, unfit, run.run_id, encode(run))
    put(objects, unfit, "damaged", b"{")
    newest = sorted(runs, key=lambda run: run.order, reverse=True)
    assert list(unfit.list_runs(A_TASK, 5)) == newest[:5]
    assert list(unfit.search(status=Status.SUCCESS)) == newest[2::3]
    assert list(unfit.search(A_TASK, since=at(50))) == newest[:10]
    assert len(unfit.search(A_TASK, batch={"month": "2026-10"})) == 60
    assert [bad.where.rpartition("/")[2] for bad in unfit.search().unreadable] == ["damaged.json"]
    assert unfit.load(A_TASK, "r0007") == unfit.load(A_TASK, "r0007") == runs[7]
    assert unfit.tasks() == [A_TASK]
    assert len(list(unfit.scan(A_TASK))) == 61
