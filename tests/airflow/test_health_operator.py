"""The operator asks about health, and its task's state is the answer."""

from __future__ import annotations

from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowFailException

from tests.airflow.conftest import CALC, Ended, RunDag, a_receipt
from ubunye_airflow import HealthCheckOperator
from ubunye_core import ReceiptStore, Status


def asked(run_dag: RunDag, dag_id: str, conf: dict[str, Any] | None = None, **how: Any) -> Ended:
    with DAG(dag_id, schedule=None) as dag:
        HealthCheckOperator(task_id="health", **{"tasks": [CALC], **how})
    return run_dag(dag, conf or {})


def test_healthy_jobs_pass_and_the_whole_answer_is_pushed(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt())
    store.save(a_receipt("run-2", task="pay/monthly/tax"))
    conf = {"store": store_url, "age": "3650d"}
    ended = asked(
        run_dag,
        "healthy",
        conf,
        tasks=["pay/{{ 'monthly' }}/*"],
        store="{{ dag_run.conf.store }}",
        max_age="{{ dag_run.conf.age }}",
    )
    assert ended.states == {"health": "success"}
    answer = ended.returned["health"]
    assert (answer["verdict"], answer["store"]) == ("PASS", store.url)
    assert [each["task"] for each in answer["tasks"]] == [CALC, "pay/monthly/tax"]
    assert answer["tasks"][0]["last_success_at"] == "2026-01-05T07:00:00Z"


@pytest.mark.parametrize(
    ("name", "receipts", "how", "says"),
    [
        ("failed", [a_receipt(status=Status.ERROR, error="ValueError: x")], {}, "ValueError: x"),
        ("stuck", [a_receipt(status=Status.RUNNING)], {}, "is stuck"),
        ("stale", [a_receipt()], {"max_age": "1h"}, "older than 1h"),
        ("never_ran", [], {}, "has never run"),
    ],
)
def test_what_is_unhealthy_or_unknown_fails_after_its_answer_is_pushed(
    name: str,
    receipts: list[Any],
    how: dict[str, Any],
    says: str,
    store: ReceiptStore,
    store_url: str,
    run_dag: RunDag,
) -> None:
    for receipt in receipts:
        store.save(receipt)
    ended = asked(run_dag, f"health_{name}", store=store_url, **how)
    assert ended.states == {"health": "failed"}
    assert says in ended.returned["health"]["reason"]


def test_a_threshold_tolerates_a_failure(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt(status=Status.ERROR, error="ValueError: x"))
    ended = asked(run_dag, "threshold", store=store_url, failure_threshold=2)
    assert ended.states == {"health": "success"}


def test_a_store_that_is_down_fails_and_may_be_retried(
    store_url: str, tmp_path: Any, run_dag: RunDag
) -> None:
    ended = asked(run_dag, "health_down", store=str(tmp_path / "missing"))
    assert (ended.states, ended.returned["health"]["verdict"]) == ({"health": "failed"}, "UNKNOWN")


@pytest.mark.parametrize(
    "wrong", [{"store": "nope://x"}, {"tasks": ["calc"]}, {"max_age": "soon"}], ids=str
)
def test_a_wrong_argument_is_not_retried(store_url: str, wrong: dict[str, Any]) -> None:
    how = {"task_id": "health", "tasks": [CALC], "store": store_url, **wrong}
    with pytest.raises(AirflowFailException):
        HealthCheckOperator(**how).execute({})
