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


AGAIN = 2
"""The pace of a machine that others share differs by half from one minute to the next, and the two
sides are measured minutes apart: a ratio is missed where so many more measurements say so too."""


@pytest.fixture(scope="module")
def measured(engine_bin: Path) -> list[dict[str, Any]]:
    """The figures of each question, beside ubunye-engine's."""
    assert engine_bin.exists()
    return figures_of()


def figures_of(*only: str) -> list[dict[str, Any]]:
    done = subprocess.run([*QUICK, *only], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    figures: list[dict[str, Any]] = json.loads(done.stdout)
    return figures


def test_every_state_of_the_folder_was_measured(measured: list[dict[str, Any]]) -> None:
    states = {each["case"]["state"] for each in measured}
    assert states == {"no hints", "hints", "foreign write"}
    assert all(each["peer"] for each in measured if each["case"]["first"])


@pytest.mark.parametrize("kind", ["answer", "opens", "memory", "growth", "ratio"])
def test_a_question_keeps_its_bars(measured: list[dict[str, Any]], kind: str) -> None:
    missed = missed_bars(measured, kind)
    for _ in range(AGAIN if kind == "ratio" else 0):
        again: dict[tuple[str, str], str] = {}
        for name in sorted({name for name, _ in missed}):
            again |= missed_bars(figures_of("--only", name), kind)
        missed = {case: text for case, text in again.items() if case in missed}
    assert not missed, "\n".join(missed.values())


def missed_bars(figures: list[dict[str, Any]], kind: str) -> dict[tuple[str, str], str]:
    """The bars of a kind that are missed, by the question and the state of the folder."""
    return {
        (each["case"]["name"], each["case"]["state"]): (
            f"{each['case']['name']} ({each['case']['state']}): {bar['bar']}; CPU ms "
            f"{each['ours']['cpu']}, counts {each['counts']}, growth {each['growth']}"
        )
        for each in figures
        for bar in each["missed"]
        if bar["kind"] == kind and not (kind == "ratio" and _is_known(each["case"]))
    }


def _is_known(case: dict[str, Any]) -> bool:
    return any(
        case["name"].startswith(name) and case["state"] == state for name, state in NOT_REACHED
    )
