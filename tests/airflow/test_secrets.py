"""No credential of a store in logs, rendered templates, XComs, or what a trigger leaves behind."""

from __future__ import annotations

import json
from typing import Any

import pytest
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, task
from airflow.sdk.exceptions import TaskDeferred
from airflow.sdk.serde import serialize

from tests.airflow.conftest import CALC, RunDag, a_receipt
from ubunye_airflow import (
    HealthCheckOperator,
    MissedWindowsOperator,
    ReceiptMixin,
    RequirementOperator,
    UpstreamReceiptSensor,
)
from ubunye_airflow.hooks import DEFAULT_CONN_ID
from ubunye_core import ReceiptStore, Schedule

# Airflow hides what it knows to be secret in the whole process: each way has a secret of its own.
SECRETS = {
    "argument": "Geheim-argument-1",
    "template": "Geheim-template-2",
    "connection": "Geheim-connection-3",
    "config": "Geheim-config-4",
    "mapped": "Geheim-mapped-5",
}
MONTH = {"month": "2026-10"}
DAILY = Schedule(cron="0 2 * * *", variable="dt")


def a_url(secret: str) -> str:
    """Of a database that nobody serves."""
    return f"postgresql://me:{secret}@127.0.0.1:1/jobs?connect_timeout=2"


class Recorded(ReceiptMixin, EmptyOperator):
    """An operator of somebody else, recorded."""


def all_kinds(way: str, **named: Any) -> None:
    """A task of every kind that asks a store, or records in it."""
    UpstreamReceiptSensor(
        task_id=f"{way}_sensor",
        required_task=CALC,
        variables=MONTH,
        wait="0s",
        mode="poke",
        deferrable=False,
        **named,
    )
    UpstreamReceiptSensor(
        task_id=f"{way}_deferred",
        required_task=CALC,
        variables=MONTH,
        wait="0.2s",
        poll="0.1s",
        deferrable=True,
        **named,
    )
    RequirementOperator(task_id=f"{way}_required", required_task=CALC, variables=MONTH, **named)
    HealthCheckOperator(task_id=f"{way}_health", tasks=[CALC], **named)
    MissedWindowsOperator(
        task_id=f"{way}_missed", receipt_task=CALC, schedule=DAILY, since="3d", **named
    )

    Recorded(
        task_id=f"{way}_mixin",
        receipt_task=CALC,
        receipt_variables=MONTH,
        **{f"receipt_{name}": value for name, value in named.items()},
    )

    @task.gate(task_id=f"{way}_gate", required_task=CALC, wait="0s", mode="poke", **named)
    def gate() -> dict[str, str]:
        return MONTH

    @task.receipt(task_id=f"{way}_recorded", receipt_task=CALC, variables=MONTH, **named)
    def recorded() -> None: ...

    gate()
    recorded()


def kept_by_airflow(dag_id: str) -> str:
    """All that Airflow's database keeps of the tasks of a DAG: XComs and rendered templates."""
    from airflow import settings
    from airflow.models.renderedtifields import RenderedTaskInstanceFields
    from airflow.models.xcom import XComModel

    session = settings.Session()
    xcoms = session.query(XComModel).filter_by(dag_id=dag_id).all()
    fields = session.query(RenderedTaskInstanceFields).filter_by(dag_id=dag_id).all()
    assert xcoms
    assert fields
    return json.dumps(
        [[each.key, str(each.value)] for each in xcoms]
        + [[each.task_id, str(each.rendered_fields)] for each in fields]
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_password_of_a_store_is_nowhere_to_be_seen(
    run_dag: RunDag,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    url = {way: a_url(secret) for way, secret in SECRETS.items()}
    connection = {
        **{"conn_type": "ubunye_receipts", "host": "postgresql://127.0.0.1:1/jobs"},
        **{"login": "me", "password": SECRETS["connection"]},
        **{"extra": json.dumps({"connect_timeout": 2})},
    }
    monkeypatch.setenv("AIRFLOW_CONN_MINE", json.dumps(connection))
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__STORE", url["config"])
    with DAG("secrets", schedule=None, user_defined_macros={"url": lambda way: url[way]}) as dag:
        all_kinds("argument", store=url["argument"])
        all_kinds("template", store="{{ url('template') }}")
        all_kinds("connection", store_conn_id="mine")
        all_kinds("config", store_conn_id=DEFAULT_CONN_ID)
        HealthCheckOperator.partial(task_id="mapped").expand_kwargs(
            [{"tasks": [CALC], "store": "{{ url('mapped') }}"}]
        )
    ended = run_dag(dag)
    down = {
        name: state
        for name, state in ended.states.items()
        if not name.endswith(("recorded", "mixin"))
    }
    assert set(down.values()) == {"failed"}
    printed = "".join(capsys.readouterr()) + caplog.text
    kept = kept_by_airflow("secrets")
    assert "127.0.0.1:1" in printed
    assert "127.0.0.1:1" in kept
    for way, secret in SECRETS.items():
        assert secret not in printed, way
        assert secret not in kept, way


def test_a_trigger_leaves_the_name_of_a_connection_and_no_more(
    store: ReceiptStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(a_receipt(month="2026-09"))
    connection = {"conn_type": "ubunye_receipts", "host": store_url, "description": "hunter2"}
    monkeypatch.setenv("AIRFLOW_CONN_MINE", json.dumps(connection))
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__STORE", store_url)
    how = {"required_task": CALC, "wait": "2h", "deferrable": True}
    with DAG("left", schedule=None):

        @task.gate(task_id="told", store_conn_id="mine", **how)
        def told() -> dict[str, str]:
            return MONTH

        gates = [
            UpstreamReceiptSensor(task_id="by_name", store_conn_id="mine", variables=MONTH, **how),
            UpstreamReceiptSensor(task_id="by_config", store_conn_id=None, variables=MONTH, **how),
            told().operator,
        ]
    for gate, conn_id in zip(gates, ("mine", None, "mine"), strict=True):
        with pytest.raises(TaskDeferred) as deferred:
            gate.execute({})
        kept = deferred.value.trigger.serialize()[1]
        assert (kept["store"], kept["store_conn_id"]) == (None, conn_id)
        assert store_url not in json.dumps(serialize(kept))
