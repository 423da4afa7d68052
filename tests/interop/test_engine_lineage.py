"""The published ubunye-engine and we share one folder: each reads what the other writes.

The engine runs as people run it: its own command line, in an environment of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from ubunye_core import Receipt, Status, Verdict, check_upstream, record_run
from ubunye_core.stores import FileStore

CALC, SEND = "pay/monthly/calc", "pay/monthly/send"
TASK = ("-u", "pay", "-p", "monthly", "-t", "calc")
DATA_FIELDS = ("row_count", "schema_hash", "data_hash")


@dataclass
class Project:
    """A folder with the engine's own example task, and the store that both write."""

    folder: Path
    engine: Path

    @property
    def store(self) -> FileStore:
        return FileStore(self.folder / ".ubunye" / "lineage")

    def command(self, *words: str) -> list[str]:
        return [str(self.engine / "ubunye"), *words]

    def run(self, *words: str) -> str:
        """What an engine command prints."""
        done = subprocess.run(
            self.command(*words), cwd=self.folder, env=_quiet(), capture_output=True, text=True,
            timeout=100,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def lineage(self, what: str, *words: str) -> str:
        task = () if what == "search" else TASK
        return self.run("lineage", what, "-d", ".", *task, *words)

    def calc(self, month: str) -> Receipt:
        """Let the engine run its task, and read its record."""
        before = set(self.runs())
        self.run(
            "run", "-d", ".", *TASK, "--backend", "pandas", "--lineage", f"--var=month={month}"
        )
        (new,) = set(self.runs()) - before
        return self.store.load(CALC, new)

    def runs(self) -> list[str]:
        return [path.stem for path in (self.store.root / CALC).glob("*.json")]

    @property
    def people(self) -> Path:
        return self.folder / CALC / "data" / "people.csv"

    @property
    def adults(self) -> Path:
        return self.folder / CALC / "output" / "adults"

    def same_task(self, month: str) -> Receipt:
        """The engine's task as a plain script of ours, on the same data."""
        with record_run(CALC, variables={"month": month, "mode": "DEV"}, store=self.store) as run:
            # The engine reads the CSV as Spark would: its inferSchema makes small integers int32.
            people = pd.read_csv(self.people, dtype={"age": "int32"})
            run.read("people", people, format="s3", location=self.people)
            run.wrote("adults", people[people["age"] >= 18], format="s3", location=self.adults)
            run.expect("age is not null", bool(people["age"].notna().all()))
            with run.timed("everything"):
                pass
        return self.store.load(CALC, run.run_id)


def _quiet() -> dict[str, str]:
    return os.environ | {"UBUNYE_HASH_WORKERS": "1", "NO_COLOR": "1", "COLUMNS": "200"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, engine_bin: Path) -> Project:
    made = Project(tmp_path_factory.mktemp("project"), engine_bin)
    made.run("init", "-d", ".", *TASK)
    return made


@pytest.fixture(scope="module")
def theirs(project: Project) -> Receipt:
    return project.calc("2026-10")


@pytest.fixture(scope="module")
def ours(project: Project, theirs: Receipt) -> Receipt:
    return project.same_task("2026-10")


@pytest.fixture(scope="module")
def failed(project: Project, ours: Receipt) -> Receipt:
    recording = record_run(CALC, variables={"month": "2026-11"}, store=project.store)
    with pytest.raises(ValueError, match="no column"), recording as run:
        raise ValueError("no column 'age'")
    return project.store.load(CALC, run.run_id)


# --- we read theirs ---


def test_we_read_what_the_engine_wrote(theirs: Receipt) -> None:
    assert (theirs.status, theirs.record_version) == (Status.SUCCESS, 2)
    assert theirs.variables == {"mode": "DEV", "month": "2026-10"}
    assert [(step.name, step.row_count, step.hash_method) for step in theirs.inputs] == [
        ("people", 8, "rows-v1")
    ]
    assert theirs.extra["engine_version"] == "0.8.0"


def test_a_gate_of_ours_opens_for_a_run_of_theirs(project: Project, theirs: Receipt) -> None:
    for month, verdict in (("2026-10", Verdict.PASS), ("2027-01", Verdict.FAIL)):
        answer = check_upstream(
            {"task": CALC, "variables": ["month"]},
            variables={"month": month, "mode": "PROD"},
            store=project.store,
        )
        assert answer.verdict is verdict


# --- they read ours ---


def test_the_engine_lists_our_runs(project: Project, ours: Receipt, failed: Receipt) -> None:
    lines = project.lineage("list").splitlines()
    mine = [line for line in lines if line.startswith(ours.run_id[:8])]
    assert any("success" in line and "in:8" in line and "out:5" in line for line in mine)
    assert any("error" in line for line in mine)


def test_the_engine_shows_our_run_whole(project: Project, ours: Receipt) -> None:
    shown = json.loads(project.lineage("show", "--run-id", ours.run_id))
    assert (shown["run_id"], shown["status"], shown["task_path"]) == (ours.run_id, "success", CALC)
    assert shown["variables"] == {"month": "2026-10", "mode": "DEV"}
    assert (shown["code_hash"], shown["environment_hash"]) == (
        ours.code_hash,
        ours.environment_hash,
    )
    for name in DATA_FIELDS:
        assert shown["inputs"][0][name] == getattr(ours.inputs[0], name)
    assert [rule["rule"] for rule in shown["expectations"]] == ["age is not null"]
    assert [timing["step"] for timing in shown["timings"]] == ["everything"]


def test_the_engine_traces_our_run(project: Project, ours: Receipt, failed: Receipt) -> None:
    traced = project.lineage("trace", "--run-id", ours.run_id)
    for text in (ours.run_id, "people", "adults", ours.code_hash, ours.environment_hash):
        assert text is not None
        assert text in traced
    assert "ValueError: no column 'age'" in project.lineage("trace", "--run-id", failed.run_id)


def test_the_engine_finds_our_runs(project: Project, ours: Receipt, failed: Receipt) -> None:
    found = json.loads(project.lineage("search", "--json"))
    assert {ours.run_id, failed.run_id} <= {run["run_id"] for run in found}
    errors = json.loads(project.lineage("search", "--status", "error", "--json"))
    assert [run["run_id"] for run in errors] == [failed.run_id]
    assert ours.run_id[:8] in project.lineage("search", "--since", "2026-01-01")
    assert ours.run_id[:8] not in project.lineage("search", "--since", "2199-01-01")


@pytest.mark.slow
@pytest.mark.parametrize("status", list(Status))
def test_the_engine_prints_a_receipt_of_any_status_with_every_field_of_ours(
    project: Project, ours: Receipt, status: Status
) -> None:
    from dataclasses import replace

    from ubunye_core import (
        Counts,
        Expectation,
        Orchestrator,
        Pin,
        Timing,
        TriggeredBy,
        TriggerKind,
        Window,
    )
    from ubunye_core.testing import at

    receipt = replace(
        ours,
        run_id=f"every-field-{status}",
        status=status,
        started_at=at(0),
        ended_at=None if status is Status.RUNNING else at(1),
        duration_sec=None,
        window=Window(start=at(0), end=at(60)),
        triggered_by=TriggeredBy(kind=TriggerKind.MANUAL, actor="ada", reason="again"),
        orchestrator=Orchestrator(name="airflow", ids={"dag_id": "pay"}, attempt=1),
        upstreams=(Pin(task=SEND, run_id="1", data_hashes={"x": None}),),
        counts=Counts(loaded=5),
        expectations=(Expectation(rule="n > 0", passed=None), Expectation(rule="", passed=False)),
        timings=(Timing(step="", seconds=0),),
        outcome="refused",
        ended_by="close",
        code_hash=None,
        environment=None,
        environment_hash=None,
        time_zone=None,
    )
    project.store.save(receipt)
    assert status.value in project.lineage("trace", "--run-id", receipt.run_id)
    shown = json.loads(project.lineage("show", "--run-id", receipt.run_id))
    assert (shown["run_id"], shown["status"]) == (receipt.run_id, status.value)
    project.lineage("compare", "--run-id1", receipt.run_id, "--run-id2", ours.run_id)
    assert status.value in project.lineage("list")


# --- the same data ---


def test_compare_says_that_the_data_of_both_is_unchanged(
    project: Project, theirs: Receipt, ours: Receipt
) -> None:
    compared = project.lineage("compare", "--run-id1", theirs.run_id, "--run-id2", ours.run_id)
    data = [line for line in compared.splitlines() if line.strip().startswith(DATA_FIELDS)]
    assert len(data) == 6
    assert all(line.endswith("(unchanged)") for line in data), compared


def test_compare_says_where_the_data_differs(project: Project, ours: Receipt) -> None:
    with record_run(CALC, variables={"month": "2026-12"}, store=project.store) as run:
        people = pd.read_csv(project.people, dtype={"age": "int32"})
        people.loc[0, "age"] += 1
        run.read("people", people)
        run.wrote("adults", people[people["age"] >= 18])
    compared = project.lineage("compare", "--run-id1", ours.run_id, "--run-id2", run.run_id)
    data = [line for line in compared.splitlines() if line.strip().startswith("data_hash")]
    assert len(data) == 2
    assert all(line.endswith("CHANGED") for line in data)


def test_the_files_that_the_engine_wrote_hash_as_it_says(project: Project, theirs: Receipt) -> None:
    with record_run("pay/monthly/check", store=project.store) as run:
        step = run.read("adults", project.adults)
    assert [getattr(step, name) for name in DATA_FIELDS] == [
        getattr(theirs.outputs[0], name) for name in DATA_FIELDS
    ]


# --- at the same time ---


@pytest.mark.slow
def test_both_write_one_folder_at_the_same_time_and_nothing_is_lost(
    tmp_path: Path, engine_bin: Path
) -> None:
    project = Project(tmp_path, engine_bin)
    project.run("init", "-d", ".", *TASK)
    mine, looks = [], 0
    for month in ("2026-08", "2026-09"):
        words = (
            "run",
            "-d",
            ".",
            *TASK,
            "--backend",
            "pandas",
            "--lineage",
            f"--var=month={month}",
        )
        process = subprocess.Popen(
            project.command(*words), cwd=tmp_path, env=_quiet(), stdout=subprocess.DEVNULL
        )
        while process.poll() is None:
            with record_run(CALC, variables={"n": len(mine)}, store=project.store) as run:
                mine.append(run.run_id)
            project.store.search(CALC)
            looks += 1
        assert process.returncode == 0
    found = project.store.search(CALC)
    assert found.unreadable == ()
    assert set(mine) <= {receipt.run_id for receipt in found}
    theirs = [receipt for receipt in found if "month" in receipt.variables]
    assert sorted(str(receipt.variables["month"]) for receipt in theirs) == ["2026-08", "2026-09"]
    assert looks > 1
    seen = json.loads(project.lineage("search", "--json"))
    assert {run["run_id"] for run in seen} == {receipt.run_id for receipt in found}


def test_our_locks_and_temporary_files_are_nothing_to_the_engine(
    project: Project, ours: Receipt
) -> None:
    folder = project.store.root / CALC
    assert {".hints", ".locks", ".tmp"} <= {path.name for path in folder.iterdir()}
    (folder / ".tmp" / "x.json.1.aa").write_bytes(b'{"half')
    count = len(json.loads(project.lineage("search", "--json")))
    assert count == len(project.store.search())
