"""The listener where a task does not run: in the scheduler, and in the API server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, task

from tests.airflow.conftest import CALC, a_receipt
from ubunye_airflow import receipts
from ubunye_airflow.listener import hooks, outside
from ubunye_core import (
    Orchestrator,
    Receipt,
    ReceiptStore,
    Requirement,
    Run,
    Status,
    Verdict,
    Window,
    check_upstream,
)

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
        session.commit()  # a transaction that is open would lock the database
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


def test_the_scheduler_is_asked_nothing_and_its_transaction_is_left_alone(
    row: Rows, store: ReceiptStore
) -> None:
    from airflow import settings
    from sqlalchemy import event

    ti = row(calc_dag("untouched", MONTH, retries=2), "calc")
    ti.hostname = "changed"  # what the scheduler has not written yet
    asked: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        asked.append(statement)

    assert settings.engine is not None
    event.listen(settings.engine, "before_cursor_execute", note)
    try:
        hooks.on_task_instance_failed("running", ti, KILLED)
        hooks.on_task_instance_success(None, ti)
        (_, found) = the_receipts(store)
    finally:
        event.remove(settings.engine, "before_cursor_execute", note)
    assert found.status is Status.INTERRUPTED
    assert asked == []


@dataclass
class Api:
    """Airflow's own API, with somebody logged in."""

    client: Any

    def set_state(self, dag: DAG, state: str, **body: Any) -> int:
        place = f"/api/v2/dags/{dag.dag_id}/dagRuns/scheduled__{dag.dag_id}/taskInstances/calc"
        return int(self.client.patch(place, json={"new_state": state, **body}).status_code)


@pytest.fixture(scope="module")
def api(airflow_db: None) -> Iterator[Api]:
    from airflow.api_fastapi.app import create_app, get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
    from airflow.listeners.listener import get_listener_manager
    from fastapi.testclient import TestClient

    manager = get_listener_manager()
    manager.add_listener(hooks)
    with TestClient(create_app(apps="core")) as client:
        token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username="ann", role="admin"))
        client.headers["Authorization"] = f"Bearer {token}"
        yield Api(client)
    manager.pm.unregister(hooks)


@pytest.mark.slow
def test_a_success_that_is_set_by_hand_is_a_skipped_receipt_and_opens_no_gate(
    row: Rows, store: ReceiptStore, api: Api
) -> None:
    dag = calc_dag("by_hand", {"month": "{{ dag_run.conf['month'] }}"})
    before = open_receipt(row(dag, "calc"), store, window=Window(start=START, end=END))
    store.save(replace(before, status=Status.ERROR, ended_at=END))
    assert api.set_state(dag, "success", note="paid by telephone") == 200
    found, failed = the_receipts(store)
    assert (failed.status, failed.ended_by) == (Status.ERROR, None)
    assert (found.status, found.outcome, found.ended_by) == (
        Status.SKIPPED,
        "set_by_hand",
        "by hand",
    )
    assert (found.error or "").startswith("ann set this task to 'success' by hand in Airflow.")
    assert (dict(found.variables), found.window) == (MONTH, before.window)
    assert found.triggered_by is not None
    assert (found.triggered_by.actor, found.triggered_by.reason) == ("ann", "paid by telephone")
    answer = check_upstream([Requirement(CALC)], variables=MONTH, store=store)
    assert answer.verdict is Verdict.FAIL
    assert "by hand" in answer.reason


@pytest.mark.slow
def test_a_run_whose_state_is_set_by_hand_while_it_runs_is_interrupted(
    row: Rows, store: ReceiptStore, api: Api
) -> None:
    dag = calc_dag("while_running", {"month": "{{ ds }}"})
    open_receipt(row(dag, "calc"), store)
    assert api.set_state(dag, "success") == 200
    decided, run = the_receipts(store)
    assert (run.status, run.ended_by) == (Status.INTERRUPTED, "by hand")
    assert (decided.status, dict(decided.variables)) == (Status.SKIPPED, MONTH)
    assert decided.triggered_by is not None
    assert decided.triggered_by.actor is None  # Airflow tells only who writes a note
    assert (decided.error or "").startswith("Somebody set this task")


@pytest.mark.slow
def test_a_task_that_never_ran_is_known_by_the_configuration_when_it_is_set_by_hand(
    row: Rows, store: ReceiptStore, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    dag = calc_dag("never_ran", MONTH)
    row(dag, "calc")
    assert api.set_state(dag, "failed") == 200
    assert the_receipts(store) == []
    mapping = {"never_ran/calc": {"task": CALC, "variables": MONTH}}
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__RECEIPT_TASKS", json.dumps(mapping))
    assert api.set_state(dag, "success") == 200
    (found,) = the_receipts(store)
    assert (found.status, found.outcome) == (Status.SKIPPED, "set_by_hand")
    assert dict(found.variables) == MONTH
    assert api.set_state(dag, "failed") == 200  # ends what runs, and changes nothing else
    assert the_receipts(store) == [found]


def test_a_task_that_records_itself_is_interrupted_where_its_worker_was_killed(
    row: Rows, store: ReceiptStore, store_url: str
) -> None:
    with DAG("itself", schedule=None) as dag:

        @task.receipt(receipt_task=CALC, variables=MONTH, store=store_url)
        def calc(run: Run) -> None:
            pass

        calc()
    ti = row(dag, "calc")
    hooks.on_task_instance_failed("running", ti, KILLED)
    assert the_receipts(store) == []  # it may keep its receipts elsewhere
    open_receipt(ti, store)
    hooks.on_task_instance_failed("running", ti, KILLED)
    assert [run.status for run in the_receipts(store)] == [Status.INTERRUPTED]
