"""A process that is asked to stop writes what became of its run before it goes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ubunye_core import Status, job_health, record_run
from ubunye_core.stores import FileStore

TASK = "pay/monthly/calc"
ROOT = Path(__file__).parents[3]


def start(what: str, store: FileStore, *options: str) -> subprocess.Popen[str]:
    """A process of program.py that has said it is ready."""
    process = subprocess.Popen(
        [sys.executable, *options, "-m", "tests.core.recording.program", what, str(store.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        process.kill()
        pytest.fail(process.communicate()[1])
    return process


def stop(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> int:
    """Send a signal, and tell how the process ended."""
    process.send_signal(number)
    process.communicate(timeout=20)
    return process.returncode


@pytest.mark.parametrize("what", ["work", "cleanup"])
def test_sigterm_is_recorded_as_interrupted_before_the_process_ends(
    folder: FileStore, what: str
) -> None:
    assert stop(start(what, folder)) == 143
    (receipt,) = folder.search()
    assert receipt.status is Status.INTERRUPTED
    assert receipt.error == "Terminated: the process was asked to stop (SIGTERM)"
    assert receipt.ended_at is not None


def test_ctrl_c_is_recorded_as_interrupted(folder: FileStore) -> None:
    stop(start("work", folder), signal.SIGINT)
    assert folder.search()[0].status is Status.INTERRUPTED


def test_every_run_inside_another_is_interrupted(folder: FileStore) -> None:
    assert stop(start("nested", folder)) == 143
    assert [receipt.status for receipt in folder.search()] == [Status.INTERRUPTED] * 2


def test_a_coroutine_is_interrupted_too(folder: FileStore) -> None:
    assert stop(start("coroutine", folder)) == 143
    assert folder.search()[0].status is Status.INTERRUPTED


def test_a_run_that_outlives_another_is_interrupted_too(folder: FileStore) -> None:
    assert stop(start("overlapping", folder)) == 143
    assert folder.search("pay/monthly/first")[0].status is Status.SUCCESS
    assert folder.search(TASK)[0].status is Status.INTERRUPTED


def test_a_run_may_end_in_another_thread_than_it_began_in(folder: FileStore) -> None:
    before = signal.getsignal(signal.SIGTERM)
    recording = record_run(TASK, store=folder)
    recording.__enter__()
    with ThreadPoolExecutor() as pool:
        pool.submit(recording.__exit__, None, None, None).result()
    assert folder.search()[0].status is Status.SUCCESS
    with record_run(TASK, store=folder):
        pass
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_end_that_is_being_written_is_written_whole_and_then_the_process_stops(
    folder: FileStore,
) -> None:
    process = start("while_ending", folder)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.2)  # two that come at once would be one
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate("go on\n", timeout=20)
    assert (process.returncode, out) == (143, "")
    assert folder.search()[0].status is Status.SUCCESS


def test_a_programs_own_handler_is_left_alone(folder: FileStore) -> None:
    assert stop(start("own_handler", folder)) == 0
    (receipt,) = folder.search()
    assert (receipt.status, receipt.error) == (
        Status.ERROR,
        "InterruptedError: by the program's own handler",
    )


def test_a_forked_child_that_is_stopped_does_not_end_the_run(folder: FileStore) -> None:
    process = start("children", folder)
    errors = process.communicate(timeout=30)[1]
    assert process.returncode == 0, errors
    assert [receipt.status for receipt in folder.search()] == [Status.SUCCESS]


def test_after_the_run_sigterm_is_what_it_was(folder: FileStore) -> None:
    assert stop(start("after", folder)) == -signal.SIGTERM
    assert folder.search()[0].status is Status.SUCCESS


def test_a_killed_run_says_running_and_health_finds_it_stuck(folder: FileStore) -> None:
    from datetime import timedelta

    assert stop(start("work", folder), signal.SIGKILL) == -signal.SIGKILL
    (receipt,) = folder.search()
    assert receipt.status is Status.RUNNING
    later = receipt.last_sign_of_life + timedelta(minutes=6)
    health = job_health(TASK, store=folder, now=later)
    assert list(health.tasks[0].stuck) == [receipt.run_id]


def test_warnings_as_errors_do_not_break_a_run(folder: FileStore) -> None:
    process = start("after", folder, "-W", "error")
    stop(process)
    assert folder.search()[0].status is Status.SUCCESS
