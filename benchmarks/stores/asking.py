"""Ask a question in a fresh process, and count what it costs the file system."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WORKER = str(Path(__file__).with_name("worker.py"))
PYTHON = {"ours": sys.executable, "peer": str(ROOT / ".venv-engine/bin/python")}
HAS_STRACE = shutil.which("strace") is not None
MARK = "/stores-benchmark-mark"
CALLS = "open,openat,openat2,stat,lstat,newfstatat,statx,access,faccessat,faccessat2"


@dataclass(frozen=True)
class Counts:
    """What one call asked of the file system below the store's folder."""

    opens: int
    lists: int
    stats: int | None = None
    """Looks at a path; None where they could not be counted."""

    def __str__(self) -> str:
        stats = "?" if self.stats is None else f"{self.stats:,}"
        return f"{self.opens:,} / {stats} / {self.lists:,}"


@dataclass(frozen=True)
class Timed:
    """One question's figures: milliseconds of each call, over the rounds."""

    rounds: list[list[float]]
    cpu: list[list[float]]
    """The same in milliseconds of CPU, which other work on the machine hardly changes."""
    answers: list[Any]
    """Of the last round, by call."""
    peak: float
    """The most megabytes of a process, over all its calls."""

    def median(self, call: int) -> float:
        return statistics.median(times[call] for times in self.rounds)

    def cpu_median(self, call: int) -> float:
        return statistics.median(times[call] for times in self.cpu)

    def spread(self, call: int) -> tuple[float, float]:
        times = [times[call] for times in self.rounds]
        return min(times), max(times)


def command(side: str) -> list[str]:
    """What starts a fresh process of a side."""
    return [PYTHON[side], WORKER]


def once(request: dict[str, Any], *, before: list[str] | None = None) -> list[dict[str, Any]]:
    """The calls of one fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*(before or []), *command(request["side"])],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode:
        raise RuntimeError(f"{request['side']} could not answer: {done.stderr[-2000:]}")
    told: list[dict[str, Any]] = json.loads(done.stdout)
    return told


def timed(
    request: dict[str, Any], rounds: int, *, prepare: Callable[[], None] | None = None
) -> Timed:
    """Ask in so many fresh processes. ``prepare`` runs before each."""
    times, cpu, peak, answers = [], [], 0.0, []
    for _ in range(rounds):
        if prepare:
            prepare()
        calls = once(request)
        times.append([call["ms"] for call in calls])
        cpu.append([call["cpu"] for call in calls])
        answers = [call["answer"] for call in calls]
        peak = max(peak, *(call["peak"] for call in calls))
    return Timed(times, cpu, answers, peak)


def counted(request: dict[str, Any]) -> list[Counts]:
    """The same in one more process, whose calls to the system are counted and not timed."""
    if not HAS_STRACE:
        calls = once(request | {"hook": True})
        return [Counts(call["opens"], call["lists"]) for call in calls]
    with tempfile.TemporaryDirectory() as place:
        trace = Path(place, "trace")
        strace = [
            "strace",
            "-f",
            "--seccomp-bpf",
            "-y",
            "-qq",
            "-e",
            f"trace={CALLS}",
            "-o",
            str(trace),
        ]
        once(request | {"traced": True}, before=strace)
        return _read(trace, request["root"])


def _read(trace: Path, root: str) -> list[Counts]:
    """The counts of each call in a trace.

    A folder that is opened counts as listed; a look at an open file does not count, for it comes
    with every open.
    """
    found: list[Counts] = []
    opens = lists = stats = 0
    with trace.open(errors="replace") as lines:
        for line in lines:
            if MARK in line:
                if f"{MARK}/begin" in line:
                    opens = lists = stats = 0
                elif f"{MARK}/end" in line:
                    found.append(Counts(opens, lists, stats))
            elif root in line and "resumed>" not in line:
                call = re.match(r"\d+\s+(\w+)\(", line)
                if call is None:
                    continue
                if call[1].startswith("open"):
                    is_folder = "O_DIRECTORY" in line
                    lists, opens = lists + is_folder, opens + (not is_folder)
                elif ', "",' not in line:
                    stats += 1
    return found
