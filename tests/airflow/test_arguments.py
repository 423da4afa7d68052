"""What cannot be right is an error of the DAG: it says which argument, and what to write."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG, BaseOperator, task

from tests.airflow.conftest import CALC
from ubunye_airflow import (
    HealthCheckOperator,
    MissedWindowsOperator,
    ReceiptMixin,
    ReceiptStoreHook,
    RequirementOperator,
    UpstreamReceiptSensor,
    record_airflow_run,
    schedule_of_dag,
)
from ubunye_core import ConfigError, Policy, Requirement

MONTH = {"month": "2026-10"}
LATER = "{{ dag_run.conf.x }}"
Make = Callable[..., Any]


PYTHON = (*BashOperator.template_fields, *PythonOperator.template_fields)
"""Those that are no arguments of ours."""


class RecordedBash(ReceiptMixin, BashOperator):
    pass


def decorated(decorator: str) -> Make:
    def make(dag: DAG | None = None, **how: Any) -> Any:
        with dag or DAG("any", schedule=None) as of:
            getattr(task, decorator)(task_id="t", **how)(lambda: MONTH)()
        return of.get_task("t")

    return make


def operator(kind: type[BaseOperator], **usual: Any) -> Make:
    return lambda **how: kind(**{"task_id": "t", **usual, **how})


HEALTH = operator(HealthCheckOperator, tasks=[CALC])
ONCE = operator(RequirementOperator, required_task=CALC, variables=MONTH)
GATE = operator(UpstreamReceiptSensor, required_task=CALC, variables=MONTH)
LISTED = operator(UpstreamReceiptSensor, variables=MONTH)
MISSED = operator(MissedWindowsOperator, receipt_task=CALC)
MIXED = operator(RecordedBash, bash_command="true", receipt_task=CALC)
UNNAMED = operator(RecordedBash, bash_command="true")
RECORDED, TOLD = decorated("receipt"), decorated("gate")

WRONG: list[tuple[Make, dict[str, Any], str]] = [
    (HEALTH, {"max_age": "40 days"}, "'40 days' is not a length of time for max_age"),
    (HEALTH, {"max_age": 40}, "for max_age.*1d12h"),
    (HEALTH, {"stuck_after": "-2h"}, "stuck_after"),
    (HEALTH, {"failure_threshold": "two"}, "failure_threshold is 'two'.*whole number"),
    (HEALTH, {"failure_threshold": 0}, "failure_threshold is 0.*1 or more"),
    (HEALTH, {"failure_threshold": 1.5}, "failure_threshold"),
    (HEALTH, {"failure_threshold": None}, "failure_threshold"),
    (HEALTH, {"severity": None}, "severity is None.*error, warn"),
    (HEALTH, {"severity": True}, "severity is True"),
    (HEALTH, {"tasks": []}, "tasks is empty"),
    (HEALTH, {"tasks": ["calc"]}, "'calc' is not a task"),
    (HEALTH, {"tasks": [LATER, "calc"]}, "'calc' is not a task"),
    (HEALTH, {"tasks": None}, "tasks is None"),
    (HEALTH, {"tasks": {CALC: "1d"}}, "Write a list of names"),
    (HEALTH, {"store": 5}, "store is 5.*s3://"),
    (HEALTH, {"store": ""}, "'store' is empty"),
    (HEALTH, {"store": "receipts"}, "'receipts' is a relative path.*file:///"),
    (HEALTH, {"store": "fil:///srv"}, "known for 'fil://'. Write file:///srv. If fil:// is meant"),
    (ONCE, {"store": "Fiel:///srv"}, "known for 'fiel://'. Write file:///srv"),
    (GATE, {"store": "postgres://pay:secret@db/x"}, r"Write postgresql://pay:\*+@db/x"),
    (MISSED, {"store": "sqllite:////srv/x.db"}, "Write sqlite:////srv/x.db"),
    (HEALTH, {"store_conn_id": 5}, "store_conn_id is 5"),
    (ONCE, {"max_age": "soon"}, "'max_age'"),
    (ONCE, {"required_task": 5}, "5 is not a task"),
    (ONCE, {"variables": "month"}, "'variables' is 'month'.*names and values"),
    (ONCE, {"variables": {"month": ""}}, "'month' is empty"),
    (ONCE, {"variables": {"month": ["2026-10"]}}, "'month' is a list"),
    (ONCE, {"variables": {5: "2026-10"}}, "has the name 5"),
    (ONCE, {"variables": {}}, "has no variables.*match="),
    (ONCE, {"variables": {"api_token": "x"}}, "masked"),
    (ONCE, {"match": 5}, "'match' is 5"),
    (ONCE, {"match": [5]}, "not a name for a variable"),
    (ONCE, {"match": ["day"]}, "names 'day'"),
    (ONCE, {"asker": "send"}, "'send' is not a task"),
    (ONCE, {"asker": "pay/*/send"}, "asker is .*a pattern"),
    (ONCE, {"allowed_states": 5}, "'allowed_states' is 5"),
    (ONCE, {"failed_states": 5}, "'failed_states' is 5"),
    (GATE, {"poll_interval": "often"}, "'poll_interval' is 'often'.*poll='30s'"),
    (GATE, {"poll_interval": math.inf}, "'poll_interval'"),
    (GATE, {"check_existence": "no"}, "'check_existence' is 'no'"),
    (GATE, {"deferrable": "yes"}, "deferrable is 'yes'"),
    (GATE, {"wait": LATER}, "for 'wait'"),
    (LISTED, {"requires": []}, "Nothing is required"),
    (LISTED, {"requires": "calc"}, "'calc' is not a task"),
    (LISTED, {"requires": [LATER, {"task": "calc"}]}, "'calc' is not a task"),
    (LISTED, {"requires": {"task": LATER, "max_age": "soon"}}, "'max_age'"),
    (LISTED, {"requires": {"task": CALC, "maxage": "1d"}}, "'maxage' is not a known key"),
    (LISTED, {"requires": {"variables": LATER}}, "has no 'task'"),
    (LISTED, {"config": ""}, "'config' is empty"),
    (LISTED, {"config": 5}, "config is 5.*receipts.yaml"),
    (MISSED, {"receipt_task": None}, "receipt_task is None"),
    (MISSED, {"receipt_task": "pay/*/calc"}, "a pattern"),
    (MISSED, {"config": 5}, "config is 5"),
    (MISSED, {"schedule": "0 2 * * *"}, "schedule is .*Give Schedule"),
    (MISSED, {"schedule": []}, "schedule is"),
    (MISSED, {"requires": ["calc"]}, "'calc' is not a task"),
    (MISSED, {"since": "soon"}, "'soon' is not an instant for since"),
    (MISSED, {"since": 30}, "since"),
    (MISSED, {"since": datetime(2026, 10, 1)}, "since"),  # noqa: DTZ001  # is what is wrong
    (MISSED, {"retention": "x"}, "retention"),
    (MISSED, {"stuck_after": "x"}, "stuck_after"),
    (MISSED, {"backfill_limit": -2}, "backfill_limit is -2"),
    (MISSED, {"recheck_days": -1}, "recheck_days is -1"),
    (MISSED, {"cap": 0}, "cap is 0"),
    (MISSED, {"max_runs": "x"}, "max_runs is 'x'"),
    (MISSED, {"catchup": True}, "catchup is True.*none, latest, all"),
    (MISSED, {"include": 5}, "include is 5"),
    (MISSED, {"on_missed": False}, "on_missed is False"),
    (MISSED, {"trigger_dag_id": 5}, "trigger_dag_id is 5"),
    (MISSED, {"store": "sqlite:///receipts.db"}, "relative path.*sqlite:////"),
    (MISSED, {"store": "sqlite:///~/receipts.db"}, "relative path.*sqlite:////"),
    (MISSED, {"store": "sqlite:///a.db?password=x-1"}, "db.password=[*]{3}' is a relative path"),
    (MIXED, {"receipt_task": 5}, "receipt_task is 5.*usecase/package"),
    (UNNAMED, {}, "no receipt_task.*receipt_task='usecase/package/task_name'"),
    (MIXED, {"receipt_variables": 5}, "'receipt_variables' is 5"),
    (MIXED, {"receipt_variables": {"month": ["2026-10"]}}, "'month' is a list"),
    (MIXED, {"receipt_store": 5}, "receipt_store is 5"),
    (MIXED, {"receipt_store_conn_id": 5}, "receipt_store_conn_id is 5"),
    (MIXED, {"receipt_reason": 5}, "receipt_reason is 5"),
    (MIXED, {"receipt_guard": "yes"}, "receipt_guard is 'yes'.*True or False"),
    (MIXED, {"receipt_guard": LATER}, "it is no template"),
    (MIXED, {"receipt_rerun": 5}, "receipt_rerun is 5"),
    (MIXED, {"receipt_rerun": True}, "receipt_guard=True too"),
    (MIXED, {"receipt_policy": True}, "receipt_policy is True"),
    (MIXED, {"receipt_policy": {"guard": True}}, "policy.yaml"),
    (MIXED, {"receipt_code": 5}, "receipt_code is 5"),
    (MIXED, {"receipt_code": ""}, "'receipt_code' is empty"),
    (MIXED, {"receipt_store": "s33://pay"}, "known for 's33://'. Write s3://pay"),
    (RECORDED, {}, "no receipt_task"),
    (RECORDED, {"receipt_task": 5}, "receipt_task is 5"),
    (RECORDED, {"receipt_task": CALC, "variables": 5}, "'variables' is 5"),
    (RECORDED, {"receipt_task": CALC, "store": 5}, "store is 5"),
    (RECORDED, {"receipt_task": CALC, "store": "memroy://pay"}, "Write memory://pay"),
    (RECORDED, {"receipt_task": CALC, "guard": "yes"}, "guard is 'yes'"),
    (RECORDED, {"receipt_task": CALC, "policy": 5}, "policy is 5"),
    (TOLD, {"required_task": 5}, "5 is not a task"),
    (TOLD, {"required_task": CALC, "wait": "x"}, "'wait'"),
    (TOLD, {"variables": {"month": None}}, "'month' is empty"),
]


@pytest.mark.parametrize(("make", "wrong", "says"), WRONG, ids=[str(each) for _, each, _ in WRONG])
def test_what_cannot_be_right_is_an_error_of_the_dag_that_says_what_to_write(
    make: Make, wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        make(**wrong)


RIGHT: list[tuple[Make, dict[str, Any]]] = [
    (HEALTH, {"max_age": timedelta(days=40), "stuck_after": "2h", "failure_threshold": "2"}),
    (HEALTH, {"tasks": "pay/*/*", "severity": "warn", "store_conn_id": None}),
    (HEALTH, {"store": Path("/srv/receipts")}),
    (HEALTH, {"store": "~/receipts"}),
    (HEALTH, {"store": "S3://bucket/receipts"}),
    (HEALTH, {"store": "vault://of/a/package/of/the/workers"}),
    (HEALTH, {"store": "delta+gs://bucket/receipts"}),
    (ONCE, {"match": [], "variables": None}),
    (ONCE, {"match": "month", "variables": {**MONTH, "api_token": "x"}}),
    (GATE, {"poll_interval": 30, "check_existence": True, "asker": ""}),
    (LISTED, {"requires": Requirement(CALC, max_age="1d")}),
    (LISTED, {"config": Path("receipts.yaml")}),
    (MISSED, {"since": datetime(2026, 10, 1, tzinfo=UTC), "requires": []}),
    (MISSED, {"since": timedelta(days=3), "cap": "2", "backfill_limit": -1}),
    (MISSED, {"since": "2026-10-01T00:00:00Z", "requires": CALC}),
    (MIXED, {"receipt_policy": Policy(guard=True), "receipt_rerun": True}),
    (MIXED, {"receipt_code": Path("calc.py"), "receipt_variables": {"month": ""}}),
    (MIXED, {"receipt_reason": "", "receipt_store_conn_id": ""}),
    (TOLD, {}),
]


@pytest.mark.parametrize(("make", "right"), RIGHT, ids=[str(each) for _, each in RIGHT])
def test_what_may_be_right_is_taken(make: Make, right: dict[str, Any]) -> None:
    assert make(**right).task_id == "t"


@pytest.mark.parametrize(
    "make",
    [HEALTH, ONCE, GATE, MISSED, MIXED, RECORDED, TOLD],
    ids=["health", "once", "gate", "missed", "mixin", "receipt", "told"],
)
def test_what_a_template_or_another_task_gives_is_checked_when_it_is_there(make: Make) -> None:
    named = {"receipt_task": CALC} if make is RECORDED else {}
    instead = ("requires", "config", "variables")
    ours = [
        name
        for name in type(make(**named)).template_fields
        if name not in PYTHON and not (make in (ONCE, GATE, MISSED, TOLD) and name in instead)
    ]
    assert len(ours) >= 4
    for name in ours:
        with DAG("later", schedule=None):
            before: Any = BashOperator(task_id="before", bash_command="true")
            given = make(**{**named, name: before.output}, dag=before.dag)
            assert given.upstream_task_ids == {"before"}
        make(**{**named, name: LATER})


def test_requirements_may_hold_what_comes_later() -> None:
    with DAG("later", schedule=None):
        before: Any = BashOperator(task_id="before", bash_command="true")
        for number, requires in enumerate(
            [LATER, [LATER], before.output, [{"task": LATER, "variables": [LATER]}, before.output]]
        ):
            made = LISTED(task_id=f"gate_{number}", requires=requires)
            assert made.upstream_task_ids == ({"before"} if number > 1 else set())


@pytest.mark.parametrize("decorator", ["receipt", "gate"])
def test_an_argument_without_its_name_is_not_taken_for_the_function(decorator: str) -> None:
    argument = {"receipt": "receipt_task", "gate": "required_task"}[decorator]
    with pytest.raises(ConfigError, match=rf"Write @task.{decorator}\({argument}='{CALC}'\)"):
        getattr(task, decorator)(CALC)


def test_a_decorator_that_needs_arguments_says_so_where_it_has_none() -> None:
    with DAG("bare", schedule=None) as dag:

        @task.receipt
        def calc() -> None: ...

        @task.gate
        def gate() -> str:
            return CALC

        says = (
            r"of calc says.*parentheses.*@task.receipt\(receipt_task='usecase/package/task_name'\)"
        )
        with pytest.raises(ConfigError, match=says):
            calc()
        gate()
    assert "gate" in dag.task_ids


def test_the_mixin_alone_is_neither_an_operator_nor_a_decorator() -> None:
    for wrong in (
        lambda: ReceiptMixin(task_id="t", receipt_task=CALC),
        lambda: ReceiptMixin(receipt_task=CALC),  # as @ReceiptMixin(...)
        lambda: ReceiptMixin(BashOperator),  # as @ReceiptMixin
    ):
        with pytest.raises(ConfigError, match="class RecordedBash"):
            wrong()


def test_a_wrong_argument_of_what_runs_in_the_worker_is_named() -> None:
    with pytest.raises(ConfigError, match="code is 5"):
        record_airflow_run(CALC, code=5, store="memory://x", context={})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="store_conn_id is 5"):
        ReceiptStoreHook(5).get_conn()  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="'daily' is no DAG"):
        schedule_of_dag("daily")
