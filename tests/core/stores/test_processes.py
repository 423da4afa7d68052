"""Several processes and one folder: real processes, real kills."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.core.stores.writer import big, is_whole
from ubunye_core import BadReceiptError, ReceiptNotFoundError, Status
from ubunye_core.codec import decode, encode
from ubunye_core.stores import FileStore
from ubunye_core.testing import A_TASK, a_receipt, a_step, at

ROOT = Path(__file__).parents[3]
KILLS = 25


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "receipts")


@contextmanager
def started(what: str, store: FileStore, *args: str) -> Iterator[subprocess.Popen[str]]:
    """A process of writer.py that has said it is ready; killed at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.core.stores.writer", what, str(store.root), *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_a_big_receipt_is_big_enough_to_tear() -> None:
    assert len(encode(big(0))) > 500 * 1024


@pytest.mark.slow
def test_a_writer_killed_at_any_point_leaves_the_old_receipt_or_the_new_one(
    store: FileStore,
) -> None:
    for kill in range(KILLS):
        with started("rewrite", store) as writer:
            time.sleep(0.002 * kill)
            writer.kill()
        found = store.search(A_TASK)
        assert (len(found), found.unreadable) == (1, ())
        assert is_whole(found[0])
        assert [path.name for path in (store.root / A_TASK).iterdir() if path.name[0] != "."] == [
            "big.json"
        ]
    store.save(a_receipt(run_id="big", status=Status.INTERRUPTED))
    assert store.load(A_TASK, "big").status is Status.INTERRUPTED


@pytest.mark.slow
def test_the_same_kills_do_damage_where_a_file_is_written_in_place(store: FileStore) -> None:
    damaged = 0
    for kill in range(KILLS):
        with started("rewrite_in_place", FileStore(store.root / str(kill))) as writer:
            time.sleep(0.002 * kill)
            writer.kill()
        path = store.root / str(kill) / A_TASK / "big.json"
        try:
            damaged += not is_whole(decode(path.read_bytes(), where="here"))
        except BadReceiptError:
            damaged += 1
    assert damaged > 0


def look_for(
    seconds: float, store: FileStore, *, enough: Callable[[int, int], bool]
) -> tuple[int, int]:
    """Look for so long, then on until enough was seen, which takes a busy machine longer.

    How many looks there were, and how many of them saw less than a whole receipt. After a minute it
    is never enough.
    """
    looks = torn = 0
    began = time.monotonic()
    while (took := time.monotonic() - began) < seconds or (took < 60 and not enough(looks, torn)):
        looks += 1
        try:
            torn += not is_whole(store.load(A_TASK, "big"))
        except (BadReceiptError, ReceiptNotFoundError):
            torn += 1
    return looks, torn


@pytest.mark.slow
def test_a_reader_never_sees_half_a_receipt(store: FileStore) -> None:
    with started("rewrite", store):
        looks, torn = look_for(3, store, enough=lambda looks, _: looks > 20)
    assert looks > 20
    assert torn == 0


@pytest.mark.slow
def test_a_reader_does_see_half_a_receipt_that_is_written_in_place(store: FileStore) -> None:
    with started("rewrite_in_place", store):
        _, torn = look_for(0, store, enough=lambda _, torn: torn > 0)
    assert torn > 0


def test_a_reader_in_another_process_sees_the_end_as_soon_as_it_is_written(
    store: FileStore,
) -> None:
    store.save(a_receipt(status=Status.RUNNING))
    reader = FileStore(store.root)
    assert reader.load(A_TASK, "run-1").status is Status.RUNNING
    assert len(reader.search(A_TASK, Status.SUCCESS)) == 0
    with started("end", store, "success") as writer:
        assert reader.load(A_TASK, "run-1").status is Status.RUNNING
        go(writer)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "taken\n"
        assert reader.load(A_TASK, "run-1").status is Status.SUCCESS
        assert reader.list_runs(A_TASK)[0].status is Status.SUCCESS
        assert len(reader.search(A_TASK, Status.SUCCESS)) == 1


def test_two_processes_race_for_the_end_and_one_wins(store: FileStore) -> None:
    store.save(a_receipt(status=Status.RUNNING))
    with started("end", store, "success") as one, started("end", store, "error") as other:
        go(one)
        go(other)
        said = {process.pid: process.communicate()[0].strip() for process in (one, other)}
    assert sorted(said.values()) == ["refused", "taken"]
    assert said[store.load(A_TASK, "run-1").pid or 0] == "taken"


def test_a_second_recorder_in_another_process_erases_nothing(store: FileStore) -> None:
    ended = a_receipt(inputs=(a_step(),), outputs=(a_step(name="adults", direction="output"),))
    store.save(ended)
    with started("end", store, "success") as listener:
        assert listener.communicate("go\n")[0] == "taken\n"
    assert store.load(A_TASK, "run-1") == ended


def test_a_late_heartbeat_does_not_revive_a_run_that_another_process_ended(
    store: FileStore,
) -> None:
    running = a_receipt(status=Status.RUNNING)
    store.save(running)
    with started("end", store, "interrupted") as other:
        other.communicate("go\n")
    store.save(a_receipt(status=Status.RUNNING, heartbeat_at=at(99)))
    assert store.load(A_TASK, "run-1").status is Status.INTERRUPTED


@pytest.mark.slow
def test_sixteen_processes_that_save_runs_of_one_task_lose_nothing(store: FileStore) -> None:
    from contextlib import ExitStack

    with ExitStack() as stack:
        writers = [stack.enter_context(started("save_several", store, str(n))) for n in range(16)]
        for writer in writers:
            go(writer)
        assert [writer.wait(60) for writer in writers] == [0] * 16
    found = store.search(A_TASK)
    assert (len(found), found.unreadable) == (160, ())
    assert {receipt.status for receipt in found} == {Status.SUCCESS}


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_three_hundred_kills_leave_no_half_receipt(store: FileStore) -> None:
    for kill in range(300):
        with started("rewrite", store) as writer:
            time.sleep(0.0007 * (kill % 100))
            writer.kill()
        assert is_whole(store.load(A_TASK, "big"))
        assert store.search(A_TASK).unreadable == ()
