"""Run in `.venv-oldest` by test_airflow.py: each class for Airflow once, on the oldest Airflow."""

# Fixtures are taken from the tests on the newest Airflow, and asked for by their names.
# ruff: noqa: F401, F811
from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import airflow
import jsonschema
import pytest
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, task
from airflow.sdk.execution_time import supervisor

from tests.airflow.commands import names_of_providers
from tests.airflow.conftest import (
    CALC,
    Ended,
    RunDag,
    TellingSensor,
    a_receipt,
    airflow_db,
    run_dag,
    store,
    store_url,
)
from tests.oldest.modules import warned_when_all_are_imported
from ubunye_airflow import (
    HealthCheckOperator,
    MissedWindowsOperator,
    ReceiptMixin,
    ReceiptStoreHook,
    RequirementOperator,
    receipts,
    record_airflow_run,
    schedule_of_dag,
)
from ubunye_airflow.listener.plugin import ReceiptListenerPlugin
from ubunye_airflow.page import PREFIX
from ubunye_airflow.provider_info import get_provider_info
from ubunye_core import ReceiptStore, Schedule, Status, TriggerKind, open_store, record_run

MONTH = {"month": "2026-10"}
VARIABLES = {"month": "{{ dag_run.conf['month'] }}"}


@pytest.fixture(scope="module", autouse=True)
def one_api() -> Iterator[None]:
    """One API for all tasks, as from Airflow 3.3 on: 3.2 takes seconds to make one for each."""
    made = supervisor.in_process_api_server
    supervisor.in_process_api_server = functools.cache(made)
    yield
    supervisor.in_process_api_server = made


def test_every_module_is_imported_and_none_warns() -> None:
    assert warned_when_all_are_imported("ubunye_airflow") == []


def test_the_metadata_fits_the_schema_of_this_airflow() -> None:
    schema = Path(airflow.__file__).with_name("provider_info.schema.json")
    jsonschema.validate(get_provider_info(), json.loads(schema.read_text(encoding="utf-8")))


def test_airflow_lists_the_provider_its_hook_and_its_decorator() -> None:
    from airflow.sdk.providers_manager_runtime import ProvidersManagerTaskRuntime

    assert "ubunye-receipts" in names_of_providers()
    hook = ProvidersManagerTaskRuntime().hooks["ubunye_receipts"]
    assert hook is not None
    assert hook.hook_name == "Ubunye receipts"
    assert task.receipt.__module__ == "ubunye_airflow.decorators"


@pytest.mark.parametrize(
    ("asked", "state", "says"),
    [
        ({"required_task": CALC}, "success", "succeeded for month=2026-10"),
        ({"required_task": "pay/monthly/tax"}, "failed", "has not succeeded for month=2026-10"),
        ({"required_task": "pay/monthly/calk"}, "failed", "Did you mean pay/monthly/calc"),
    ],
    ids=["met", "unmet", "unknown"],
)
def test_a_gate_ends_alike_in_every_mode(
    asked: dict[str, Any],
    state: str,
    says: str,
    store: ReceiptStore,
    store_url: str,
    run_dag: RunDag,
) -> None:
    store.save(a_receipt("run-1"))
    store.save(a_receipt("run-1", task="pay/monthly/tax", month="2026-09"))
    how: dict[str, dict[str, Any]] = {
        "poke": {"mode": "poke", "deferrable": False},
        "reschedule": {"mode": "reschedule", "deferrable": False},
        "deferrable": {"deferrable": True},
    }
    with DAG("gates", schedule=None) as dag:
        for mode, options in how.items():
            TellingSensor(
                task_id=mode, variables=VARIABLES, store=store_url, wait="0.3s", poll="0.1s",
                **asked, **options,
            )  # fmt: skip
    ended = run_dag(dag, MONTH)
    assert ended.states == dict.fromkeys(how, state)
    if state == "success":
        said = [ended.returned[mode]["reason"] for mode in how]
    else:
        said = [str(ended.errors[mode]) for mode in how]
    assert len(set(said)) == 1
    assert says in said[0]


def test_tasks_are_recorded_before_their_success_and_pin_what_let_them_run(
    store: ReceiptStore, store_url: str, run_dag: RunDag, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = {"conn_type": "ubunye_receipts", "host": store_url}
    monkeypatch.setenv("AIRFLOW_CONN_PAY_RECEIPTS", json.dumps(connection))
    by_connection = {"store_conn_id": "pay_receipts"}
    store.save(a_receipt("run-1"))
    with DAG("recorded", schedule=None) as dag:
        gate = TellingSensor(
            task_id="gate", required_task=CALC, variables=VARIABLES, **by_connection
        )

        @task.receipt(receipt_task="pay/monthly/send", variables=VARIABLES, **by_connection)
        def send(run: Any) -> None:
            run.require(CALC)
            run.count(loaded=17)

        @task.receipt(receipt_task="pay/monthly/refund", variables=VARIABLES, **by_connection)
        def refund(run: Any) -> None:
            run.skip("nothing to pay back")

        @task
        def report(dag_run: Any = None) -> None:
            with record_airflow_run("pay/monthly/report", variables=MONTH, store=store_url):
                raise ValueError("no paper")

        gate >> [send(), refund(), report()]
    ended = run_dag(dag, MONTH)
    assert ended.states == {
        "gate": "success", "send": "success", "refund": "skipped", "report": "failed"
    }  # fmt: skip
    (sent,) = store.list_runs("pay/monthly/send")
    assert (sent.status, sent.batch.as_dict()) == (Status.SUCCESS, MONTH)
    assert sent.upstreams[0].run_id == "run-1"
    assert sent.orchestrator is not None
    assert sent.orchestrator.ids["task_id"] == "send"
    assert sent.triggered_by is not None
    assert sent.triggered_by.kind is TriggerKind.MANUAL
    assert store.list_runs("pay/monthly/refund")[0].status is Status.SKIPPED
    assert store.list_runs("pay/monthly/report")[0].status is Status.ERROR


def test_a_gate_by_function_and_an_operator_that_asks_once(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt("run-1"))
    with DAG("asked_once", schedule=None) as dag:

        @task.gate(required_task=CALC, store=store_url, wait="0.3s", mode="poke")
        def told(dag_run: Any = None) -> dict[str, str]:
            return {"month": dag_run.conf["month"]}

        met = RequirementOperator(
            task_id="met", required_task=CALC, variables=VARIABLES, store=store_url
        )
        shut = RequirementOperator(
            task_id="shut", required_task=CALC, variables={"month": "2026-09"}, store=store_url
        )
        told() >> [met, shut]
    ended = run_dag(dag, MONTH)
    assert ended.states == {"told": "success", "met": "success", "shut": "failed"}


class RecordedBash(ReceiptMixin, BashOperator):
    """Any operator, recorded."""


def test_any_operator_is_recorded_by_the_mixin(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("mixed_in", schedule=None) as dag:
        RecordedBash(
            task_id="calc", bash_command="true", receipt_task=CALC,
            receipt_variables=VARIABLES, receipt_store=store_url,
        )  # fmt: skip
    assert run_dag(dag, MONTH).state == "success"
    (found,) = store.list_runs(CALC)
    assert (found.status, found.batch.as_dict()) == (Status.SUCCESS, MONTH)


def test_the_listener_records_a_task_that_does_not_record_itself(
    store: ReceiptStore, store_url: str, run_dag: RunDag, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.listeners.listener import get_listener_manager as of_the_server
    from airflow.sdk.listener import get_listener_manager

    of_the_server()  # made now: where the option is on, it would register the listener for good
    manager = get_listener_manager()
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__LISTENER", "True")
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__STORE", store_url)
    hooks, _ = ReceiptListenerPlugin().listeners
    manager.add_listener(hooks)
    try:
        with DAG("listened_to", schedule=None) as dag:
            BashOperator(task_id="calc", bash_command="true", params=receipts(CALC, VARIABLES))
            BashOperator(task_id="fails", bash_command="false", params=receipts("pay/monthly/tax"))
        ended = run_dag(dag, MONTH)
    finally:
        manager.pm.unregister(hooks)
    assert ended.states == {"calc": "success", "fails": "failed"}
    (found,) = store.list_runs(CALC)
    assert (found.status, found.batch.as_dict()) == (Status.SUCCESS, MONTH)
    assert store.list_runs("pay/monthly/tax")[0].status is Status.ERROR


def test_the_page_stands_in_the_web_server_behind_its_login(
    store: ReceiptStore, store_url: str, airflow_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_AIRFLOW_PROCESS_CONTEXT", "server")
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__STORE", store_url)
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__SHOW_OTHER_ORCHESTRATORS", "True")
    from airflow.api_fastapi.app import create_app, get_auth_manager, purge_cached_app
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
    from starlette.testclient import TestClient

    store.save(a_receipt("run-1"))
    client = TestClient(create_app(apps="core"), "http://localhost", follow_redirects=False)
    try:
        known = SimpleAuthManagerUser(username="thandi", role="viewer")
        token = get_auth_manager().generate_jwt(known)
        assert client.get(f"{PREFIX}/").status_code == 401
        seen = client.get(f"{PREFIX}/", headers={"Cookie": f"_token={token}"})
    finally:
        purge_cached_app()
    assert seen.status_code == 200
    assert CALC in seen.text


def test_health_is_asked_and_what_was_missed_is_triggered(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt("run-1", month="2026-01"))
    store.save(a_receipt("run-1", task="pay/yearly/close", month=None))
    with DAG("caught_up", schedule=None) as caught_up:

        @task.receipt(receipt_task=CALC, variables=VARIABLES, store=store_url)
        def calc(run: Any) -> None:
            run.count(loaded=1)

        calc()
    run_dag(caught_up, {"month": "2026-02"})
    schedule = Schedule(
        cron="0 2 1 * *", window="month", variable="month", format="%Y-%m",
        start=datetime(2026, 2, 1, tzinfo=UTC), end=datetime(2026, 5, 1, 3, tzinfo=UTC),
    )  # fmt: skip
    with DAG("asked", schedule=None) as dag:
        HealthCheckOperator(task_id="healthy", tasks=["pay/*/*"], store=store_url)
        HealthCheckOperator(
            task_id="stale", tasks="pay/yearly/close", max_age="1d", store=store_url
        )
        missed = MissedWindowsOperator(
            task_id="missed", receipt_task=CALC, schedule=schedule, since="2026-01-01T00:00:00Z",
            catchup="all", cap=1, trigger_dag_id="caught_up", store=store_url,
        )  # fmt: skip
        TriggerDagRunOperator.partial(
            task_id="catch_up", trigger_dag_id="caught_up", skip_when_already_exists=True
        ).expand_kwargs(missed.output)
    ended = run_dag(dag, {})
    assert ended.states == {
        "healthy": "success", "stale": "failed", "missed": "success", "catch_up[0]": "success"
    }  # fmt: skip
    assert ended.returned["healthy"]["verdict"] == "PASS"
    assert [each["conf"]["month"] for each in ended.returned["missed"]] == ["2026-03"]


def test_the_hook_takes_the_connection_and_tells_whether_the_store_can_be_read(
    store: ReceiptStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = {"conn_type": "ubunye_receipts", "host": store_url}
    monkeypatch.setenv("AIRFLOW_CONN_PAY_RECEIPTS", json.dumps(connection))
    hook = ReceiptStoreHook("pay_receipts")
    assert hook.get_conn().url == store.url
    assert hook.test_connection() == (True, f"{store.url} can be read; it has no receipts yet.")


def test_the_timetable_of_a_dag_is_read() -> None:
    with DAG("nightly", schedule="0 2 * * *", catchup=False) as dag:
        pass
    schedule = schedule_of_dag(dag, window="day", of="previous", variable="dt")
    assert (schedule.cron, schedule.of) == ("0 2 * * *", "previous")
    with DAG("weekly", schedule="@weekly", catchup=False) as dag:
        pass
    assert schedule_of_dag(dag, window="week", of="previous").cron == "0 0 * * 0"


def test_this_airflow_has_not_what_the_page_says_that_it_has_not() -> None:
    from airflow.sdk import Context
    from airflow.utils.types import DagRunType

    assert "operator_triggered" not in set(DagRunType)
    assert "task_state_store" not in Context.__annotations__


def test_a_store_in_sqlite_works_with_the_sqlalchemy_of_this_airflow(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/receipts.db")
    with record_run(CALC, variables=MONTH, store=store, guard=True):
        pass
    (found,) = store.search(CALC, batch=MONTH)
    assert found.status is Status.SUCCESS
