"""Hints are looked at first and never believed."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.stores.objects.servers import BUCKET, Moto
from ubunye_core import Batch, Receipt, Status
from ubunye_core.codec import encode
from ubunye_core.runids import new_run_id, run_id_of_attempt, time_in
from ubunye_core.stores.objects import ObjectStore, open_objects
from ubunye_core.stores.objects.marks import MOST_KINDS, MOST_MARKS, Marks, before
from ubunye_core.stores.objects.of_batch import RunsOfBatch
from ubunye_core.testing import A_TASK, a_receipt, at

OCTOBER = {"month": "2026-10"}
MARKS = f".hints/{A_TASK}/marks"


def of_batch(**variables: str) -> str:
    return f".hints/{A_TASK}/batches/{Batch.of(variables).digest}"


def a_run(minutes: float, **changes: object) -> Receipt:
    return a_receipt(run_id=new_run_id(at(minutes)), started_at=at(minutes), **changes)


@pytest.fixture
def put(moto: Moto, store: ObjectStore) -> Callable[[str, bytes], None]:
    folder = urlsplit(store.url).path.strip("/")
    return lambda key, document: moto.put(f"{folder}/{key}", document)


def known(store: ObjectStore, *, whole: bool = True, **batch: str) -> list[str] | None:
    found = store.success_by_batch(A_TASK, batch or OCTOBER, whole=whole)
    return None if found is None else [run.run_id for run in found]


DAMAGE = [
    b"", b"{", b"[]", b"null", b"7", b"\xff\xfe", b"[" * 9999,
    b'{"version": 2}', b'{"version": 1}', b'{"runs": []}',
    b'{"version": 1, "runs": [{"run_id": "../x", "started_at": "2026-10-15T06:00:00Z"}]}',
    b'{"version": 1, "kinds": 1, "marks": [], "complete": true, "others": false}',
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=range(len(DAMAGE)))
def test_a_damaged_hint_changes_no_answer_and_is_written_anew(
    store: ObjectStore, put: Callable[[str, bytes], None], damage: bytes
) -> None:
    runs = [a_run(number) for number in range(5)]
    store.save_many(runs)
    for key in (MARKS, of_batch(**OCTOBER)):
        put(key, damage)
    assert list(store.list_runs(A_TASK, 3)) == runs[:1:-1]
    assert list(store.search(A_TASK, since=at(3))) == runs[:2:-1]
    assert known(store) is None
    store.save(a_run(9))
    assert known(store) is not None
    assert known(store, whole=False) is None  # others may have been there before
    store.repair()
    assert known(store, whole=False) == known(store)
    assert len(store.search(A_TASK, since=at(3))) == 3


@pytest.mark.parametrize("key", [MARKS, of_batch(**OCTOBER)])
def test_hints_that_are_gone_are_missed_by_nobody(
    moto: Moto, store: ObjectStore, key: str, put: Callable[[str, bytes], None]
) -> None:
    runs = [a_run(number) for number in range(5)]
    store.save_many(runs)
    put(key, b"x")
    assert list(store.search()) == runs[::-1]
    assert store.tasks() == [A_TASK]


def test_a_run_whose_writer_died_before_its_receipt_is_passed_over(
    store: ObjectStore, put: Callable[[str, bytes], None]
) -> None:
    store.save(a_receipt())
    died = RunsOfBatch().with_runs([a_receipt(), a_run(5), a_run(6, status=Status.RUNNING)])
    put(of_batch(**OCTOBER), died.encode())
    assert known(store) == ["run-1"]


def test_a_success_that_was_made_known_and_then_failed_is_none(
    store: ObjectStore, put: Callable[[str, bytes], None]
) -> None:
    store.save(a_receipt(run_id="good"))
    store.save(a_receipt(run_id="bad", started_at=at(5), status=Status.ERROR))
    both = [a_receipt(run_id="good"), a_receipt(run_id="bad", started_at=at(5))]
    put(of_batch(**OCTOBER), RunsOfBatch().with_runs(both).encode())
    assert known(store) == ["bad", "good"]


def test_a_hint_that_names_a_run_of_another_batch_is_no_answer(
    store: ObjectStore, put: Callable[[str, bytes], None]
) -> None:
    store.save(a_receipt())
    put(of_batch(month="2026-11"), RunsOfBatch().with_runs([a_receipt()]).encode())
    assert known(store, month="2026-11") is None


def test_a_damaged_receipt_of_the_batch_is_no_answer(
    store: ObjectStore, put: Callable[[str, bytes], None]
) -> None:
    store.save(a_receipt())
    store.save(a_receipt(run_id="later", started_at=at(5)))
    put(f"{A_TASK}/later.json", b"{")
    assert known(store) is None


def test_many_failed_reruns_do_not_push_a_success_out_of_sight(store: ObjectStore) -> None:
    store.save(a_run(0))
    for number in range(1, 12):
        store.save(a_run(number, status=Status.ERROR))
    found = store.success_by_batch(A_TASK, OCTOBER, whole=True)
    assert found is not None
    assert [run.started_at for run in found] == [at(11), at(0)]


def test_a_batch_with_more_variables_makes_the_shorter_one_unsure(store: ObjectStore) -> None:
    store.save(a_receipt())
    assert known(store, whole=False) == ["run-1"]
    more = {"month": "2026-10", "region": "eu"}
    store.save(a_receipt(run_id="wider", started_at=at(5), variables=more))
    assert known(store, whole=False) is None
    assert known(store, whole=True) == ["run-1"]
    assert known(store, whole=False, **more) == ["wider"]


def test_what_is_asked_for_by_mode_or_masked_is_searched(store: ObjectStore) -> None:
    store.save(a_receipt(variables={"month": "2026-10", "mode": "PROD", "api_key": "x"}))
    assert known(store) == ["run-1"]
    assert known(store, month="2026-10", mode="PROD") is None
    assert known(store, month="2026-10", api_key="x") is None
    assert known(store, month="***") is None


def test_a_run_that_gets_its_variables_later_is_known_by_them(store: ObjectStore) -> None:
    store.save(a_receipt(status=Status.RUNNING, variables={}))
    store.save(a_receipt())
    assert known(store) == ["run-1"]
    assert known(store, whole=False) == ["run-1"]


def test_what_is_removed_is_not_named_any_more(store: ObjectStore) -> None:
    store.save(a_receipt())
    store.save(a_receipt(run_id="run-2", started_at=at(5)))
    assert store.remove(A_TASK, ["run-2", "run-7"]) == 1
    assert known(store) == ["run-1"]
    assert store.remove(A_TASK, ["run-1"]) == 1
    assert known(store) is None
    assert (store.tasks(), list(store.search())) == ([], [])


def test_writers_at_the_same_time_all_become_known(store: ObjectStore) -> None:
    handles = [open_objects(store.url) for _ in range(8)]
    runs = [
        a_run(n) if n % 2 else a_receipt(run_id=f"r{n}", started_at=at(n), variables={f"v{n}": "x"})
        for n in range(16)
    ]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda pair: handles[pair[0] % 8].save(pair[1]), enumerate(runs)))
    client = store._bucket.get(MARKS)
    assert client is not None
    marks = Marks.decode(client.document)
    assert marks is not None
    assert marks.complete
    assert marks.others
    assert marks.kinds == {frozenset({"month"}), *(frozenset({f"v{n}"}) for n in range(0, 16, 2))}
    newest = max((run for run in runs if run.variables == OCTOBER), key=lambda run: run.order)
    assert known(store) == [newest.run_id]


def test_a_task_that_had_receipts_before_hints_is_complete_after_a_repair(
    store: ObjectStore, put: Callable[[str, bytes], None]
) -> None:
    for number in range(4):
        run = a_run(number)
        put(f"{A_TASK}/{run.run_id}.json", encode(run))
    store.save(a_run(9, status=Status.ERROR))
    assert known(store) is None
    done = store.repair()
    assert (done.hints, done.set_aside, done.left) == (5, (), ())
    found = store.success_by_batch(A_TASK, OCTOBER, whole=False)
    assert found is not None
    assert [run.started_at for run in found] == [at(9), at(3)]


def test_a_repair_moves_damage_aside_only_when_told(
    moto: Moto, store: ObjectStore, put: Callable[[str, bytes], None]
) -> None:
    store.save(a_receipt())
    put(f"{A_TASK}/damaged.json", b"{")
    left = store.repair().left
    assert [bad.where for bad in left] == [bad.where for bad in store.search().unreadable]
    (place,) = store.repair(set_aside=True).set_aside
    assert place.endswith(f"/.damaged/{A_TASK}/damaged.json")
    assert store.search().unreadable == ()
    assert list(store.search()) == [a_receipt()]
    assert store.repair().left == ()
    assert store.tasks() == [A_TASK]


def test_what_an_end_replaces_is_kept(
    moto: Moto, store: ObjectStore, put: Callable[[str, bytes], None]
) -> None:
    put(f"{A_TASK}/run-1.json", b"{half")
    store.save(a_receipt())
    kept = [each.key for page in store._bucket.listed(".damaged") for each in page]
    assert len(kept) == 1
    stored = store._bucket.get(kept[0])
    assert stored is not None
    assert stored.document == b"{half"
    assert BUCKET in store.url


@given(st.datetimes(min_value=at(0).replace(tzinfo=None)), st.integers(-5, 5))
def test_a_run_is_listed_from_its_start_on_and_hardly_earlier(start: object, apart: int) -> None:
    moment = start.replace(tzinfo=at(0).tzinfo)  # type: ignore[attr-defined]
    try:
        name = new_run_id(moment)
        shown = time_in(name)
    except OverflowError:
        return
    if shown is None or shown.year > 8000:
        return
    assert before(moment) < name
    assert before(moment.replace(microsecond=0)) < name


def the_run(number: int, variables: dict[str, str]) -> Receipt:
    """A run whose id is the same each time: which runs leave a mark is not left to chance."""
    run_id = run_id_of_attempt(at(number), "test", {"run": str(number)})
    return a_receipt(run_id=run_id, started_at=at(number), variables=variables)


def test_marks_stay_few() -> None:
    runs = [the_run(number, {f"v{number}": "x"}) for number in range(4000)]
    marks = Marks(complete=True).with_runs(runs)
    assert len(marks.marks) == MOST_MARKS
    assert marks.kinds is None
    assert len(Marks().with_runs(runs[:MOST_KINDS]).kinds or ()) == MOST_KINDS
    assert len(marks.encode()) < 4000
    assert Marks.decode(marks.encode()) == marks
    for newest in (1, 20, 50, 200):
        start = marks.start_for(newest)
        assert start is not None
        assert newest <= sum(run.run_id > start for run in runs) < 1000
    assert marks.start_for(5000) is None
    assert json.loads(marks.encode())["version"] == 1
