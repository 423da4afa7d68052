"""The benchmark of windows at a tenth, in ratios of CPU time: other work does not change them.

The bars of five years are 6 s for a folder without hints, 1 s where a store keeps summaries and
0.5 s in memory and SQL. To read every receipt whole takes as long as the first bar: 6.5 s of CPU.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
QUICK = [
    sys.executable, "benchmarks/windows.py", "--years", "0.5", "--tasks", "50", "--rounds", "3",
    "--json",
]  # fmt: skip
TIMES_QUICKER_THAN_READING = {"files, names alone": 1, "files": 6, "SQLite": 5, "memory": 8}
"""A little less than was measured, and more than before successes were told in brief."""


TURNS = 3
"""The pace of a machine that others share differs by half from one second to the next: a bar is
missed where each of so many measurements says so."""

Figures = dict[str, dict[str, float]]


@cache
def measured(turn: int) -> Figures:
    """The figures of each question; the benchmark itself fails where an answer is wrong."""
    done = subprocess.run(QUICK, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{turn}: {done.stderr[-2000:]}"
    figures: Figures = json.loads(done.stdout)
    return figures


def is_kept(less: Callable[[Figures], float], than: Callable[[Figures], float]) -> bool:
    return any(less(measured(turn)) < than(measured(turn)) for turn in range(TURNS))


@pytest.mark.parametrize("kind", ["memory", "SQLite", "files"])
def test_what_a_store_knows_spares_reading_receipts(kind: str) -> None:
    assert is_kept(lambda it: it[kind]["cpu"] * 3, lambda it: it["files, names alone"]["cpu"])


@pytest.mark.parametrize("kind", ["plan, SQLite", "plan, files"])
def test_a_plan_over_many_tasks_costs_no_more_than_the_windows_of_one(kind: str) -> None:
    assert is_kept(lambda it: it[kind]["cpu"], lambda it: it["files, names alone"]["cpu"])


@pytest.mark.parametrize("kind", TIMES_QUICKER_THAN_READING)
def test_the_states_of_windows_cost_less_than_to_read_every_receipt(kind: str) -> None:
    times = TIMES_QUICKER_THAN_READING[kind]
    assert is_kept(lambda it: it[kind]["cpu"] * times, lambda it: it["every receipt"]["cpu"])
