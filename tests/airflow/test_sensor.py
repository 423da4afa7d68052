"""The sensor's arguments: what a DAG's author writes, and what is asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowFailException, AirflowSensorTimeout, TaskDeferred

from tests.airflow.conftest import CALC, T0, Ended, RunDag, TellingSensor, a_receipt, filled_in
from ubunye_airflow import UpstreamReceiptSensor
from ubunye_core import ReceiptStore, Requirement, Status

MONTH = {"month": "2026-10"}


def a_sensor(**asked: Any) -> UpstreamReceiptSensor:
    how = {"task_id": "gate", "required_task": CALC, "variables": MONTH, "deferrable": False}
    return UpstreamReceiptSensor(**{**how, **asked})


def test_wait_and_poll_are_airflows_timeout_and_poke_interval() -> None:
    sensor = a_sensor(wait="2h", poll="5m")
    assert (sensor.timeout, sensor.poke_interval) == (7200.0, 300.0)


def test_an_argument_of_airflow_wins_over_ours() -> None:
    sensor = a_sensor(wait="2h", poll="5m", timeout=60, poke_interval=timedelta(seconds=7))
    assert (sensor.timeout, sensor.poke_interval) == (60.0, 7.0)
    assert [each.wait for each in sensor.gate().requires] == [timedelta(seconds=60)]


def test_what_the_author_says_wins_over_the_dags_default_args() -> None:
    defaults = {"timeout": 60, "poke_interval": 7, "mode": "poke"}
    with DAG("defaults", schedule=None, default_args=defaults):
        told, silent = a_sensor(wait="2h"), a_sensor(task_id="silent")
    assert (told.timeout, told.poke_interval, told.mode) == (7200.0, 7.0, "poke")
    assert silent.timeout == 60.0


def test_by_default_it_waits_as_every_sensor_does_and_gives_its_slot_back() -> None:
    sensor = a_sensor()
    assert (sensor.mode, sensor.reschedule) == ("reschedule", True)
    assert sensor.timeout == 7 * 24 * 3600
    assert sensor.poke_interval == 60


def test_whether_it_defers_is_airflows_own_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert a_sensor(deferrable=None).deferrable is False
    monkeypatch.setenv("AIRFLOW__OPERATORS__DEFAULT_DEFERRABLE", "True")
    sensor = a_sensor(deferrable=None)
    assert (sensor.deferrable, sensor.reschedule) == (True, False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"wait": "soon"},
        {"poll": "0s"},
        {"on_failed": "explode"},
        {"max_age": "-1d"},
        {"required_task": "pay/calc"},
        {"required_task": "../../etc"},
        {"required_task": None},
        {"config": "config.yaml"},
        {"required_task": None, "requires": [CALC], "on_failed": "fail"},
        {"required_task": None, "requires": [CALC], "match": ["month"]},
        {"mode": "sleep"},
    ],
    ids=str,
)
def test_a_wrong_argument_is_an_error_of_the_dag(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        a_sensor(**wrong)


def test_every_variable_that_is_given_must_agree(store: ReceiptStore, store_url: str) -> None:
    store.save(a_receipt("run-1", variables={"month": "2026-10", "region": "eu"}))
    assert a_sensor(store=store_url).poke({})
    both = {"month": "2026-10", "region": "us"}
    assert not a_sensor(store=store_url, variables=both, wait="1h").poke({})
    assert a_sensor(store=store_url, variables=both, match=["month"]).poke({})


def test_mode_and_dtf_are_no_part_of_the_batch(store: ReceiptStore, store_url: str) -> None:
    store.save(a_receipt("run-1", variables={"month": "2026-10", "mode": "full"}))
    variables = {"month": "2026-10", "mode": "nightly"}
    found = a_sensor(store=store_url, variables=variables).poke({})
    assert found
    assert "mode=full; this run has mode=nightly" in found.xcom_value["reason"]


@pytest.mark.parametrize("variables", [None, {}, {"mode": "full"}])
def test_a_gate_for_no_batch_is_refused(
    store: ReceiptStore, store_url: str, variables: dict[str, str] | None
) -> None:
    store.save(a_receipt())
    with pytest.raises(AirflowFailException, match="any old success would do"):
        filled_in(a_sensor(store=store_url), {"variables": variables}).poke({})
    assert a_sensor(store=store_url, variables=variables, match=[]).poke({})


@pytest.mark.parametrize("variables", ["month=2026-10", ["month"], {"month": ["2026-10"]}])
def test_variables_that_cannot_be_compared_are_refused(
    store: ReceiptStore, store_url: str, variables: Any
) -> None:
    store.save(a_receipt())
    with pytest.raises(AirflowFailException, match="month"):
        filled_in(a_sensor(store=store_url), {"variables": variables}).poke({})


def test_a_success_of_another_month_never_opens_it_and_any_clock_time_does(
    store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt("run-1", month="2026-11", started_at=T0))
    gate = a_sensor(store=store_url, wait="1h")
    assert not gate.poke({})
    odd = T0.replace(hour=3, minute=17)
    store.save(a_receipt("run-2", month="2026-10", started_at=odd, ended_at=odd))
    assert gate.poke({})


def test_requirements_may_be_written_as_in_yaml(store: ReceiptStore, store_url: str) -> None:
    store.save(a_receipt("run-1", variables={"month": "2026-10"}))
    store.save(a_receipt("run-2", task="pay/monthly/tax", variables={"year": "2026"}))
    requires = [
        CALC,
        {"task": "pay/monthly/tax", "variables": {"year": 2026}},
        Requirement("pay/monthly/tax", ["month"], optional=True),
    ]
    sensor = a_sensor(store=store_url, required_task=None, requires=requires)
    found = sensor.poke({}).xcom_value
    assert [each["verdict"] for each in found["requirements"]] == ["PASS", "PASS", "PASS"]
    assert [pin["run_id"] for pin in found["pins"]] == ["run-1", "run-2"]


def test_requirements_stand_in_a_file_beside_the_dag_and_are_read_when_it_runs(
    store: ReceiptStore, store_url: str, tmp_path: Path
) -> None:
    with DAG("beside", schedule=None) as dag:
        sensor = a_sensor(store=store_url, required_task=None, config="task/config.yaml")
    dag.fileloc = str(tmp_path / "dag.py")
    with pytest.raises(AirflowFailException, match="does not exist"):
        sensor.poke({})
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "config.yaml").write_text(
        f"CONFIG:\n  requires:\n    - task: {CALC}\n      variables: [month]\n      wait: 3h\n"
    )
    assert [each.wait for each in sensor.gate().requires] == [timedelta(hours=3)]
    store.save(a_receipt())
    assert sensor.poke({})
    (tmp_path / "task" / "config.yaml").write_text("CONFIG:\n  requires: []\n")
    with pytest.raises(AirflowFailException, match="required"):
        sensor.poke({})


def test_each_requirements_own_wait_holds_unless_the_sensor_says_otherwise() -> None:
    requires = [{"task": CALC, "wait": "10d"}, CALC, {"task": CALC, "optional": True}]
    own = a_sensor(required_task=None, requires=requires)
    week = timedelta(days=7)
    assert [each.wait for each in own.gate().requires] == [timedelta(days=10), week, None]
    assert own.timeout == timedelta(days=10).total_seconds()
    assert [each.wait for each in own.gate().requires] == [timedelta(days=10), week, None]
    told = a_sensor(required_task=None, requires=requires, wait="1h")
    assert [each.length for each in told.gate().requires] == [timedelta(hours=1)] * 3


def rendered(
    dag_id: str, run_dag: RunDag, conf: dict[str, Any], *, native: bool = False, **asked: Any
) -> Ended:
    with DAG(dag_id, schedule=None, render_template_as_native_obj=native) as dag:
        TellingSensor(**{"task_id": "gate", "mode": "poke", "wait": "0s", **asked})
    return run_dag(dag, conf)


def test_every_argument_that_names_something_is_a_template(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt())
    conf = {"job": "calc", "month": "2026-10", "store": store_url}
    job = "pay/monthly/{{ dag_run.conf.job }}"
    asked = {
        "variables": {"month": "{{ dag_run.conf['month'] }}"},
        "store": "{{ dag_run.conf.store }}",
    }
    one = rendered("one", run_dag, conf, required_task=job, **asked)
    many = rendered("many", run_dag, conf, requires=[{"task": job}], **asked)
    assert (one.states, many.states) == ({"gate": "success"}, {"gate": "success"})


def test_numbers_and_truths_of_native_templates_are_compared_as_text(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt(variables={"month": "202610", "full": "true", "day": "2026-10-01"}))
    variables = {name: f"{{{{ dag_run.conf['{name}'] }}}}" for name in ("month", "full", "day")}
    conf = {"month": 202610, "full": True, "day": "2026-10-01"}
    asked = {"required_task": CALC, "variables": variables, "store": store_url}
    assert rendered("native", run_dag, conf, native=True, **asked).states == {"gate": "success"}


def test_a_template_that_finds_nothing_opens_no_gate(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt(variables={"month": ""}))
    store.save(a_receipt("none", variables={"month": "None"}))
    asked = {"required_task": CALC, "store": store_url}
    missing = {"month": "{{ dag_run.conf['month'] }}"}
    assert rendered("missing", run_dag, {}, variables=missing, **asked).state == "failed"
    for name, get in (("empty", "get('month', '')"), ("none", "get('month')")):
        variables = {"month": f"{{{{ dag_run.conf.{get} }}}}"}
        ended = rendered(name, run_dag, {}, variables=variables, **asked)
        assert "The variable 'month' is empty" in str(ended.errors["gate"])


def test_the_whole_answer_is_pushed_also_when_it_is_no(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt("run-1", Status.ERROR, error="ValueError: x"))
    asked = {"required_task": CALC, "variables": MONTH, "store": store_url}
    ended = rendered("pushed", run_dag, {}, **asked)
    assert isinstance(ended.errors["gate"], AirflowSensorTimeout)
    answer = ended.returned["gate"]
    assert (answer["verdict"], answer["pins"], answer["unreadable"]) == ("FAIL", [], [])
    assert answer["store"] == store.url
    assert answer["requirements"] == [
        {
            "task": CALC,
            "batch": MONTH,
            "verdict": "FAIL",
            "reason": answer["reason"],
            "satisfied_by": None,
            "newest_run": "run-1",
        }
    ]


def test_a_running_upstream_is_still_waited_for_after_a_minute(
    store: ReceiptStore, store_url: str
) -> None:
    now = datetime.now(UTC)
    began = now - timedelta(seconds=61)
    store.save(a_receipt("run-1", Status.RUNNING, started_at=began, heartbeat_at=now))
    sensor = a_sensor(store=store_url, wait="2h", deferrable=True, on_failed="fail")
    sensor._since = began
    with pytest.raises(TaskDeferred) as deferred:
        sensor.poke({})
    assert deferred.value.timeout > timedelta(hours=1, minutes=58)


def test_building_a_dag_looks_at_no_store(monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.sdk import task

    def blocked(*args: object) -> None:
        raise AssertionError("a DAG file must not look at the store")

    monkeypatch.setattr("ubunye_airflow.hooks.open_store", blocked)
    monkeypatch.setattr("ubunye_airflow.hooks.ReceiptStoreHook.get_connection", blocked)
    from ubunye_airflow import HealthCheckOperator

    with DAG("parsed", schedule=None) as dag:
        a_sensor(store="s3://nowhere/at-all")
        a_sensor(task_id="other", required_task=None, config="missing.yaml")
        HealthCheckOperator(task_id="health", tasks=["pay/*/*"])

        @task.receipt(receipt_task=CALC, variables=MONTH, store_conn_id="nobodys")
        def calc() -> None: ...

        calc()
    assert len(dag.tasks) == 4


def test_a_pattern_does_not_name_the_task_that_asks(store: ReceiptStore, store_url: str) -> None:
    from airflow.sdk import task

    store.save(a_receipt())
    store.save(a_receipt("run-2", Status.RUNNING, task="pay/monthly/send"))
    with DAG("asks", schedule=None):
        asked = {"store": store_url, "required_task": "pay/monthly/*", "wait": "1h"}
        gate, told = a_sensor(**asked), a_sensor(task_id="told", asker="pay/monthly/send", **asked)

        @task.receipt(receipt_task="pay/monthly/send", variables=MONTH, store=store_url)
        def send() -> None: ...

        gate >> send()
    assert gate.poke({})
    assert told.poke({})
    assert not a_sensor(**asked).poke({})
    told.deferrable = True
    store.save(a_receipt("run-3", task="pay/monthly/tax", month="2026-09"))
    with pytest.raises(TaskDeferred) as deferred:
        told.poke({})
    assert deferred.value.trigger.gate.asker == "pay/monthly/send"
