"""The listener where tasks run: each task that names its receipt task leaves a receipt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from airflow.sdk.listener import get_listener_manager

from tests.airflow.conftest import CALC, RunDag
from ubunye_airflow import receipts, record_airflow_run
from ubunye_airflow.listener.plugin import ReceiptListenerPlugin
from ubunye_core import Receipt, ReceiptStore, Run, Status

MONTH = {"month": "{{ dag_run.conf['month'] }}"}
CONF = {"month": "2026-10"}
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "airflow-listener.md"
OPTION = "AIRFLOW__UBUNYE_RECEIPTS__"


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch, store_url: str) -> Iterator[None]:
    """The plugin, loaded as Airflow loads it where the listener is on."""
    from airflow.listeners.listener import get_listener_manager as of_the_server

    of_the_server()  # made now: where the option is on, it would register the listener for good
    get_listener_manager()
    monkeypatch.setenv(f"{OPTION}LISTENER", "True")
    monkeypatch.setenv(f"{OPTION}STORE", store_url)
    manager, (hooks, _) = get_listener_manager(), ReceiptListenerPlugin().listeners
    manager.add_listener(hooks)
    yield
    manager.pm.unregister(hooks)


def the_receipt(store: ReceiptStore, name: str = CALC) -> Receipt:
    found = store.list_runs(name)
    assert not found.unreadable
    assert len(found) == 1
    return found[0]


def test_a_task_that_names_its_receipt_task_leaves_a_receipt_that_says_what_ran(
    listener: None, store: ReceiptStore, run_dag: RunDag
) -> None:
    conf = {
        **CONF,
        "reason": "the bank was late",
        "window": {"start": "2026-10-01T00:00:00Z", "end": "2026-11-01T00:00:00Z"},
    }
    with DAG("whole", schedule=None) as dag:
        BashOperator(task_id="calc", bash_command="true", retries=2, params=receipts(CALC, MONTH))
        BashOperator(task_id="silent", bash_command="true")
    assert run_dag(dag, conf).state == "success"
    assert [run.task for run in store.search()] == [CALC]
    found = the_receipt(store)
    assert (found.status, dict(found.variables)) == (Status.SUCCESS, CONF)
    assert found.orchestrator is not None
    ids = found.orchestrator.ids
    assert (ids["dag_id"], ids["task_id"], ids["map_index"]) == ("whole", "calc", "-1")
    assert (found.orchestrator.attempt, found.orchestrator.max_attempts) == (1, 3)
    assert "/dags/whole/runs/" in (found.orchestrator.url or "")
    assert found.triggered_by is not None
    assert (found.triggered_by.kind, found.triggered_by.actor, found.triggered_by.reason) == (
        "manual",
        "dag_test",
        "the bank was late",
    )
    assert found.window is not None
    assert found.window.end - found.window.start == timedelta(days=31)
    assert (found.code_hash or "").startswith("sha256:")
    assert found.ended_by is None


def test_the_receipt_says_running_while_the_task_runs_and_shows_signs_of_life(
    listener: None, store: ReceiptStore, run_dag: RunDag
) -> None:
    seen = []
    with DAG("running", schedule=None) as dag:

        @task(params=receipts(CALC, MONTH))
        def calc() -> None:
            seen.append(the_receipt(store))

        calc()
    assert run_dag(dag, CONF).state == "success"
    assert [(run.status, run.heartbeat_every) for run in seen] == [
        (Status.RUNNING, timedelta(seconds=30))
    ]
    ended = the_receipt(store)
    assert (ended.status, ended.run_id, ended.started_at) == (
        Status.SUCCESS,
        seen[0].run_id,
        seen[0].started_at,
    )


def test_each_try_is_a_receipt_and_a_failed_one_says_whether_tries_are_left(
    listener: None, store: ReceiptStore, run_dag: RunDag
) -> None:
    with DAG("tries", schedule=None) as dag:

        @task(params=receipts(CALC, MONTH), retries=2, retry_delay=timedelta(0))
        def calc(ti: Any = None) -> None:
            if ti.try_number == 1:
                raise ValueError("no people, token=abc123")
            raise AirflowFailException("there will never be any")

        calc()
    assert run_dag(dag, CONF).state == "failed"
    second, first = store.list_runs(CALC)
    assert (first.status, first.error) == (Status.ERROR, "ValueError: no people, token=***")
    assert first.has_tries_left
    assert second.status is Status.ERROR
    assert not second.has_tries_left
    assert first.orchestrator is not None
    assert second.orchestrator is not None
    assert (first.orchestrator.attempt, second.orchestrator.attempt) == (1, 2)
    assert first.orchestrator.scheduled_run == second.orchestrator.scheduled_run


def test_a_task_that_skips_itself_leaves_a_skipped_receipt(
    listener: None, store: ReceiptStore, run_dag: RunDag
) -> None:
    with DAG("skips", schedule=None) as dag:

        @task(params=receipts(CALC, MONTH))
        def calc() -> None:
            raise AirflowSkipException("a holiday")

        calc()
    run_dag(dag, CONF)
    found = the_receipt(store)
    # Airflow does not tell a listener why.
    assert (found.status, found.error) == (Status.SKIPPED, "The task skipped itself.")
    assert not found.was_refused


def test_every_mapped_task_leaves_a_receipt_of_its_own(
    listener: None, store: ReceiptStore, run_dag: RunDag
) -> None:
    variables = {**MONTH, "country": "{{ task.op_kwargs['country'] }}"}
    with DAG("mapped", schedule=None) as dag:

        @task
        def calc(country: str) -> None:
            pass

        calc.override(params=receipts(CALC, variables)).expand(country=["ZA", "ID"])
    assert run_dag(dag, CONF).state == "success"
    found = store.list_runs(CALC)
    assert sorted(
        (run.orchestrator.ids["map_index"], run.variables["country"])
        for run in found
        if run.orchestrator is not None
    ) == [("0", "ZA"), ("1", "ID")]


def test_a_receipt_that_was_recorded_inside_the_task_keeps_all_it_holds(
    listener: None, store: ReceiptStore, run_dag: RunDag, store_url: str
) -> None:
    with DAG("inside", schedule=None) as dag:

        @task(params=receipts(CALC, MONTH))
        def calc(dag_run: Any = None) -> None:
            given = {"month": dag_run.conf["month"]}
            with record_airflow_run(CALC, variables=given, store=store_url) as run:
                run.count(loaded=3)

        @task.receipt(receipt_task="pay/monthly/send", variables=MONTH, store=store_url)
        def send(run: Run) -> None:
            run.count(loaded=4)

        calc() >> send()
    assert run_dag(dag, CONF).state == "success"
    for name, loaded in ((CALC, 3), ("pay/monthly/send", 4)):
        found = the_receipt(store, name)
        assert found.status is Status.SUCCESS
        assert found.counts is not None
        assert found.counts.loaded == loaded


def test_the_code_of_the_page_runs_and_leaves_a_receipt(
    listener: None, store: ReceiptStore, run_dag: RunDag
) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    assert len(blocks) == 1
    names: dict[str, Any] = {"__name__": "a_dag_file"}
    exec(compile(blocks[0], str(PAGE), "exec"), names)
    assert run_dag(names["dag"], CONF).state == "success"
    assert the_receipt(store).batch.as_dict() == CONF
