"""``@task.gate``: a function tells the batch, and the task waits as the sensor does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowFailException, TaskDeferred
from airflow.sdk.serde import serialize

from tests.airflow.conftest import CALC, RunDag, a_receipt
from ubunye_core import ConfigError, ReceiptStore

MONTH = {"month": "2026-10"}


def a_gate(function: Any, **asked: Any) -> Any:
    """The operator of a function that is a gate."""
    with DAG("gates", schedule=None) as dag:
        task.gate(task_id="gate", **asked)(function)()
    return dag.get_task("gate")


def test_the_function_tells_the_variables_and_the_recorder_behind_pins_what_met_them(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt())
    store.save(a_receipt("run-2", task="pay/monthly/tax"))
    with DAG("told", schedule=None) as dag:
        how = {"store": "{{ dag_run.conf.store }}", "wait": "0s"}

        @task.gate(required_task=CALC, mode="poke", **how)
        def calculated(prefix: str, dag_run: Any = None) -> dict[str, str]:
            return {"month": prefix + dag_run.conf["month"]}

        @task.gate(deferrable=True, variables={"month": "{{ dag_run.conf.month }}"}, **how)
        def taxed(names: list[str]) -> list[dict[str, Any]]:
            return [{"task": f"pay/monthly/{name}", "variables": ["month"]} for name in names]

        @task.receipt(receipt_task="pay/monthly/send", variables=MONTH, store=store_url)
        def send() -> None: ...

        [calculated("20"), taxed(["tax", "calc"])] >> send()
    ended = run_dag(dag, {"store": store_url, "month": "26-10"})
    assert ended.states == {"calculated": "success", "taxed": "failed", "send": "upstream_failed"}
    assert ended.returned["calculated"]["pins"][0]["run_id"] == "run-1"
    ended = run_dag(dag, {"store": store_url, "month": "2026-10"})
    assert ended.states["taxed"] == "success"
    assert ended.states["calculated"] == "failed"


def test_what_a_deferred_gate_leaves_in_the_database_is_what_the_function_told(
    store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt(month="2026-09"))
    asked = {"required_task": CALC, "wait": "2h", "store": store_url, "deferrable": True}
    gate = a_gate(lambda: {**MONTH, "api_token": "hunter2"}, match=["month"], **asked)
    with pytest.raises(TaskDeferred) as deferred:
        gate.execute({})
    kept = json.dumps(serialize(deferred.value.trigger.serialize()[1]))
    assert "2026-10" in kept
    assert "hunter2" not in kept


@pytest.mark.parametrize("told", [None, "2026-10", ["month"], {"month": ""}, {}])
def test_a_function_that_tells_no_variables_opens_nothing(
    told: Any, store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt())
    gate = a_gate(lambda: told, required_task=CALC, store=store_url, mode="poke", wait="0s")
    with pytest.raises(AirflowFailException):
        gate.execute({})


@pytest.mark.parametrize("told", [None, [], {}, {"month": "2026-10"}, "pay/calc", 7, [None]])
def test_a_function_that_tells_no_requirement_opens_nothing(
    told: Any, store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt())
    gate = a_gate(lambda: told, variables=MONTH, store=store_url, mode="poke", wait="0s")
    with pytest.raises(AirflowFailException, match="returned no requirement"):
        gate.execute({})


def test_what_is_wrong_is_an_error_of_the_dag() -> None:
    for wrong in (
        {"required_task": CALC, "variables": MONTH},
        {"required_task": CALC, "config": "config.yaml"},
        {"required_task": "pay/calc"},
        {"required_task": CALC, "external_dag_id": "pay"},
    ):
        with pytest.raises(ConfigError):
            a_gate(lambda: None, **wrong)
