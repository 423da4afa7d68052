"""The benchmark of the file store at a tenth: what it opens, holds in memory and takes in time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.timeout(1200)]

ROOT = Path(__file__).parents[3]
QUICK = [sys.executable, "-m", "benchmarks.stores", "--quick", "--rounds", "5", "--json"]

NOT_REACHED = (
    ("health of a pattern", "hints"),  # to learn which tasks there are takes half of it
    ("health of", "foreign write"),  # the first call looks at what was written
    ("success of a batch", "foreign write"),  # the folder is listed then: see the benchmark
)
"""Where a ratio is not kept yet."""


@pytest.fixture(scope="module")
def measured(engine_bin: Path) -> list[dict[str, Any]]:
    """The figures of each question, beside ubunye-engine's."""
    assert engine_bin.exists()
    done = subprocess.run(QUICK, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    figures: list[dict[str, Any]] = json.loads(done.stdout)
    return figures


def test_every_state_of_the_folder_was_measured(measured: list[dict[str, Any]]) -> None:
    states = {each["case"]["state"] for each in measured}
    assert states == {"no hints", "hints", "foreign write"}
    assert all(each["peer"] for each in measured if each["case"]["first"])


@pytest.mark.parametrize("kind", ["answer", "opens", "memory", "growth", "ratio"])
def test_a_question_keeps_its_bars(measured: list[dict[str, Any]], kind: str) -> None:
    missed = [
        f"{each['case']['name']} ({each['case']['state']}): {bar['bar']}; CPU ms "
        f"{each['ours']['cpu']}, counts {each['counts']}, growth {each['growth']}"
        for each in measured
        for bar in each["missed"]
        if bar["kind"] == kind and not (kind == "ratio" and _is_known(each["case"]))
    ]
    assert not missed, "\n".join(missed)


def _is_known(case: dict[str, Any]) -> bool:
    return any(
        case["name"].startswith(name) and case["state"] == state for name, state in NOT_REACHED
    )
