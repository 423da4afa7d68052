"""Tables on a terminal, wide and narrow: nothing is cut off, and no id is broken."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = str(Path(sys.executable).with_name("ubunye-runs"))
RUN = "01a229a0-6467-4f90-b2b7-9f8fe24487aa"
NOW = "2026-10-31T12:00:00Z"


def on_a_terminal(*words: str, columns: int, **environment: str) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **environment},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    process.wait(timeout=30)
    return shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 120, 200])
def test_nothing_is_cut_off_on_a_terminal_of_any_width(keep, columns):
    keep("success", hours_ago=20, task="pay/monthly/send")
    keep("running", hours_ago=9, run_id=RUN, task="pay/monthly/send")
    shown = on_a_terminal("health", "pay/monthly/send", "--now", NOW, columns=columns)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert RUN in plain
    for word in ("pay/monthly/send", "FAIL", "running", "2026-10-30T16:05:00Z", "9h", "silent"):
        assert word in plain
    assert "…" not in plain
    listed = on_a_terminal("list", "pay/monthly/send", columns=columns)
    assert RUN in re.sub(r"\x1b\[[0-9;]*m", "", listed)


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_row_of_a_list_is_wider_than_the_screen(keep, columns):
    keep("success", run_id=RUN, variables={"dt": "2026-10-30"})
    shown = on_a_terminal("list", "pay/monthly/calc", columns=columns)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert max(map(len, lines)) <= columns
    for word in (RUN, "pay/monthly/calc", "success", "2026-10-31T11:00:00Z", "5m", "dt=2026-10-30"):
        assert any(word in line for line in lines)


@pytest.mark.slow
def test_colours_are_left_out_where_the_reader_says_so(keep):
    keep("success")
    for columns in (80, 200):
        words = ("health", "pay/monthly/calc", "--now", NOW)
        assert "\x1b[32m" in on_a_terminal(*words, columns=columns)
        assert "\x1b[32m" not in on_a_terminal(*words, columns=columns, NO_COLOR="1")


def test_a_wait_on_a_terminal_shows_that_it_goes_on(keep):
    keep("running")
    words = ("wait-for", "pay/monthly/calc", "--var", "month=2026-10", "--poll", "0.3s")
    shown = on_a_terminal(*words, "--wait", "1s", columns=100)
    assert "looking again in" in shown
    assert "not yet" in shown


def test_without_a_terminal_a_table_is_plain_text(shell, keep):
    keep("success")
    answer = shell("health", "pay/monthly/calc", "--now", NOW)
    assert answer.out.isascii()
    assert "\x1b" not in answer.out
    assert answer.out.splitlines()[0].startswith("task")
