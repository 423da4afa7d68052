"""What the context of a notebook says of a job, with a stand-in for what Databricks has there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ubunye_core import Orchestrator, Receipt, Status, TriggerKind
from ubunye_core.stores import FileStore

CALC = "pay/monthly/calc"
NOTEBOOK = """
import os


class Option:
    def __init__(self, value): self.value = value
    def isDefined(self): return self.value is not None
    def get(self):
        if self.value is None: raise LookupError("None.get")
        return self.value


class Context:
    tags_given = {tags}
    def userName(self): return Option("ann@example.com")
    def tags(self):
        if self.tags_given is None: raise RuntimeError("not allowed")
        return self
    def get(self, name): return Option(self.tags_given.get(name))
    def notebook(self): return self
    def getDbutils(self): return self
    def getContext(self): return self
    @property
    def entry_point(self): return self


class Tools:
    notebook = Context()


class Shell:
    user_ns = {{"dbutils": Tools}}


get_ipython = Shell
"""
SCHEDULED = {
    "jobId": "11", "multitaskParentRunId": "22", "runId": "33", "jobTriggerType": "periodic",
}  # fmt: skip
OF_A_JOB = Orchestrator(
    name="databricks", ids={"job_id": "11", "run_id": "22", "task_run_id": "33"}
)


def recorded(tmp_path: Path, tags: object, call: str = "record_run(CALC, store=store)") -> Receipt:
    """The newest receipt of a notebook that runs, with these tags, a call twice."""
    (tmp_path / "IPython.py").write_text(NOTEBOOK.format(tags=tags))
    store = FileStore(tmp_path / "receipts")
    program = (
        "import IPython\nfrom ubunye_core import *\n"
        f"CALC, store = {CALC!r}, {str(store.root)!r}\n"
        f"for _ in range(2):\n    with {call}: pass\n"
    )
    path = os.pathsep.join([str(tmp_path), *map(os.path.abspath, sys.path)])
    given = os.environ | {"PYTHONPATH": path, "DATABRICKS_RUNTIME_VERSION": "17.3"}
    subprocess.run([sys.executable, "-P", "-c", program], env=given, check=True, timeout=60)
    runs = store.list_runs(CALC)
    assert [run.status for run in runs] == [Status.SUCCESS] * 2  # none continues the other
    return runs[0]


def told(receipt: Receipt) -> tuple[str, str | None, str | None]:
    by = receipt.triggered_by
    assert by is not None
    return by.kind.value, by.actor, by.asserted_by


def test_a_job_that_its_schedule_started_is_recorded_so_with_its_ids(tmp_path: Path) -> None:
    receipt = recorded(tmp_path, SCHEDULED)
    assert told(receipt) == ("schedule", "ann@example.com", "databricks")
    assert receipt.orchestrator == OF_A_JOB


def test_a_job_of_one_task_has_one_run(tmp_path: Path) -> None:
    tags = {"jobId": "11", "runId": "33", "jobTriggerType": "cron"}
    receipt = recorded(tmp_path, tags)
    assert told(receipt)[0] == "schedule"
    assert receipt.orchestrator is not None
    assert receipt.orchestrator.ids == {"job_id": "11", "run_id": "33", "task_run_id": "33"}


@pytest.mark.parametrize("started", ["manual", "retry", "one_time", "file_arrival", None])
def test_a_job_that_anything_else_started_is_by_hand_as_ever(
    tmp_path: Path, started: str | None
) -> None:
    receipt = recorded(tmp_path, SCHEDULED | {"jobTriggerType": started})
    assert told(receipt) == ("manual", "ann@example.com", "databricks")
    assert receipt.orchestrator == OF_A_JOB


@pytest.mark.parametrize("tags", [{}, {"jobTriggerType": "periodic"}, None])
def test_a_notebook_whose_context_tells_no_job_is_by_hand_as_ever(
    tmp_path: Path, tags: object
) -> None:
    receipt = recorded(tmp_path, tags)
    assert told(receipt) == ("manual", "ann@example.com", "databricks")
    assert receipt.orchestrator is None


@pytest.mark.parametrize("told_as", ["x" * 257, "x" * 10_000_000, "a\nb", ""], ids=len)
def test_an_id_that_is_none_is_no_job_and_costs_no_receipt(tmp_path: Path, told_as: str) -> None:
    assert recorded(tmp_path, SCHEDULED | {"runId": told_as}).orchestrator is None


def test_what_the_caller_says_wins(tmp_path: Path) -> None:
    call = (
        "record_run(CALC, store=store, triggered_by=TriggeredBy(kind='manual', actor='bo'),"
        " orchestrator=Orchestrator(name='mine'))"
    )
    receipt = recorded(tmp_path, SCHEDULED, call)
    assert told(receipt)[:2] == (TriggerKind.MANUAL.value, "bo")
    assert receipt.orchestrator == Orchestrator(name="mine")
