"""The listener where a task does not run: in the scheduler, and in the API server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

from tests.airflow.conftest import CALC, a_receipt
from ubunye_airflow import receipts
from ubunye_airflow.listener import hooks, outside
from ubunye_core import Orchestrator, Receipt, ReceiptStore, Status

MONTH = {"month": "2026-10"}
START = datetime(2026, 10, 1, tzinfo=UTC)
END = datetime(2026, 11, 1, tzinfo=UTC)
KILLED = "Executor LocalExecutor reported that the task instance finished with state failed"

Rows = Callable[..., Any]


@pytest.fixture
def row(airflow_db: None, monkeypatch: pytest.MonkeyPatch, store_url: str) -> Rows:
    """A task instance as the scheduler has it: a row of the database, with its kept operator."""
    from airflow import settings
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
    from airflow.models.dagbag import DBDagBag
    from airflow.utils.state import DagRunState
    from airflow.utils.types import DagRunTriggeredByType, DagRunType

    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__STORE", store_url)

    def made(dag: DAG, task_id: str, *, conf: dict[str, Any] | None = None, tries: int = 1) -> Any:
        bag = DagBag(dag_folder="/dev/null")
        bag.bag_dag(dag)
        session = settings.Session()
        sync_bag_to_db(bag, "dags-folder", None, session=session)
        session.commit()
        kept = DBDagBag().get_latest_version_of_dag(dag.dag_id, session=session)
        run = kept.create_dagrun(
            run_id=f"scheduled__{dag.dag_id}",
            logical_date=START,
            data_interval=(START, END),
            run_after=END,
            run_type=DagRunType.SCHEDULED,
            triggered_by=DagRunTriggeredByType.TEST,
            state=DagRunState.RUNNING,
            conf=conf,
            session=session,
        )
        session.commit()
        (ti,) = (
            each for each in run.get_task_instances(session=session) if each.task_id == task_id
        )
        ti.task = kept.get_task(task_id)
        ti.try_number = tries
        session.flush()
        return ti

    return made


def calc_dag(dag_id: str, variables: dict[str, str] | None = None, **arguments: Any) -> DAG:
    with DAG(dag_id, schedule=None) as dag:
        BashOperator(
            task_id="calc", bash_command="true", params=receipts(CALC, variables), **arguments
        )
    return dag


def open_receipt(ti: Any, store: ReceiptStore, **fields: Any) -> Receipt:
    """What the worker had put on record before it was killed."""
    ids = {"dag_id": ti.dag_id, "run_id": ti.run_id, "task_id": ti.task_id, "map_index": "-1"}
    attempt = Orchestrator(name="airflow", ids=ids, attempt=ti.try_number, max_attempts=3)
    receipt = a_receipt(status=Status.RUNNING, orchestrator=attempt, **fields)
    store.save(receipt)
    return receipt


def the_receipts(store: ReceiptStore, name: str = CALC) -> list[Receipt]:
    assert outside.background.drain(20)
    found = store.list_runs(name)
    assert not found.unreadable
    return list(found)


def test_the_receipt_of_a_killed_worker_is_interrupted_and_says_who_ended_it(
    row: Rows, store: ReceiptStore
) -> None:
    ti = row(calc_dag("killed", {"month": "{{ dag_run.conf['month'] }}"}, retries=2), "calc")
    before = open_receipt(ti, store, host="worker-1")
    hooks.on_task_instance_failed("running", ti, KILLED)
    (found,) = the_receipts(store)
    assert (found.run_id, found.status, found.ended_by) == (
        before.run_id,
        Status.INTERRUPTED,
        "airflow",
    )
    assert (found.error, found.host, dict(found.variables)) == (KILLED, "worker-1", MONTH)


def test_a_task_that_never_started_leaves_an_interrupted_receipt_of_what_airflow_knows(
    row: Rows, store: ReceiptStore
) -> None:
    ti = row(calc_dag("unstarted", MONTH, retries=2), "calc")
    hooks.on_task_instance_failed("running", ti, KILLED)
    hooks.on_task_instance_failed("running", ti, KILLED)
    (found,) = the_receipts(store)
    assert (found.status, dict(found.variables)) == (Status.INTERRUPTED, MONTH)
    assert found.triggered_by is not None
    assert found.triggered_by.kind == "schedule"
    assert found.window is not None
    assert (found.window.start, found.window.end) == (START, END)
    assert found.orchestrator is not None
    assert (found.orchestrator.attempt, found.orchestrator.max_attempts) == (1, 3)
    assert "/dags/unstarted/runs/" in (found.orchestrator.url or "")


def test_a_run_that_wrote_its_own_end_before_it_died_keeps_it(
    row: Rows, store: ReceiptStore
) -> None:
    ti = row(calc_dag("ended", MONTH), "calc")
    before = open_receipt(ti, store)
    store.save(replace(before, status=Status.SUCCESS, ended_at=END))
    hooks.on_task_instance_failed("running", ti, KILLED)
    assert [run.status for run in the_receipts(store)] == [Status.SUCCESS]
