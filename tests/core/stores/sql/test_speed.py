"""The benchmark of the SQL stores at a fiftieth: every question beside a ``SELECT 1``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sql.timing import MOST, in_the_middle

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.timeout(1200)]

ROOT = Path(__file__).parents[4]
SMALL = [sys.executable, "-m", "benchmarks.sql", "--receipts", "20000", "--tasks", "200", "--json"]


@pytest.fixture(scope="module")
def measured() -> dict[str, list[dict[str, Any]]]:
    """The figures of each question, by the kind of the database."""
    done = subprocess.run(SMALL, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    figures: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return figures


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_question_takes_at_most_ten_times_a_select_1(
    measured: dict[str, list[dict[str, Any]]], kind: str
) -> None:
    asked = {it["question"]: it["ratio"] for it in measured[kind] if it["ratio"] is not None}
    assert len(asked) == 14
    missed = [f"{name}: {ratio:.1f}x" for name, ratio in asked.items() if ratio > MOST]
    assert not missed, "\n".join(missed)


def test_health_of_a_thousand_tasks_takes_at_most_50_ms_of_cpu_time(
    measured: dict[str, list[dict[str, Any]]],
) -> None:
    (health,) = (it for it in measured["postgresql"] if it["question"].startswith("health"))
    assert (health["cpu"] is None) is not Path("/proc/self/schedstat").exists()
    assert health["cpu"] is None or health["cpu"] <= 10  # of 200 tasks


def test_one_good_round_does_not_hide_two_bad_ones() -> None:
    assert in_the_middle([(1, 3), (1, 12), (2, 22)]) == (2, 22)
