"""What a server may answer, and what the store makes of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.core.stores.objects.servers import SECRET, Moto
from ubunye_core import ReceiptConflictError, Status, StoreUnavailableError
from ubunye_core.codec import encode
from ubunye_core.stores import Claim, ClaimKey
from ubunye_core.stores.objects import ObjectStore, open_objects
from ubunye_core.testing import A_TASK, a_receipt, at

OCTOBER = ClaimKey.of(A_TASK, {"month": "2026-10"})
MINUTE = timedelta(minutes=1)


def folder_of(store: ObjectStore) -> str:
    return urlsplit(store.url).path.strip("/")


@pytest.mark.parametrize("status", [Status.RUNNING, Status.SUCCESS])
def test_a_conflict_is_tried_again(moto: Moto, store: ObjectStore, status: Status) -> None:
    if status is Status.SUCCESS:
        store.save(a_receipt(status=Status.RUNNING))
    moto.fail("PUT", "run-1.json", 409, "ConditionalRequestConflict", times=2)
    store.save(a_receipt(status=status))
    assert store.load(A_TASK, "run-1") == a_receipt(status=status)


@pytest.mark.parametrize("code", ["InternalError", "SlowDown"])
def test_a_save_whose_answer_got_lost_is_kept_once(
    moto: Moto, store: ObjectStore, code: str
) -> None:
    status = 500 if code == "InternalError" else 503
    for receipt in (
        a_receipt(status=Status.RUNNING),
        a_receipt(status=Status.RUNNING, heartbeat_at=at(3)),
        a_receipt(),
    ):
        moto.fail("PUT", "run-1.json", status, code, after=True)
        store.save(receipt)
        assert store.load(A_TASK, "run-1") == receipt
    with pytest.raises(ReceiptConflictError):
        store.save(a_receipt(status=Status.ERROR))


def test_a_claim_whose_answer_got_lost_is_had_once(moto: Moto, store: ObjectStore) -> None:
    tokens = []
    for number in range(2):
        moto.fail("PUT", OCTOBER.digest, 500, "InternalError", after=True)
        won = store.claim(OCTOBER, run_id=f"run-{number}", lease=MINUTE)
        assert isinstance(won, Claim)
        tokens.append(won.token)
        moto.fail("PUT", OCTOBER.digest, 500, "InternalError", after=True)
        store.renew(won)
        assert not store.claim(OCTOBER, run_id="run-9", lease=MINUTE)
        moto.fail("PUT", OCTOBER.digest, 500, "InternalError", after=True)
        store.release(won)
    assert tokens == [1, 2]


def test_a_server_that_fails_for_long_is_unavailable_soon(moto: Moto, store: ObjectStore) -> None:
    store.save(a_receipt())
    for kind, ask in (
        ("LIST", lambda: store.search(A_TASK)),
        ("GET", lambda: store.load(A_TASK, "run-1")),
        ("PUT", lambda: store.save(a_receipt(run_id="run-2"))),
    ):
        moto.fail(kind, "", 503, "SlowDown", times=1000)
        began = time.monotonic()
        with pytest.raises(StoreUnavailableError, match="answered 503"):
            ask()
        assert time.monotonic() - began < 30
    moto.fail_no_more()
    assert len(store.search()) == 1


def test_nobody_waits_for_hundreds_of_receipts_when_one_cannot_be_had(
    moto: Moto, store: ObjectStore
) -> None:
    folder = folder_of(store)
    moto.load({f"{folder}/{A_TASK}/r{n:04}.json": b"{" for n in range(900)})
    moto.fail("GET", "", 503, "SlowDown", times=10_000)
    with pytest.raises(StoreUnavailableError, match="answered 503"):
        store.search(A_TASK)
    assert moto.seen()["GET"] < 32 * 2 * 4


def test_a_listing_that_ends_half_way_is_no_answer(moto: Moto, store: ObjectStore) -> None:
    store.save(a_receipt())
    folder = folder_of(store)
    moto.load({f"{folder}/{A_TASK}/r{n:04}.json": b"{" for n in range(1500)})
    moto.fail("LIST", "", 503, "SlowDown", times=1000, skip=1)
    with pytest.raises(StoreUnavailableError, match="listed"):
        store.search(A_TASK)


def test_one_receipt_that_cannot_be_had_now_is_no_absent_one(
    moto: Moto, store: ObjectStore
) -> None:
    for number in range(3):
        store.save(a_receipt(run_id=f"run-{number}"))
    moto.fail("GET", "run-1.json", 403, "AccessDenied", times=1000)
    for ask in (
        lambda: store.search(A_TASK),
        lambda: store.list_runs(A_TASK),
        lambda: store.load(A_TASK, "run-1"),
        lambda: list(store.scan(A_TASK)),
        lambda: store.save(a_receipt(run_id="run-1", status=Status.ERROR)),
    ):
        with pytest.raises(
            StoreUnavailableError, match=r"refused the credentials \(AccessDenied\)"
        ):
            ask()


def test_a_missing_bucket_is_unavailable_and_never_empty(moto: Moto) -> None:
    store = open_objects(moto.url("prod", bucket="no-such-bucket"))
    for ask in (
        store.search,
        store.tasks,
        lambda: store.search(A_TASK),
        lambda: store.list_runs(A_TASK),
        lambda: store.load(A_TASK, "run-1"),
        lambda: store.save(a_receipt()),
        lambda: store.holder(OCTOBER),
        lambda: store.success_by_batch(A_TASK, {"month": "2026-10"}, whole=True),
    ):
        with pytest.raises(StoreUnavailableError, match="there is no bucket 'no-such-bucket'"):
            ask()


def test_a_server_that_is_not_there_is_unavailable_soon(moto: Moto) -> None:
    store = open_objects("s3://receipts/prod?endpoint=http://127.0.0.1:9&region=us-east-1")
    began = time.monotonic()
    for ask in (store.search, lambda: store.load(A_TASK, "run-1"), lambda: store.save(a_receipt())):
        with pytest.raises(StoreUnavailableError, match="cannot be reached") as refused:
            ask()
        assert SECRET not in f"{refused.value} {refused.value.__cause__}"
    assert time.monotonic() - began < 30


def test_without_credentials_it_says_where_they_are_looked_for(
    moto: Moto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")
    store = open_objects(moto.url("prod"))
    with pytest.raises(StoreUnavailableError, match=r"no credentials were.*AWS_\*.*connection"):
        store.search(A_TASK)


def test_an_object_that_cannot_be_named_is_told(moto: Moto, store: ObjectStore) -> None:
    moto.put_by_its_address(f"{folder_of(store)}/{A_TASK}//x.json", b"{}")
    with pytest.raises(StoreUnavailableError, match="an object that no store can name"):
        store.search(A_TASK)


def test_other_objects_are_no_receipts(moto: Moto, store: ObjectStore) -> None:
    store.save(a_receipt())
    place = f"{folder_of(store)}/{A_TASK}"
    for key in (
        f"{place}/readme.txt",
        f"{place}/sub/x.json",
        f"{place}/.x.json",
        f"{place}2/x.txt",
    ):
        moto.put(key, b"{")
    moto.put(f"{place}/not a run.json", encode(a_receipt()))
    found = store.search()
    assert list(found) == [a_receipt()]
    assert [bad.why for bad in found.unreadable] == ["its name is no run id"]
    assert store.tasks() == [A_TASK]


FORK = """
import os, sys
from ubunye_core import open_store, StoreUnavailableError
store = open_store(sys.argv[1])
if sys.argv[2] == "used":
    store.search()
if os.fork() == 0:
    try:
        print(len(store.search()), flush=True)
    except StoreUnavailableError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize(("before", "says"), [("used", "forked"), ("unused", "1")])
def test_a_forked_process_answers_or_says_why_not_and_never_hangs(
    store: ObjectStore, before: str, says: str
) -> None:
    store.save(a_receipt())
    done = subprocess.run(
        [sys.executable, "-c", FORK, store.url, before],
        capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[4], check=True,
        env=dict(os.environ),
    )  # fmt: skip
    assert says in done.stdout


def test_the_controls_of_these_tests_do_fail(moto: Moto, store: ObjectStore) -> None:
    moto.fail("GET", "here", 418, "Teapot")
    with pytest.raises(urllib.error.HTTPError, match="418"):
        urllib.request.urlopen(f"{moto.endpoint}/receipts/here", timeout=10)


def test_the_endpoint_may_come_from_the_environment(
    moto: Moto, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(a_receipt())
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto.endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    other = open_objects(f"s3://receipts/{folder_of(store)}")
    assert list(other.search()) == [a_receipt()]
    other.save(a_receipt(run_id="run-2"))
    assert len(store.search()) == 2


def test_a_write_that_comes_second_is_decided_again(moto: Moto, store: ObjectStore) -> None:
    store.save(a_receipt(status=Status.RUNNING))
    moto.fail("PUT", "run-1.json", 412, "PreconditionFailed", times=3)
    store.save(a_receipt(heartbeat_at=at(4)))
    assert store.load(A_TASK, "run-1").heartbeat_at == at(4)
