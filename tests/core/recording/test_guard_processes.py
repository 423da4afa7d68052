"""Guarded runs of several processes: one at a time, whatever becomes of the one that runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from ubunye_core import Recording, Status, open_store, record_run
from ubunye_core.stores import ReceiptStore
from ubunye_core.testing.children import Child, all_at_once

CALC = "pay/monthly/calc"
OCTOBER = {"month": "2026-10"}
PROGRAM = Path(__file__).with_name("guarded.py")
SHORTLY = timedelta(seconds=0.05)
PROCESSES, ROUNDS = 8, 12


class Guarded(Child):
    """A process that runs ``guarded.py``."""

    def __init__(self, url: str) -> None:
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(PROGRAM), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": paths},
        )

    def wait_until_stopped(self) -> None:
        """Return when SIGSTOP has stopped it."""
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)


@contextmanager
def processes(url: str, count: int) -> Iterator[list[Guarded]]:
    with ExitStack() as stack:
        every = []
        for _ in range(count):
            every.append(Guarded(url))
            stack.callback(every[-1].kill)
        for each in every:
            assert each.answer() == "ready"
        yield every


@pytest.fixture(params=["files", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    (tmp_path / "receipts").mkdir()
    urls = {"files": str(tmp_path / "receipts"), "sqlite": f"sqlite:///{tmp_path}/receipts.db"}
    return urls[request.param]


@pytest.fixture
def store(url: str) -> ReceiptStore:
    return open_store(url)


def waiting(store: ReceiptStore) -> Recording:
    return record_run(
        CALC, variables=OCTOBER, store=store, guard=True, if_held="wait", wait="60s", poll=SHORTLY
    )


@pytest.mark.slow
@pytest.mark.parametrize("while_the_other", ["runs", "has finished"])
def test_a_paused_holder_that_wakes_cannot_publish(
    url: str, store: ReceiptStore, while_the_other: str
) -> None:
    with processes(url, 1) as (old,), ExitStack() as stack:
        old_run = old.ask("hold", variables=OCTOBER, lease="1s", stops=True)
        old.wait_until_stopped()
        new_run = stack.enter_context(waiting(store)).run_id
        if while_the_other == "has finished":
            stack.close()
        old.process.send_signal(signal.SIGCONT)
        assert old.ask("go on") == "lost"
    lost = store.load(CALC, old_run)
    assert (lost.status, lost.ended_by) == (Status.INTERRUPTED, "takeover")
    assert [run.run_id for run in store.search(CALC, Status.SUCCESS)] == [new_run]


def test_a_paused_holder_that_wakes_in_time_publishes(url: str, store: ReceiptStore) -> None:
    with processes(url, 1) as (only,):
        run_id = only.ask("hold", variables=OCTOBER, lease="3s", stops=True)
        only.wait_until_stopped()
        only.process.send_signal(signal.SIGCONT)
        assert only.ask("go on") == "success"
    assert [run.run_id for run in store.search(CALC, Status.SUCCESS)] == [run_id]


def test_the_batch_of_a_killed_process_is_free_after_its_lease(
    url: str, store: ReceiptStore
) -> None:
    with processes(url, 1) as (holder,):
        began = time.monotonic()
        killed = holder.ask("hold", variables=OCTOBER, lease="2s", stops=False)
        holder.kill()
    assert store.load(CALC, killed).status is Status.RUNNING  # nobody was left to say otherwise
    with waiting(store) as run:
        assert time.monotonic() - began >= 2 - 0.02
    lost = store.load(CALC, killed)
    assert (lost.status, lost.ended_by) == (Status.INTERRUPTED, "takeover")
    assert [each.run_id for each in store.search(CALC, Status.SUCCESS)] == [run.run_id]


@pytest.mark.slow
def test_of_many_processes_one_runs_each_time(url: str, store: ReceiptStore) -> None:
    with processes(url, PROCESSES) as every:
        for round_ in range(ROUNDS):
            variables = {"round": str(round_)}
            ran = all_at_once(list(every), "guarded", [{"variables": variables}] * PROCESSES)
            assert ran.count(True) == 1
            found = store.search(CALC, batch=variables)
            outcomes = sorted(str(run.outcome or run.status) for run in found)
            assert outcomes == ["refused"] * (PROCESSES - 1) + ["success"]


@pytest.mark.slow
def test_the_same_processes_meet_where_they_only_look(url: str) -> None:
    """The control: these processes do collide, so that to be let in one by one says something."""
    with record_run("pay/monthly/people", store=url):
        pass  # in a database without tables a look is refused
    with processes(url, PROCESSES) as every:
        for round_ in range(ROUNDS):
            given = [{"variables": {"round": f"control-{round_}"}}] * PROCESSES
            if all_at_once(list(every), "look_and_run", given).count(True) > 1:
                return
    raise AssertionError("no two processes met")
