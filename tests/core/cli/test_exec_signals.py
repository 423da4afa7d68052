"""``exec`` and signals: they are the command's, and its receipt says how it ended."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ubunye_core import Status

SEND, CALC = "pay/monthly/send", "pay/monthly/calc"
EXEC = ("exec", SEND, "--var", "month=2026-10")
TRAPS = "trap 'echo caught; exit 9' TERM INT HUP; echo ready; while :; do sleep 0.05; done"
STUBBORN = "trap '' TERM; echo ready; while :; do sleep 0.05; done"


def only(store):
    (receipt,) = store.list_runs(SEND)
    return receipt


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_command_and_its_run_was_interrupted(begin, store, number):
    process = begin(*EXEC, "--", "sh", "-c", TRAPS)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (9, "caught\n")
    assert "Traceback" not in err
    receipt = only(store)
    assert receipt.status is Status.INTERRUPTED
    assert number.name in receipt.error


def test_a_command_that_dies_of_the_signal_ends_with_128_and_its_number(begin, store):
    process = begin(*EXEC, "--", "sh", "-c", "echo ready; exec sleep 60")
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 143
    assert only(store).status is Status.INTERRUPTED


def test_a_command_that_was_stopped_and_says_0_has_not_succeeded(begin, store):
    script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    process = begin(*EXEC, "--", "sh", "-c", script)
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert only(store).status is Status.INTERRUPTED


@pytest.mark.slow
def test_the_receipt_says_interrupted_within_ten_seconds_even_if_the_command_ignores_it(
    begin, store
):
    process = begin(*EXEC, "--", "sh", "-c", STUBBORN)
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    until = time.monotonic() + 9
    while only(store).status is Status.RUNNING and time.monotonic() < until:
        time.sleep(0.1)
    receipt = only(store)
    assert receipt.status is Status.INTERRUPTED
    assert "still running" in receipt.error
    assert process.poll() is None, "it waits for its command, as it would for any other end"
    os.killpg(process.pid, signal.SIGKILL)


def test_a_stop_while_it_waits_at_its_gate_is_on_record(begin, store, keep):
    keep("running")
    words = ("--require", CALC, "--wait", "50s", "--poll", "0.1s", "--", "echo", "sent")
    process = begin(*EXEC, *words)
    process.stderr.readline()
    process.stderr.readline()
    process.terminate()
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (143, "")
    assert only(store).status is Status.INTERRUPTED


def test_a_killed_recorder_leaves_running_and_health_can_tell(begin, shell, store):
    process = begin(*EXEC, "--", "sh", "-c", "echo ready; exec sleep 60")
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    assert only(store).status is Status.RUNNING
    late = "2099-01-01T00:00:00Z"
    assert shell("health", SEND, "--now", late).code == 1


def test_a_signal_that_was_ignored_from_the_start_stays_ignored(store, folder):
    program = str(Path(sys.executable).with_name("ubunye-runs"))
    words = f"trap '' HUP; exec {program} {' '.join(EXEC)} -- sh -c 'kill -HUP $PPID; echo on'"
    done = subprocess.run(
        ["sh", "-c", words], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (0, "on\n")
    assert only(store).status is Status.SUCCESS


def test_a_failure_is_seen_even_where_the_ends_of_children_are_ignored(store, folder):
    """Where SIGCHLD is ignored, the system would report every end as a success."""
    program = str(Path(sys.executable).with_name("ubunye-runs"))
    ignored = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
    start = ignored + "os.execv(sys.argv[1], sys.argv[1:])"
    words = [sys.executable, "-c", start, program, *EXEC, "--", "sh", "-c", "exit 6"]
    assert subprocess.run(words, timeout=30, check=False).returncode == 6
    assert only(store).status is Status.ERROR


def test_ctrl_c_in_a_terminal_reaches_the_command_once(store, folder):
    script = folder / "count.py"
    script.write_text(
        "import signal, time\n"
        "count = 0\n"
        "def caught(*_):\n"
        "    global count\n"
        "    count += 1\n"
        "signal.signal(signal.SIGINT, caught)\n"
        "print('ready', flush=True)\n"
        "until = time.monotonic() + 30\n"
        "while not count and time.monotonic() < until:\n"
        "    time.sleep(0.05)\n"
        "time.sleep(0.5)\n"
        "print('count', count, flush=True)\n"
    )
    program = str(Path(sys.executable).with_name("ubunye-runs"))
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(program, [program, *EXEC, "--", sys.executable, str(script)])
    shown = b""
    while b"ready" not in shown:
        shown += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    while not re.search(rb"count \d", shown):
        shown += os.read(terminal, 1024)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert b"count 1" in shown
    assert only(store).status is Status.INTERRUPTED


def test_whether_a_terminal_sends_ctrl_c_to_us_is_told_by_its_process_group(folder):
    """Two signals at almost the same instant may count as one, so the rule is tested by itself."""
    script = "from ubunye_core.cli.child import _terminal_sends_to_us as told; print(told())"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", script])
    shown = os.read(terminal, 1024)
    os.waitpid(pid, 0)
    os.close(terminal)
    assert shown.split() == [b"True"]
    without = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, start_new_session=True, check=True
    )
    assert without.stdout.split() == [b"False"]
