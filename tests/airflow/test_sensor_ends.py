"""How a gate in a DAG ends: its deadline over tries, and what a refusal that is a skip lets run."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowSensorTimeout

from tests.airflow.conftest import CALC, RAISED, RunDag, TellingSensor, a_receipt
from ubunye_airflow import UpstreamReceiptSensor
from ubunye_core import ReceiptStore

MONTH = {"month": "2026-10"}


@pytest.mark.parametrize("how", [{"mode": "poke"}, {"deferrable": True}], ids=str)
@pytest.mark.parametrize("flag", ["soft_fail", "never_fail"])
def test_soft_fail_makes_a_refusal_a_skip_and_warns_of_what_runs_all_the_same(
    flag: str,
    how: dict[str, Any],
    store: ReceiptStore,
    store_url: str,
    run_dag: RunDag,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from airflow.providers.standard.operators.empty import EmptyOperator

    store.save(a_receipt(month="2026-09"))
    with DAG(f"{flag}_{next(iter(how))}", schedule=None) as dag:
        asked = {"required_task": CALC, "variables": MONTH, "store": store_url, flag: True}
        gate = TellingSensor(task_id="gate", wait="0.2s", poll="0.1s", **asked, **how)
        gate >> EmptyOperator(task_id="held")
        gate >> EmptyOperator(task_id="pays", trigger_rule="none_failed")
    ended = run_dag(dag)
    assert ended.states == {"gate": "skipped", "held": "skipped", "pays": "success"}
    assert "pays (none_failed) would run all the same" in capsys.readouterr().out


class BreaksOnce(TellingSensor):
    """Its first try dies of something else than an answer."""

    looks = 0

    def poke(self, context: Any) -> Any:
        if context["ti"].try_number == 1:
            raise RuntimeError("the secrets backend is away")
        type(self).looks += 1
        return super().poke(context)


@pytest.mark.slow
@pytest.mark.parametrize(
    "how", [{"mode": "poke"}, {"mode": "reschedule"}, {"deferrable": True}], ids=str
)
def test_a_retry_does_not_wait_anew(
    how: dict[str, Any], store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt(month="2026-09"))
    BreaksOnce.looks = 0
    with DAG(f"retry_{'_'.join(map(str, how.values()))}", schedule=None) as dag:
        BreaksOnce(
            task_id="gate",
            required_task=CALC,
            variables=MONTH,
            store=store_url,
            wait="1s",
            poll="0.2s",
            retries=1,
            retry_delay=timedelta(seconds=1.2),
            **how,
        )
    ended = run_dag(dag)
    assert ended.states == {"gate": "failed"}
    assert isinstance(ended.errors["gate"], AirflowSensorTimeout)
    assert BreaksOnce.looks == 1


def test_a_skip_is_handed_on_so_every_task_behind_is_looked_at(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from airflow.providers.standard.operators.empty import EmptyOperator
    from airflow.sdk import TaskGroup, TriggerRule, task

    runs_anyway = ("none_failed", "none_failed_min_one_success", "one_success", "all_done")
    runs_anyway += ("all_done_min_one_success", "always", "one_done", "all_skipped")
    with DAG("behind", schedule=None):
        gate = UpstreamReceiptSensor(
            task_id="gate", required_task=CALC, variables=MONTH, soft_fail=True
        )
        held = EmptyOperator(task_id="held")
        gate >> held
        for rule in TriggerRule:
            if rule is not TriggerRule.ALL_DONE_SETUP_SUCCESS:
                held >> EmptyOperator(task_id=f"x_{rule.value}", trigger_rule=rule)

        @task(trigger_rule="none_failed")
        def mapped(number: int) -> None: ...

        with TaskGroup("group") as group:
            inner = mapped.expand(number=[1, 2])
        held >> group
        inner >> EmptyOperator(task_id="sweep").as_teardown(setups=EmptyOperator(task_id="set_up"))
        EmptyOperator(task_id="beside", trigger_rule="all_done")
    gate._warn_of_open_doors()
    said = capsys.readouterr().out
    assert "group.mapped (none_failed)" in said
    for rule in runs_anyway:
        assert f"x_{rule} ({rule})" in said
    for quiet in ("x_all_success", "x_all_failed", "x_none_skipped", "held", "sweep", "beside"):
        assert f"{quiet} (" not in said


class Counts(TellingSensor):
    """How often it has looked."""

    looks = 0

    def poke(self, context: Any) -> Any:
        type(self).looks += 1
        return super().poke(context)


def test_who_clears_the_task_means_to_wait_anew(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    from airflow import settings
    from airflow.models.taskinstance import TaskInstance, clear_task_instances
    from airflow.sdk.definitions.dag import _run_task

    store.save(a_receipt(month="2026-09"))
    with DAG("cleared", schedule=None) as dag:
        asked = {"required_task": CALC, "variables": MONTH, "store": store_url, "retries": 1}
        gate = Counts(task_id="gate", mode="poke", wait="0.5s", poll="0.1s", **asked)
    assert run_dag(dag).states == {"gate": "failed"}
    session = settings.Session()
    found = session.query(TaskInstance).filter_by(dag_id="cleared").all()
    clear_task_instances(found, session)
    session.commit()
    (ti,) = session.query(TaskInstance).filter_by(dag_id="cleared")
    ti.try_number += 1
    session.commit()
    Counts.looks = 0
    _run_task(ti=ti, task=gate)
    assert isinstance(RAISED["gate"], AirflowSensorTimeout)
    assert Counts.looks > 1
