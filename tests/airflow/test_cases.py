"""What users ran into with manual runs and double ones, on Airflow. Numbers are of the cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowSkipException, TaskDeferred

from tests.airflow.conftest import CALC, Ended, RunDag
from ubunye_airflow import record_airflow_run
from ubunye_core import (
    IfHeld,
    Policy,
    Receipt,
    ReceiptStore,
    RunRefusedError,
    Status,
    claim,
)

MONTH = {"month": "{{ dag_run.conf.month }}"}
RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> Iterator[None]:
    RAN.clear()
    yield
    RAN.clear()


def run_calc(run_dag: RunDag, dag_id: str, store_url: str, conf: Any, **how: Any) -> Ended:
    with DAG(dag_id, schedule=None) as dag:

        @task.receipt(receipt_task=CALC, variables=MONTH, store=store_url, **how)
        def calc(run: Any) -> None:
            RAN.append(run.variables["month"])

        calc()
    return run_dag(dag, conf)


def newest(store: ReceiptStore) -> Receipt:
    return store.list_runs(CALC)[0]


@pytest.mark.slow
def test_case_26_two_manual_triggers_of_one_window_leave_two_receipts_and_one_run(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    conf = {
        "month": "2026-10",
        "window": {"start": "2026-10-01T00:00:00Z", "end": "2026-11-01T00:00:00Z"},
    }
    first = run_calc(run_dag, "case_26", store_url, conf, guard=True)
    second = run_calc(run_dag, "case_26", store_url, conf, guard=True)
    assert (first.state, second.state) == ("success", "failed")
    refused, succeeded = store.list_runs(CALC)
    assert (succeeded.status, refused.status) == (Status.SUCCESS, Status.SKIPPED)
    assert refused.was_refused
    assert f"run {succeeded.run_id} succeeded" in (refused.error or "")
    assert succeeded.window == refused.window
    ids = [each.orchestrator.ids["run_id"] for each in (refused, succeeded) if each.orchestrator]
    assert len(set(ids)) == 2
    assert RAN == ["2026-10"]

    rerun = {**conf, "again": True}
    how = {"guard": True, "rerun": "{{ dag_run.conf.again }}"}
    assert run_calc(run_dag, "case_26", store_url, rerun, **how).state == "success"
    assert RAN == ["2026-10", "2026-10"]


@pytest.mark.slow
def test_case_27_a_manual_run_leaves_who_who_says_so_and_why(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    conf = {"month": "2026-10", "reason": "the bank sent it again"}
    assert run_calc(run_dag, "case_27", store_url, conf).state == "success"
    by = newest(store).triggered_by
    assert by is not None
    assert (by.kind, by.actor, by.asserted_by, by.reason) == (
        "manual",
        "dag_test",
        "airflow",
        "the bank sent it again",
    )


def test_case_27_a_manual_run_without_a_reason_is_refused_where_the_policy_asks_for_one(
    store: ReceiptStore, store_url: str, run_dag: RunDag, tmp_path: Path
) -> None:
    policy = tmp_path / "receipts.yaml"
    policy.write_text("policy: {require_reason: true}")
    how = {"policy": policy}
    ended = run_calc(run_dag, "case_27_policy", store_url, {"month": "2026-10"}, **how)
    assert (ended.state, RAN) == ("failed", [])
    assert newest(store).was_refused
    conf = {"month": "2026-10", "reason": "asked for by the auditor"}
    assert run_calc(run_dag, "case_27_policy", store_url, conf, **how).state == "success"
    assert RAN == ["2026-10"]


def context(dag_run: Any = None) -> dict[str, Any]:
    from types import SimpleNamespace

    ti = SimpleNamespace(
        dag_id="d", run_id="r", task_id="t", map_index=-1, try_number=1, max_tries=1, log_url=None
    )
    return {"ti": ti, "dag_run": dag_run, "task": SimpleNamespace(upstream_list=[])}


@pytest.mark.parametrize(
    ("if_held", "raised"),
    [(IfHeld.FAIL, RunRefusedError), (IfHeld.SKIP, AirflowSkipException)],
    ids=str,
)
def test_case_39_a_batch_that_another_run_holds_fails_or_skips_as_the_policy_says(
    if_held: IfHeld, raised: type[Exception], store: ReceiptStore, store_url: str
) -> None:
    assert claim(CALC, {"month": "2026-10"}, run_id="other", store=store)
    policy = Policy(guard=True, if_held=if_held)
    recording = record_airflow_run(
        CALC, variables={"month": "2026-10"}, store=store_url, policy=policy, context=context()
    )
    with pytest.raises(raised, match="is being run"), recording:
        RAN.append("2026-10")
    assert RAN == []
    assert newest(store).was_refused


def test_a_guarded_run_that_defers_goes_on_with_its_claim(
    store: ReceiptStore, store_url: str
) -> None:
    def recording() -> Any:
        return record_airflow_run(
            CALC, variables={"month": "2026-10"}, store=store_url, guard=True, context=context()
        )

    with pytest.raises(TaskDeferred), recording():
        raise TaskDeferred(trigger=None, method_name="resume")
    assert not claim(CALC, {"month": "2026-10"}, run_id="other", store=store)
    with recording():
        RAN.append("2026-10")
    (only,) = store.list_runs(CALC)
    assert only.status is Status.SUCCESS


def test_a_word_that_is_neither_yes_nor_no_does_not_start_a_rerun(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    how = {"guard": True, "rerun": "{{ dag_run.conf.again }}"}
    conf = {"month": "2026-10", "again": "perhaps"}
    assert run_calc(run_dag, "case_rerun", store_url, conf, **how).state == "failed"
    assert RAN == []
