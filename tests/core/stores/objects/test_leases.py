"""Claims in a bucket, where the conformance suite does not look."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from tests.core.stores.broken_claims import is_given_to_nobody, taken
from tests.core.stores.objects.servers import Moto
from ubunye_core import ReceiptConflictError, Status
from ubunye_core.errors import ClaimLostError
from ubunye_core.stores import Claim, ClaimKey, Held
from ubunye_core.stores.objects import ObjectStore, open_objects
from ubunye_core.stores.objects.clock import ServerClock
from ubunye_core.testing import A_TASK, a_receipt
from ubunye_core.times import utc_now

OCTOBER = ClaimKey.of(A_TASK, {"month": "2026-10"})
KEY = f".claims/{A_TASK}/{OCTOBER.digest}"
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


@pytest.fixture
def put(moto: Moto, store: ObjectStore) -> Callable[[bytes], None]:
    folder = urlsplit(store.url).path.strip("/")
    return lambda document: moto.put(f"{folder}/{KEY}", document)


def read(store: ObjectStore) -> dict[str, object]:
    stored = store._bucket.get(KEY)
    assert stored is not None
    document: dict[str, object] = json.loads(stored.document)
    return document


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version": 2}', b"null"])
def test_a_claim_that_cannot_be_read_is_given_to_nobody(
    store: ObjectStore, put: Callable[[bytes], None], damage: bytes
) -> None:
    claim = taken(store)
    put(damage)
    is_given_to_nobody(store, claim)


def test_a_takeover_whose_claimer_died_is_finished_by_the_next(
    store: ObjectStore, put: Callable[[bytes], None]
) -> None:
    store.save(a_receipt(status=Status.RUNNING))
    first = store.claim(OCTOBER, run_id="run-1", lease=timedelta(hours=1))
    assert isinstance(first, Claim)
    put(json.dumps(read(store) | {"is_lost": True, "change": 1}).encode())
    assert store.holder(OCTOBER) is None
    with pytest.raises(ClaimLostError):
        store.renew(first)
    store.release(first)
    second = open_objects(store.url).claim(OCTOBER, run_id="run-2", lease=MINUTE)
    assert isinstance(second, Claim)
    assert second.token == first.token + 1
    with pytest.raises(ReceiptConflictError):
        store.save(a_receipt())
    assert store.load(A_TASK, "run-1").ended_by == "takeover"
    store.renew(second)


def test_a_claim_that_does_not_say_when_it_was_taken_is_understood(
    store: ObjectStore, put: Callable[[bytes], None]
) -> None:
    claim = taken(store)
    said = read(store)
    del said["claimed_at"]
    put(json.dumps(said).encode())
    store.renew(claim)
    held = store.holder(OCTOBER)
    assert held is not None
    assert (held.run_id, held.token) == ("run-1", claim.token)


def test_no_two_versions_of_a_claim_are_the_same(store: ObjectStore) -> None:
    claim = store.claim(OCTOBER, run_id="run-1", lease=MINUTE)
    assert isinstance(claim, Claim)
    seen = [read(store)]
    for change in (store.renew, store.renew, store.release):
        change(claim)
        seen.append(read(store))
    store.claim(OCTOBER, run_id="run-1", lease=MINUTE)
    seen.append(read(store))
    texts = [json.dumps(each) for each in seen]
    assert len(set(texts)) == len(texts)


def test_a_claim_that_others_ask_for_costs_a_get(moto: Moto, store: ObjectStore) -> None:
    store.claim(OCTOBER, run_id="run-1", lease=MINUTE)
    other = open_objects(store.url)
    assert isinstance(other.claim(OCTOBER, run_id="run-2", lease=MINUTE), Held)
    moto.seen()
    for _ in range(5):
        assert isinstance(other.claim(OCTOBER, run_id="run-2", lease=MINUTE), Held)
        assert isinstance(other.holder(OCTOBER), Held)
    assert moto.seen() == {"GET": 10}


def test_the_servers_clock_is_never_ahead_and_hardly_behind(store: ObjectStore) -> None:
    clock = ServerClock(store._bucket)
    for _ in range(3):
        before = utc_now()
        shown = clock.now()
        assert before - timedelta(seconds=5) < shown <= utc_now()
        time.sleep(0.3)
    assert [page for page in store._bucket.listed(".clock") if page] == []


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [-3600, 3600])
def test_a_lease_goes_by_the_servers_clock_alone(
    moto: Moto, store: ObjectStore, ahead: int
) -> None:
    moto.set_clock_ahead(ahead)
    long, short = ClaimKey.of(A_TASK, {"lease": "long"}), ClaimKey.of(A_TASK, {"lease": "short"})
    store.claim(long, run_id="run-1", lease=MINUTE)
    began, other = time.monotonic(), open_objects(store.url)
    store.claim(short, run_id="run-1", lease=SECOND)
    while not other.claim(short, run_id="run-2", lease=MINUTE):
        assert time.monotonic() - began < 20
        time.sleep(0.1)
    assert time.monotonic() - began > 1 - 0.02
    assert isinstance(other.claim(long, run_id="run-2", lease=MINUTE), Held)
    assert isinstance(other.holder(long), Held)


@pytest.mark.parametrize(("ahead", "says"), [(-3600, "behind"), (3600, "ahead of")])
def test_an_examination_tells_a_clock_that_is_wrong(
    moto: Moto, store: ObjectStore, ahead: int, says: str
) -> None:
    moto.set_clock_ahead(ahead)
    (clock,) = [finding for finding in store.examine() if finding.what == "clock"]
    assert clock.good is False
    assert says in clock.why
