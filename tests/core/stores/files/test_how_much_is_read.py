"""How many files are opened for an answer: most are known by their names, or by hints."""

from __future__ import annotations

import os
import shutil
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from ubunye_core import Receipt, Requirement, Status, Verdict, check_upstream, job_health
from ubunye_core.codec import encode
from ubunye_core.receipt import Orchestrator
from ubunye_core.runids import new_run_id
from ubunye_core.stores import FileStore
from ubunye_core.stores.files.place import Place
from ubunye_core.testing import A_TASK, a_receipt, at

RUNS = 400


@dataclass
class Opened:
    """The files of a store that were opened."""

    paths: list[str] = field(default_factory=list)

    @property
    def receipts(self) -> int:
        return sum(path.endswith(".json") for path in self.paths)

    def __len__(self) -> int:
        return len(self.paths)


_watching: list[tuple[str, Opened]] = []


def _watch(event: str, args: tuple[object, ...]) -> None:
    if event == "open" and _watching and isinstance(args[0], str):
        root, opened = _watching[-1]
        if args[0].startswith(root):
            opened.paths.append(args[0])


sys.addaudithook(_watch)


@contextmanager
def opening(store: FileStore) -> Iterator[Opened]:
    opened = Opened()
    _watching.append((str(store.root), opened))
    try:
        yield opened
    finally:
        _watching.pop()


def a_run(number: int, task: str = A_TASK) -> Receipt:
    """The run of one day, in two regions; every seventh fails."""
    start = at(60 * number)
    return a_receipt(
        task=task,
        run_id=new_run_id(start),
        started_at=start,
        status=Status.SUCCESS if number % 7 else Status.ERROR,
        variables={"day": f"d{number // 2}", "region": "eu" if number % 2 else "us"},
        orchestrator=Orchestrator(name="airflow", ids={"run": f"r{number}"}, attempt=1),
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("filled")
    FileStore(root).save_many([a_run(number) for number in range(RUNS)])
    return root


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> FileStore:
    """A copy of its own. Hints know a file by its inode, so they are written anew."""
    shutil.copytree(filled, tmp_path / "receipts")
    store = FileStore(tmp_path / "receipts")
    store.repair()
    return FileStore(store.root)


def a_foreign_write(store: FileStore, **changes: object) -> Receipt:
    """A receipt that another recorder puts in the folder."""
    receipt = a_receipt(**{"run_id": new_run_id(at(7)), "started_at": at(7), **changes})
    (store.root / A_TASK / f"{receipt.run_id}.json").write_bytes(encode(receipt))
    return receipt


def without_hints(store: FileStore) -> None:
    shutil.rmtree(store.root / A_TASK / ".hints")


@pytest.mark.parametrize("happened", [None, a_foreign_write, without_hints])
def test_the_newest_runs_are_opened_and_no_others(
    store: FileStore, happened: Callable[[FileStore], None] | None
) -> None:
    if happened is not None:
        happened(store)
    with opening(store) as opened:
        assert len(store.list_runs(A_TASK, 50)) == 50
    assert opened.receipts == 50
    with opening(store) as opened:
        assert len(store.search(A_TASK, since=at(60 * (RUNS - 20)))) == 20
    assert opened.receipts == 20


def test_the_folder_is_not_listed_for_what_the_hints_tell(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = a_run_id(store, 9)
    monkeypatch.setattr(Place, "names", lambda *_: pytest.fail("the folder is listed"))
    assert len(store.list_runs(A_TASK, 50)) == 50
    assert len(store.search(A_TASK, since=at(60 * (RUNS - 20)))) == 20
    assert store.success_by_batch(A_TASK, {"day": "d9"}, whole=False) is not None
    attempt = Orchestrator(name="airflow", ids={"run": "r9"}, attempt=1)
    assert [run.run_id for run in store.of_attempt(A_TASK, attempt)] == [run_id]


def a_run_id(store: FileStore, number: int) -> str:
    (found,) = store.search(A_TASK, batch=a_run(number).batch.as_dict())
    return found.run_id


def test_the_success_of_a_batch_takes_three_open_files(store: FileStore) -> None:
    batch = a_run(9).batch.as_dict()
    with opening(store) as opened:
        known = store.success_by_batch(A_TASK, batch, whole=True)
    assert known is not None
    assert len(opened) <= 2
    rerun = replace(a_run(9), run_id=new_run_id(at(99_999)), started_at=at(99_999))
    store.save(replace(rerun, status=Status.RUNNING, ended_at=None))
    with opening(store) as opened:
        known = store.success_by_batch(A_TASK, batch, whole=True)
    assert known is not None
    assert [run.status for run in known] == [Status.RUNNING, Status.SUCCESS]
    assert len(opened) <= 3


def test_a_part_of_a_batch_takes_at_most_one_open_receipt_for_each_run_that_agrees(
    store: FileStore,
) -> None:
    with opening(store) as opened:
        known = store.success_by_batch(A_TASK, {"day": "d9"}, whole=False)
    assert known is not None
    assert opened.receipts <= 2
    with opening(store) as opened:
        assert store.success_by_batch(A_TASK, {"region": "eu"}, whole=False) is not None
    assert opened.receipts <= 2


def test_a_receipt_that_others_write_costs_one_open_file_more(store: FileStore) -> None:
    foreign = a_foreign_write(store, variables=a_run(9).variables)
    with opening(store) as opened:
        known = store.success_by_batch(A_TASK, a_run(9).batch.as_dict(), whole=True)
    assert known is not None
    assert opened.receipts <= 2
    assert foreign.order < known[0].order
    store.save(a_run(RUNS))
    with opening(store) as opened:  # the writer has got to know it
        assert store.success_by_batch(A_TASK, a_run(9).batch.as_dict(), whole=True) is not None
    assert len(opened) <= 2


def test_damage_in_the_folder_does_not_make_a_success_a_matter_of_a_search(
    store: FileStore,
) -> None:
    (store.root / A_TASK / "damaged.json").write_bytes(b"{")
    with opening(store) as opened:
        assert store.success_by_batch(A_TASK, a_run(9).batch.as_dict(), whole=True) is not None
    assert opened.receipts == 2


def test_a_gate_that_polls_for_a_batch_without_a_success_opens_next_to_nothing(
    store: FileStore,
) -> None:
    running = a_receipt(
        run_id=new_run_id(at(99_999)),
        started_at=at(99_999),
        status=Status.RUNNING,
        variables={"day": "new"},
    )
    store.save(running)
    looks = []
    for _ in range(3):
        with opening(store) as opened:
            assert len(store.search(A_TASK, batch={"day": "new"})) == 1
            assert store.success_by_batch(A_TASK, {"day": "new"}, whole=False) is None
        looks.append(len(opened))
    assert looks[1:] == [3, 3]  # the running run twice, and the file of its variable
    assert looks[0] < 20  # a process of its own for each look reads the facts, and no receipt
    store.save(replace(running, status=Status.SUCCESS, ended_at=at(100_000)))
    with opening(store) as opened:
        assert len(store.search(A_TASK, Status.SUCCESS, batch={"day": "new"})) == 1
    assert len(opened) <= 2


def test_a_poll_by_the_question_itself_opens_at_most_five_files(store: FileStore) -> None:
    wanted = Requirement(A_TASK, {"day": "never"})
    for look in range(3):
        with opening(store) as opened:
            answer = check_upstream(wanted, store=store, now=at(60 * RUNS))
        assert answer.verdict is Verdict.FAIL
        assert look == 0 or len(opened) - opened_for_the_text(opened) <= 5


def opened_for_the_text(opened: Opened) -> int:
    """The newest runs of the task, which the refusal names."""
    return opened.receipts


def test_a_change_in_place_is_seen_though_the_run_had_ended(store: FileStore) -> None:
    changed = a_run_id(store, 9)
    path = store.root / A_TASK / f"{changed}.json"
    assert len(store.search(A_TASK, Status.SUCCESS, batch={"day": "d4"})) == 2
    receipt = replace(store.load(A_TASK, changed), status=Status.INTERRUPTED)
    path.write_bytes(encode(receipt))
    assert len(store.search(A_TASK, Status.SUCCESS, batch={"day": "d4"})) == 1
    path.write_bytes(b"{")
    assert len(store.search(A_TASK, batch={"day": "nobody"}).unreadable) == 1


def test_the_health_of_many_tasks_opens_no_receipt(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    tasks = [f"pay/monthly/t{number}" for number in range(30)]
    for task in tasks:
        store.save_many([a_run(number, task) for number in range(1, 7)])
    fresh = FileStore(tmp_path)
    with opening(fresh) as opened:
        assert job_health("pay/*/*", store=fresh).verdict is Verdict.PASS
    assert opened.receipts == 0
    assert len(opened) <= 2 * len(tasks)  # the ends of two files of hints


def test_a_query_holds_no_more_receipts_than_its_answer(store: FileStore) -> None:
    for number in range(60):
        big = replace(a_run(RUNS + number), error="x" * 200_000)
        store.save(replace(big, run_id=new_run_id(big.started_at)))
    fresh = FileStore(store.root)
    tracemalloc.start()
    assert len(fresh.search(A_TASK, batch={"day": "nobody"})) == 0
    without_hints(store)
    fresh = FileStore(store.root)
    assert len(fresh.search(A_TASK, Status.SUCCESS, limit=2)) == 2
    assert len(fresh.search(A_TASK, batch={"day": "nobody"})) == 0
    assert tracemalloc.get_traced_memory()[1] < 60 * 200_000 / 4
    tracemalloc.stop()


def test_the_date_of_a_foreign_file_says_which_need_not_be_opened(tmp_path: Path) -> None:
    store, folder = FileStore(tmp_path), tmp_path / A_TASK
    folder.mkdir(parents=True)
    for number in range(40):
        start = at(60 * number)
        receipt = a_receipt(run_id=f"own-{number}", started_at=start)
        path = folder / f"own-{number}.json"
        path.write_bytes(encode(receipt))
        os.utime(path, (start.timestamp() + 30, start.timestamp() + 30))
    with opening(store) as opened:
        found = store.list_runs(A_TASK, 5)
    assert [run.run_id for run in found] == [f"own-{number}" for number in range(39, 34, -1)]
    assert opened.receipts == 5
    with opening(FileStore(tmp_path)) as opened:
        assert len(FileStore(tmp_path).search(A_TASK, since=at(60 * 38))) == 2
    assert opened.receipts == 2
    assert timedelta(0) < found[0].started_at - found[1].started_at
