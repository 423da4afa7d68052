"""Runs outside Airflow: another process, that shares nothing with it but the store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUNS = str(Path(sys.executable).with_name("ubunye-runs"))


def start(task: str, store: str, *command: str, month: str = "2026-10") -> subprocess.Popen[bytes]:
    """Run a command as this task, from a shell; it may read what is written to it."""
    words = [RUNS, "exec", task, "--var", f"month={month}", "--store", store, "--", *command]
    return subprocess.Popen(words, stdin=subprocess.PIPE)


def run(task: str, store: str, *command: str, month: str = "2026-10") -> int:
    """The same, to its end: its exit code."""
    return start(task, store, *(command or ("true",)), month=month).wait(120)
