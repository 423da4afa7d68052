"""Run a smoke suite in the environment of the oldest versions, and what became of each test."""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-oldest" / "bin" / "python"
AT_MOST = 400
"""Seconds; the longer one takes 25 of a core."""
Failures = dict[str, list[str]]
"""Why each test failed; an empty list is a pass."""


def names_of_tests(suite: Path) -> list[str]:
    """The tests of a smoke suite, without importing it."""
    tree = ast.parse(suite.read_text(encoding="utf-8"))
    functions = (each for each in tree.body if isinstance(each, ast.FunctionDef))
    return [each.name for each in functions if each.name.startswith("test_")]


def run_inside(suite: Path, folder: Path) -> Failures:
    """Run a smoke suite there once. What cannot be run fails here."""
    if not PYTHON.exists():
        pytest.fail("the oldest Airflow and Dagster are not installed: run `make oldest` first")
    report = folder / "report.xml"
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    done = subprocess.run(
        [*command, str(suite.relative_to(ROOT))],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    if done.returncode not in (0, 1):  # 1 is pytest's word for tests that failed
        pytest.fail(f"{suite.name} did not run:\n{done.stdout}\n{done.stderr}")
    found: Failures = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = str(case.get("name"))
        bad = [each for each in case if each.tag in ("failure", "error", "skipped")]
        found.setdefault(name.partition("[")[0], []).extend(
            f"{name}: {each.get('message')}\n{each.text}" for each in bad
        )
    return found
