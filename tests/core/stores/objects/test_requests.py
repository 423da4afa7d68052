"""How many requests a question costs, as the server counts them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from tests.core.stores.objects.servers import Moto
from ubunye_core import Receipt, Status
from ubunye_core.codec import encode
from ubunye_core.runids import run_id_of_attempt
from ubunye_core.stores.objects import ObjectStore, open_objects
from ubunye_core.stores.objects.address import read_address
from ubunye_core.stores.objects.bucket import Bucket
from ubunye_core.stores.objects.hints import Hints
from ubunye_core.stores.objects.marks import Marks
from ubunye_core.testing import A_TASK, a_receipt, at

MANY = 10_000
FACTS = f".hints/{A_TASK}/facts"


def a_run(number: int, **changes: object) -> Receipt:
    """A run of its own month, each started a minute after the one before.

    Its id is always the same, for it decides whether the run leaves a mark: 12 of the first 400 do.
    """
    started_at = at(number)
    run_id = run_id_of_attempt(started_at, "test", {"run": str(number)})
    given = {"run_id": run_id, "variables": {"month": f"m{number}"}, **changes}
    return a_receipt(started_at=started_at, **given)


@pytest.fixture
def load(moto: Moto) -> Callable[[ObjectStore, list[Receipt]], None]:
    def put(store: ObjectStore, runs: list[Receipt]) -> None:
        folder = urlsplit(store.url).path.strip("/")
        moto.load({f"{folder}/{run.task}/{run.run_id}.json": encode(run) for run in runs})

    return put


@pytest.fixture(scope="module")
def many(moto: Moto) -> tuple[str, list[Receipt]]:
    """A task of ten thousand runs, without hints; and the runs, newest first."""
    folder, runs = "ten-thousand", [a_run(number) for number in range(MANY)]
    moto.load({f"{folder}/{run.task}/{run.run_id}.json": encode(run) for run in runs})
    return moto.url(folder), runs[::-1]


@pytest.mark.slow
def test_the_newest_50_of_10_000_take_10_listings_and_50_gets(
    moto: Moto, many: tuple[str, list[Receipt]]
) -> None:
    url, runs = many
    store = open_objects(url)
    moto.seen()
    assert list(store.list_runs(A_TASK, 50)) == runs[:50]
    seen = moto.seen()
    assert seen["LIST"] <= 11
    assert seen["GET"] <= 52
    assert set(seen) == {"LIST", "GET"}


def test_and_one_listing_with_hints(moto: Moto, many: tuple[str, list[Receipt]]) -> None:
    url, runs = many
    hints = Hints(Bucket(read_address(url)), holds_receipts=lambda _: True)
    hints.complete(A_TASK, Marks().with_runs(runs), {})  # as a repair does
    store = open_objects(url)
    moto.seen()
    assert list(store.list_runs(A_TASK, 50)) == runs[:50]
    seen = moto.seen()
    assert seen["LIST"] == 1
    assert seen["GET"] <= 52
    assert list(store.search(A_TASK, since=runs[99].started_at)) == runs[:100]
    assert moto.seen() == {"LIST": 1, "GET": 101}


@pytest.mark.slow
def test_later_polls_for_a_batch_that_is_not_there_read_only_what_is_new(
    moto: Moto, store: ObjectStore, load: Callable[[ObjectStore, list[Receipt]], None]
) -> None:
    load(store, [a_run(number) for number in range(1200)])
    wanted = {"month": "2031-01"}
    moto.seen()
    assert not store.search(A_TASK, batch=wanted)
    assert moto.seen() == {"LIST": 3, "GET": 1200}  # two of receipts, one of what a repair kept
    assert not store.search(A_TASK, batch=wanted)
    assert moto.seen() == {"LIST": 2}
    load(store, [a_run(1300, status=Status.RUNNING), a_run(5, host="another")])
    for _ in range(2):
        assert not store.search(A_TASK, batch=wanted)
    assert moto.seen() == {"LIST": 4, "GET": 3}  # two are new, and one of them still runs


@pytest.mark.slow
def test_a_repair_keeps_facts_for_a_process_that_looks_once(
    moto: Moto, store: ObjectStore, load: Callable[[ObjectStore, list[Receipt]], None]
) -> None:
    runs = [a_run(number, variables={"month": f"m{number % 3}"}) for number in range(1200)]
    load(store, runs)
    assert store.repair().hints == 1200
    wanted = {"month": "m7"}
    moto.seen()
    assert not open_objects(store.url).search(A_TASK, batch=wanted)
    assert moto.seen() == {"LIST": 3, "GET": 2}
    changed = replace(runs[5], variables=wanted)
    load(store, [changed, a_run(2000), a_run(2001, variables=wanted)])
    moto.seen()
    found = open_objects(store.url).search(A_TASK, batch=wanted)
    assert [run.run_id for run in found][1:] == [changed.run_id]
    assert len(found) == 2
    assert moto.seen() == {"LIST": 3, "GET": 5}
    first, second = (each.key for page in store._bucket.listed(FACTS) for each in page)
    store._bucket.write(first, b'{"version": 1, "facts": [7]}', over=store._bucket.get(first))
    assert list(open_objects(store.url).search(A_TASK, batch=wanted)) == list(found)
    store.remove(A_TASK, [run.run_id for run in runs[:600]])
    store.repair()
    assert [each.key for page in store._bucket.listed(FACTS) for each in page] == [first]
    assert second != first


def test_a_save_takes_few_requests_and_a_heartbeat_two(moto: Moto, store: ObjectStore) -> None:
    store.save(a_receipt(run_id="before"))
    running = a_receipt(status=Status.RUNNING)
    moto.seen()
    store.save(running)
    begin = moto.seen()
    store.save(replace(running, heartbeat_at=at(1)))
    beat = moto.seen()
    store.save(a_receipt())
    end = moto.seen()
    assert beat == {"GET": 1, "PUT": 1}
    assert sum(begin.values()) <= 5
    assert sum(end.values()) <= 4


def test_the_success_of_a_batch_takes_two_gets_or_three(moto: Moto, store: ObjectStore) -> None:
    for number in range(30):
        store.save(a_run(number))
    asked = {"month": "m7"}
    moto.seen()
    found = store.success_by_batch(A_TASK, asked, whole=True)
    assert found is not None
    assert [run.variables for run in found] == [asked]
    assert moto.seen() == {"GET": 2}
    found = store.success_by_batch(A_TASK, asked, whole=False)
    assert found is not None
    assert len(found) == 1
    assert moto.seen() == {"GET": 3}
    rerun = a_run(31, variables=asked, status=Status.ERROR)
    store.save(rerun)
    moto.seen()
    found = store.success_by_batch(A_TASK, asked, whole=True)
    assert found is not None
    assert [run.status for run in found] == [Status.ERROR, Status.SUCCESS]
    assert moto.seen() == {"GET": 3}
    assert store.success_by_batch(A_TASK, {"month": "m99"}, whole=True) is None
    assert moto.seen() == {"GET": 1}


@pytest.mark.slow
def test_the_newest_are_listed_from_a_mark_as_soon_as_writers_have_left_some(
    moto: Moto, store: ObjectStore, load: Callable[[ObjectStore, list[Receipt]], None]
) -> None:
    store.save(a_run(-5000))
    load(store, [a_run(number) for number in range(-4999, -3000)])  # without hints
    runs = [a_run(number, variables={}) for number in range(400)]
    store.save_many(runs)
    moto.seen()
    assert list(store.list_runs(A_TASK, 20)) == runs[:-21:-1]
    assert moto.seen() == {"LIST": 1, "GET": 21}
    assert len(store.list_runs(A_TASK, 500)) == 500
    assert moto.seen()["LIST"] == 3


@pytest.mark.slow
def test_what_others_bring_is_found_though_hints_do_not_know_it(
    moto: Moto, store: ObjectStore, load: Callable[[ObjectStore, list[Receipt]], None]
) -> None:
    runs = [a_run(number) for number in range(300)]
    store.save_many(runs)
    moto.seen()
    assert len(store.list_runs(A_TASK, 2)) == 2
    assert moto.seen()["LIST"] == 1
    foreign = [
        a_run(1000, run_id="7f0c1d0e-93a1-4d3c-8f6b-0a4b8a3c1d2e"),
        a_run(999, run_id="manual-run"),
    ]
    load(store, [*foreign, *(a_run(number) for number in range(2000, 2003))])
    newest = [int(run.variables["month"][1:]) for run in store.list_runs(A_TASK, 7)]  # type: ignore[index]
    assert newest == [2002, 2001, 2000, 1000, 999, 299, 298]
    since = store.search(A_TASK, since=at(299))
    assert len(since) == 6


def test_since_lists_from_its_instant(moto: Moto, store: ObjectStore) -> None:
    runs = [a_run(number / 60_000) for number in range(100)]  # a millisecond after another
    store.save_many(runs)
    moto.seen()
    for exact in (timedelta(0), timedelta(microseconds=1), timedelta(microseconds=-1)):
        since = runs[60].started_at + exact
        expected = [run for run in runs[::-1] if run.started_at >= since]
        assert list(store.search(A_TASK, since=since)) == expected
    seen = moto.seen()
    assert seen["LIST"] == 3
    assert seen["GET"] < 3 * 44
