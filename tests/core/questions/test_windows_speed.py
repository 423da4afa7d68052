"""The benchmark of windows at a tenth, in ratios of CPU time: other work does not change them.

The bars of five years are 6 s for a folder without hints, 1 s where a store keeps summaries and
0.5 s in memory and SQL. To read every receipt whole takes as long as the first bar: 6.5 s of CPU.
"""

from __future__ import annotations

import json
import subprocess
import sys
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


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, float]]:
    """The figures of each question; the benchmark itself fails where an answer is wrong."""
    done = subprocess.run(QUICK, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    figures: dict[str, dict[str, float]] = json.loads(done.stdout)
    return figures


@pytest.mark.parametrize("kind", ["memory", "SQLite", "files"])
def test_what_a_store_knows_spares_reading_receipts(measured, kind: str) -> None:
    assert measured[kind]["cpu"] * 3 < measured["files, names alone"]["cpu"], measured


@pytest.mark.parametrize("kind", ["plan, SQLite", "plan, files"])
def test_a_plan_over_many_tasks_costs_no_more_than_the_windows_of_one(measured, kind) -> None:
    assert measured[kind]["cpu"] < measured["files, names alone"]["cpu"], measured


@pytest.mark.parametrize("kind", TIMES_QUICKER_THAN_READING)
def test_the_states_of_windows_cost_less_than_to_read_every_receipt(measured, kind: str) -> None:
    times = TIMES_QUICKER_THAN_READING[kind]
    assert measured[kind]["cpu"] * times < measured["every receipt"]["cpu"], measured
