"""The operator that asks once: a decided refusal is final, all else may be asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from tests.airflow.conftest import CALC, RunDag, a_receipt, filled_in
from ubunye_airflow import RequirementOperator
from ubunye_core import ConfigError, ReceiptStore, Status

MONTH = {"month": "2026-10"}


class Pushed:
    """A task instance that notes what is pushed."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def xcom_push(self, *, key: str, value: Any) -> None:
        self.found[key] = value


def an_operator(**asked: Any) -> RequirementOperator:
    how = {"task_id": "calculated", "required_task": CALC, "variables": MONTH}
    return RequirementOperator(**{**how, **asked})


@pytest.mark.parametrize(
    ("receipt", "options", "raises", "says"),
    [
        (a_receipt(month="2026-09"), {}, AirflowException, "has no run of this batch"),
        (a_receipt(status=Status.RUNNING), {}, AirflowException, "running since"),
        (a_receipt(status=Status.ERROR, error="E: x"), {}, AirflowException, "run-1 (error at"),
        (
            a_receipt(status=Status.ERROR, error="E: x"),
            {"on_failed": "fail"},
            AirflowFailException,
            "run-1 (error at",
        ),
        (
            a_receipt(status=Status.ERROR, error="E: x"),
            {"failed_states": ["failed"]},
            AirflowFailException,
            "run-1 (error at",
        ),
        (a_receipt(status=Status.SKIPPED), {}, AirflowFailException, "skipped by decision"),
        (a_receipt(task="pay/monthly/calk"), {}, AirflowFailException, "Did you mean"),
        (
            a_receipt(task="pay/monthly/calk"),
            {"allow_unknown": True},
            AirflowException,
            "is unknown",
        ),
    ],
    ids=str,
)
def test_only_a_decided_refusal_is_not_retried_and_the_answer_is_pushed_first(
    store: ReceiptStore,
    store_url: str,
    receipt: Any,
    options: dict[str, Any],
    raises: type[Exception],
    says: str,
) -> None:
    store.save(receipt)
    pushed = Pushed()
    with pytest.raises(AirflowException, match=r".") as refused:
        an_operator(store=store_url, **options).execute({"ti": pushed})
    assert type(refused.value) is raises
    assert says in str(refused.value)
    assert pushed.found["return_value"]["reason"] == str(refused.value)
    assert pushed.found["return_value"]["verdict"] == "FAIL"


def test_one_name_to_match_is_a_name_and_not_its_letters(
    store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt())
    variables = {"month": "2026-10", "run": "second"}
    answer = an_operator(store=store_url, variables=variables, match="month").execute({})
    assert answer["verdict"] == "PASS"


def test_what_cannot_be_told_may_be_asked_again(tmp_path: Path) -> None:
    pushed = Pushed()
    with pytest.raises(AirflowException) as away:
        an_operator(store=str(tmp_path / "missing")).execute({"ti": pushed})
    assert type(away.value) is AirflowException
    assert pushed.found["return_value"]["verdict"] == "UNKNOWN"


def test_an_optional_miss_passes_and_says_so(store: ReceiptStore, store_url: str) -> None:
    store.save(a_receipt(month="2026-09"))
    answer = an_operator(store=store_url, optional=True).execute({})
    assert (answer["verdict"], answer["pins"]) == ("PASS", [])
    assert "Optional, so this passes" in answer["reason"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"wait": "2h"},
        {"poll": "5m"},
        {"required_task": None},
        {"config": "config.yaml"},
        {"required_task": "pay/calc"},
        {"on_failed": "explode"},
        {"external_task_id": "calc"},
        {"required_task": None, "requires": 5},
        {"required_task": None, "requires": [CALC, 5]},
        {"required_task": None, "requires": b"pay"},
    ],
    ids=str,
)
def test_a_wrong_argument_is_an_error_of_the_dag(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        an_operator(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"store": "nope://x"}, {"variables": {"month": ""}}, {"config": "missing.yaml"}]
)
def test_a_wrong_setting_is_not_retried(wrong: dict[str, Any], tmp_path: Path) -> None:
    with DAG("beside", schedule=None) as dag:
        how = {"required_task": None, "config": "{{ x }}"} if "config" in wrong else {}
        operator = filled_in(an_operator(**how), wrong)
    dag.fileloc = str(tmp_path / "dag.py")
    with pytest.raises(AirflowFailException):
        operator.execute({})


def test_a_recorded_task_pins_what_satisfied_the_operator_before_it(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt())
    with DAG("required", schedule=None) as dag:
        required = an_operator(store="{{ dag_run.conf.store }}", required_task="pay/*/*")

        @task.receipt(receipt_task="pay/monthly/send", variables=MONTH, store=store_url)
        def send() -> None: ...

        required >> send()
    assert required._asker() == "pay/monthly/send"
    for _ in range(2):  # the second time the pattern fits the task that asks too
        ended = run_dag(dag, {"store": store_url})
        assert set(ended.states.values()) == {"success"}
        assert [each["task"] for each in ended.returned["calculated"]["requirements"]] == [CALC]
    sent = store.search("pay/monthly/send")[0]
    assert [(pin.task, pin.run_id) for pin in sent.upstreams] == [(CALC, "run-1")]
