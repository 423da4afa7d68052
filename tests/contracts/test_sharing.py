"""Several workers share the tests, and nothing gets lost or runs twice."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sharing import unit_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("test", "unit"),
    [
        ("tests/core/test_a.py::test_b", "tests/core/test_a.py"),
        ("tests/core/test_a.py::test_b[x::y]", "tests/core/test_a.py"),
        ("tests/core/test_a.py::TestB::test_c[1]", "tests/core/test_a.py::TestB"),
        ("tests/spark/test_frames.py::test_b", "tests/spark"),
        ("tests/spark/delta/test_a.py::TestB::test_c", "tests/spark"),
        ("tests/airflow/test_a.py::test_b[tests/spark/]", "tests/airflow"),
        ("tests/airflow/standalone/test_a.py::test_b", "tests/airflow/standalone"),
        ("tests/dagster/live/test_a.py::test_b", "tests/dagster/live"),
        ("tests/spark/test_workers.py::test_b", "tests/spark/test_workers.py"),
        ("tests/spark/java25/test_vectors.py::test_b", "tests/spark/java25/test_vectors.py"),
    ],
)
def test_one_worker_runs_what_stands_on_the_same_things(test: str, unit: str) -> None:
    assert unit_of(test) == unit


def run(
    folder: Path, code: str, *, workers: int = 2
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """A run of these tests by workers: what it said, and each test's outcome."""
    (folder / "test_sample.py").write_text(code)
    report = folder / "report.json"
    options = f"-n {workers} -p tests.suite_report -p tests.sharing -p no:cacheprovider"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", *options.split(), f"--rootdir={folder}"),
            *("-c", os.devnull, f"--suite-report={report}", str(folder)),
        ],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    tests = json.loads(report.read_text())["tests"] if report.exists() else []
    return done, {each["test"].partition("::")[2]: each["outcome"] for each in tests}


@pytest.mark.slow
def test_each_test_runs_once_and_a_class_stays_with_one_worker(tmp_path: Path) -> None:
    written = tmp_path / "written"
    code = f"""
import os, pytest

def note(name):
    with open({str(written)!r}, "a") as file:
        file.write(f"{{name}} {{os.environ['PYTEST_XDIST_WORKER']}}\\n")

class TestA:
    @pytest.mark.parametrize("number", range(8))
    def test_it(self, number): note(f"A{{number}}")

class TestB:
    @pytest.mark.parametrize("number", range(8))
    def test_it(self, number): note(f"B{{number}}")
"""
    done, outcomes = run(tmp_path, code)
    assert done.returncode == 0, done.stdout
    assert len(outcomes) == 16
    lines = [line.split() for line in written.read_text().splitlines()]
    assert sorted(name for name, _ in lines) == [f"{c}{n}" for c in "AB" for n in range(8)]
    for name in "AB":
        assert len({worker for test, worker in lines if test.startswith(name)}) == 1


@pytest.mark.slow
def test_a_worker_that_dies_fails_the_run_and_the_report_names_the_test(tmp_path: Path) -> None:
    code = """
import os

class TestA:
    def test_dies(self): os._exit(3)

def test_other(): pass
"""
    done, outcomes = run(tmp_path, code)
    assert done.returncode == 1
    assert outcomes == {"TestA::test_dies": "error", "test_other": "passed"}


@pytest.mark.slow
def test_a_name_that_changes_from_run_to_run_is_refused(tmp_path: Path) -> None:
    code = """
import pytest

@pytest.mark.parametrize("thing", [object()], ids=repr)
def test_it(thing): pass
"""
    done, outcomes = run(tmp_path, code, workers=0)
    assert done.returncode != 0
    assert "give the parameter an id" in done.stdout + done.stderr
    assert outcomes == {}


def test_what_runs_a_benchmark_runs_beside_no_other_test() -> None:
    measuring = {
        file: text
        for file in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"^from benchmarks|\"-m\", \"benchmarks", text := file.read_text(), re.M)
    }
    assert len(measuring) >= 3
    assert [str(file) for file, text in measuring.items() if "pytest.mark.alone" not in text] == []
