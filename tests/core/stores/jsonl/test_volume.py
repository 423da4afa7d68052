"""Many events: memory is bounded, and nothing is read twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ubunye_core import Receipt, Status
from ubunye_core.receipt import Orchestrator
from ubunye_core.runids import new_run_id
from ubunye_core.stores.jsonl import JsonlStore
from ubunye_core.testing import A_TASK, a_receipt, a_step, at

ASKS = """
import re, sys
from pathlib import Path
from ubunye_core.receipt import Orchestrator, Status
from ubunye_core.stores import open_store
store, task = open_store(sys.argv[1]), sys.argv[2]
newest = store.list_runs(task, 50)
assert len(newest) == 50
assert store.success_by_batch(task, {"day": "7"}, whole=True)
assert store.success_by_batch(task, {"day": "never"}, whole=True) is None
assert len(store.search(task, since=newest[-1].started_at)) == 50
assert len(store.search(task, Status.SUCCESS, batch={"day": "7"})) == 1
assert len(store.of_attempt(task, newest[0].orchestrator)) == 1
assert store.settled([task])
assert sum(1 for _ in store.scan(task)) == int(sys.argv[3])
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def runs(count: int, *, steps: int = 4) -> Iterator[Receipt]:
    inputs = tuple(a_step(name=f"part-{number}") for number in range(steps))
    for number in range(count):
        started_at = at(10 * number)
        yield a_receipt(
            run_id=new_run_id(started_at),
            started_at=started_at,
            variables={"day": str(number)},
            inputs=inputs,
            orchestrator=Orchestrator(name="airflow", ids={"run_id": str(number)}, attempt=1),
        )


def peak_kilobytes(store: JsonlStore, count: int) -> int:
    done = subprocess.run(
        [sys.executable, "-c", ASKS, store.url, A_TASK, str(count)],
        capture_output=True, text=True, timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.slow
def test_a_hundred_thousand_runs_would_take_less_than_150_megabytes(tmp_path: Path) -> None:
    peaks = []
    for count in (500, 5500):
        store = JsonlStore(tmp_path / f"{count}.jsonl")
        store.save_many(runs(count))
        peaks.append(peak_kilobytes(store, count))
    few, many = peaks
    assert few + 20 * (many - few) < 150_000, peaks


def bytes_read() -> int:
    return int(Path("/proc/self/io").read_text().split()[1])


def test_a_later_question_reads_what_was_added_and_what_it_gives_out(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "ledger.jsonl")
    store.save_many(runs(300))
    (newest,) = store.list_runs(A_TASK, 1)
    assert store.path.stat().st_size > 400_000
    for ask in (
        lambda: store.success_by_batch(A_TASK, {"day": "never"}, whole=True),
        lambda: store.search(A_TASK, batch={"day": "never"}),
        lambda: store.list_runs(A_TASK, 1),
        lambda: store.load(A_TASK, newest.run_id),
    ):
        before = bytes_read()
        ask()
        assert bytes_read() - before < 5000
    other = JsonlStore(store.path)
    other.save(replace(newest, run_id=new_run_id(at(9999)), started_at=at(9999)))
    before = bytes_read()
    assert store.list_runs(A_TASK, 1)[0].started_at == at(9999)
    assert bytes_read() - before < 10_000


def test_a_store_shows_a_run_as_it_is_now(tmp_path: Path) -> None:
    store, other = (JsonlStore(tmp_path / "ledger.jsonl") for _ in range(2))
    store.save(a_receipt(status=Status.RUNNING))
    for minutes in range(3):
        other.save(a_receipt(status=Status.RUNNING, heartbeat_at=at(minutes)))
        assert store.load(A_TASK, "run-1").heartbeat_at == at(minutes)
        assert store.list_runs(A_TASK)[0].heartbeat_at == at(minutes)
