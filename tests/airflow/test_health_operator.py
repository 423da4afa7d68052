"""The operator asks about health, and its task's state is the answer."""

from __future__ import annotations

from typing import Any

import pytest
from airflow.sdk import DAG, BaseNotifier
from airflow.sdk.exceptions import AirflowFailException

from tests.airflow.conftest import CALC, Ended, RunDag, a_receipt, filled_in
from ubunye_airflow import HealthCheckOperator
from ubunye_core import ConfigError, ReceiptStore, Status


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
    "wrong",
    [
        {"store": "nope://x"},
        {"tasks": ["calc"]},
        {"max_age": "soon"},
        {"failure_threshold": "two"},
        {"failure_threshold": "-1"},
    ],
    ids=str,
)
def test_a_wrong_argument_is_not_retried(store_url: str, wrong: dict[str, Any]) -> None:
    operator = HealthCheckOperator(task_id="health", tasks=[CALC], store=store_url)
    with pytest.raises(AirflowFailException):
        filled_in(operator, wrong).execute({})


class Noted(BaseNotifier):
    """A notifier as any package brings one: what it is told is in the context alone."""

    template_fields = ("message",)
    heard: list[tuple[str, Any]] = []  # noqa: RUF012

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message

    def notify(self, context: Any) -> None:
        answer = context["ti"].xcom_pull(task_ids=context["ti"].task_id)
        self.heard.append((f"{self.message}: {context['exception']}", answer))


def test_a_notifier_finds_the_whole_answer(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt(status=Status.ERROR, error="ValueError: x"))
    store.save(a_receipt("run-2", task="pay/monthly/tax"))
    Noted.heard.clear()
    ended = asked(
        run_dag,
        "notified",
        tasks=["pay/monthly/t*", CALC],
        store=store_url,
        on_failure_callback=Noted("{{ dag.dag_id }}"),
    )
    assert ended.states == {"health": "failed"}
    ((said, answer),) = Noted.heard
    assert said.startswith("notified: ")
    assert "1 of 2 tasks unhealthy" in said
    assert [(each["task"], each["verdict"]) for each in answer["tasks"]] == [
        ("pay/monthly/tax", "PASS"),
        (CALC, "FAIL"),
    ]


@pytest.mark.parametrize("severity", ["warn", "{{ dag_run.conf.severity }}"])
def test_a_warning_succeeds_and_tells_all(
    severity: str,
    store: ReceiptStore,
    store_url: str,
    run_dag: RunDag,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store.save(a_receipt(status=Status.ERROR, error="ValueError: x"))
    dag_id = f"warned_{len(severity)}"
    ended = asked(run_dag, dag_id, {"severity": "warn"}, severity=severity, store=store_url)
    assert ended.states == {"health": "success"}
    assert ended.returned["health"]["verdict"] == "FAIL"
    warned = [each for each in capsys.readouterr().out.splitlines() if "[warning" in each]
    assert [each for each in warned if "ValueError: x" in each]


def test_a_severity_that_there_is_not_is_an_error_of_the_dag() -> None:
    with pytest.raises(ConfigError, match="severity is 'loud'"):
        HealthCheckOperator(task_id="health", tasks=[CALC], severity="loud")
