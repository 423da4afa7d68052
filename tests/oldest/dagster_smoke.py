"""Run in `.venv-oldest` by test_dagster.py: each part for Dagster once, on the oldest Dagster."""

# Fixtures are taken from the tests on the newest Dagster, and asked for by their names.
# ruff: noqa: F401, F811
from __future__ import annotations

from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put, instance, put, receipts, store, url
from tests.oldest.modules import warned_when_all_are_imported
from ubunye_core import Orchestrator, Receipt, ReceiptStore, Run, Status, record_run
from ubunye_dagster import (
    ReceiptGatesComponent,
    build_freshness_checks,
    build_health_checks,
    build_missed_windows_sensor,
    build_receipt_catalog_sensor,
    build_reconcile_sensor,
    build_row_count_checks,
    build_upstream_checks,
    build_upstream_receipt_sensor,
    check_gates,
    define_gated_job,
    gated,
    load_receipt_asset_specs,
    partition_format,
    recorded,
)

CALC, SEND, KEY = "pay/monthly/calc", "pay/monthly/send", "2024-10-01"
MONTHLY = dg.MonthlyPartitionsDefinition("2024-09-01", end_date="2025-01-01")
MONTH = {"month": partition_format("%Y-%m")}
EXTERNAL = dg.AssetSpec(["pay", "monthly", "calc"])


@dg.asset(
    partitions_def=MONTHLY,
    deps=[EXTERNAL],
    retry_policy=dg.RetryPolicy(max_retries=1),
    backfill_policy=dg.BackfillPolicy.single_run(),
)
@recorded(SEND, variables=MONTH)
@gated(CALC)
def send(context: dg.AssetExecutionContext, run: Run) -> dg.MaterializeResult[Any]:
    run.count(loaded=17)
    return dg.MaterializeResult(metadata={"rows": 17})


CHECKS = build_upstream_checks(CALC, variables=MONTH)
JOB = define_gated_job("send_job", [send], CHECKS)


def test_every_module_is_imported_and_none_warns() -> None:
    assert warned_when_all_are_imported("ubunye_dagster") == []


def test_a_gated_job_stops_at_its_check_and_runs_once_the_upstream_has_succeeded(
    receipts: Any, put: Put, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    defs = check_gates(
        dg.Definitions(
            assets=[EXTERNAL, send], asset_checks=CHECKS, jobs=[JOB], resources=receipts
        ),
        on_ungated="error",
    )
    job = defs.resolve_job_def("send_job")
    stopped = job.execute_in_process(instance=instance, partition_key=KEY, raise_on_error=False)
    assert not stopped.success
    assert [check.passed for check in stopped.get_asset_check_evaluations()] == [False]
    assert not store.list_runs(SEND)
    upstream = put(month="2024-10")
    ran = job.execute_in_process(instance=instance, partition_key=KEY)
    assert [check.passed for check in ran.get_asset_check_evaluations()] == [True]
    (receipt,) = store.list_runs(SEND)
    assert (receipt.status, receipt.batch.as_dict()) == (Status.SUCCESS, {"month": "2024-10"})
    assert receipt.upstreams[0].run_id == upstream.run_id
    assert receipt.window is not None
    assert receipt.orchestrator is not None
    assert receipt.orchestrator.ids["partition"] == KEY


def test_a_refusal_in_the_body_is_not_tried_again(
    receipts: Any, put: Put, store: ReceiptStore
) -> None:
    put(month="2024-09")
    result = dg.materialize([send], resources=receipts, partition_key=KEY, raise_on_error=False)
    told = [event.event_type_value for event in result.all_events if event.step_key == "send"]
    assert "STEP_FAILURE" in told
    assert "STEP_UP_FOR_RETRY" not in told
    (receipt,) = store.list_runs(SEND)
    assert (receipt.status, receipt.outcome) == (Status.SKIPPED, "refused")


def test_a_run_for_a_range_leaves_a_receipt_for_each_partition(
    receipts: Any, put: Put, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    for month in ("2024-09", "2024-10"):
        put(run_id=month, month=month)
    result = dg.materialize(
        [send], resources=receipts, instance=instance,
        tags={
            "dagster/asset_partition_range_start": "2024-09-01",
            "dagster/asset_partition_range_end": KEY,
        },
    )  # fmt: skip
    assert result.success
    months = sorted(receipt.batch.as_dict()["month"] for receipt in store.list_runs(SEND))
    assert months == ["2024-09", "2024-10"]


def test_checks_of_health_freshness_and_rows_are_evaluated(
    receipts: Any, put: Put, instance: dg.DagsterInstance
) -> None:
    put(month="2024-10")
    checks = [
        *build_health_checks([CALC]),
        *build_freshness_checks([CALC], max_age="1d"),
        *build_row_count_checks([CALC], min_rows=1),
    ]
    defs = dg.Definitions(
        assets=[EXTERNAL],
        asset_checks=checks,
        jobs=[dg.define_asset_job("look", dg.AssetSelection.checks(*checks))],
        resources=receipts,
    )
    result = defs.resolve_job_def("look").execute_in_process(instance=instance)
    passed = {each.check_name: each.passed for each in result.get_asset_check_evaluations()}
    assert len(passed) == 3
    assert passed["receipt_health"] is True
    assert sorted(passed.values()) == [False, False, True]  # years old, and without a count


def ticked(sensor: dg.SensorDefinition, resources: Any, instance: dg.DagsterInstance) -> Any:
    """What a sensor asks for, evaluated as its daemon does."""
    defs = dg.Definitions(
        assets=[EXTERNAL, send], jobs=[JOB], sensors=[sensor], asset_checks=CHECKS,
        resources=resources,
    )  # fmt: skip
    context = dg.build_sensor_context(
        instance=instance,
        repository_def=defs.get_repository_def(),
        resources=resources,
        sensor_name=sensor.name,
    )
    with dg.partition_loading_context(dynamic_partitions_store=instance):
        return sensor.evaluate_tick(context)


def test_a_success_upstream_is_requested_once_as_its_partition(
    receipts: Any, put: Put, instance: dg.DagsterInstance
) -> None:
    put(month="2024-10")
    put(run_id="r2", month="1999-01")
    sensor = build_upstream_receipt_sensor(
        "when_calculated", CALC, partitions_def=MONTHLY, variables=MONTH, job=JOB
    )
    tick = ticked(sensor, receipts, instance)
    (request,) = tick.run_requests
    assert (request.partition_key, request.run_key) == (KEY, KEY)
    assert tick.cursor


def test_what_was_missed_is_requested_oldest_first(
    receipts: Any, put: Put, instance: dg.DagsterInstance
) -> None:
    put(task=SEND, month="2024-10")
    sensor = build_missed_windows_sensor(
        "catch_up", SEND, partitions_def=MONTHLY, variables=MONTH, catchup="all", cap=2,
        since="2024-01-01T00:00:00Z", job=JOB,
    )  # fmt: skip
    tick = ticked(sensor, receipts, instance)
    assert [request.run_key for request in tick.run_requests] == ["2024-09-01:0", "2024-11-01:0"]


def test_receipts_stand_in_the_catalog_and_their_tasks_are_assets(
    receipts: Any, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    with record_run(CALC, variables={"month": "2024-10"}, store=store) as run:
        run.count(loaded=1)
    assert [spec.key for spec in load_receipt_asset_specs("pay/*/*", store=store)] == [EXTERNAL.key]
    sensor = build_receipt_catalog_sensor("catalog", [CALC], variables=MONTH)
    tick = ticked(sensor, receipts, instance)
    (event,) = [each for each in tick.asset_events if isinstance(each, dg.AssetMaterialization)]
    assert event.asset_key == EXTERNAL.key


def test_a_run_that_died_without_a_word_is_ended(
    receipts: Any, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    @dg.asset
    def fails() -> None:
        raise ValueError("killed")

    dead = dg.materialize([fails], instance=instance, raise_on_error=False)
    record = instance.get_run_record_by_id(dead.run_id)
    assert record is not None
    store.save(
        Receipt(
            task=CALC, run_id="r1", status=Status.RUNNING, started_at=record.create_timestamp,
            orchestrator=Orchestrator(
                name="dagster", ids={"run_id": dead.run_id, "job": "j", "step": "calc"}
            ),
        )
    )  # fmt: skip
    ticked(build_reconcile_sensor("ended"), receipts, instance)
    assert store.load(CALC, "r1").status is Status.INTERRUPTED


def test_an_asset_behind_a_task_with_a_dot_needs_another_key(store: ReceiptStore) -> None:
    task, key = "pay/v1.2/calc", dg.AssetKey(["pay", "v1_2", "calc"])
    (dotted,) = load_receipt_asset_specs([task], store=store)
    (renamed,) = load_receipt_asset_specs([task], store=store, asset_keys={task: key})

    def after() -> None: ...

    with pytest.raises(dg.DagsterInvalidDefinitionError, match="not a valid name"):
        dg.asset(deps=[dotted])(after)
    assert dg.asset(deps=[renamed])(after).dependency_keys == {key}


def test_a_component_is_built_from_yaml() -> None:
    component = ReceiptGatesComponent.resolve_from_yaml(
        "gates:\n- requires: pay/monthly/calc\n  variables: {month: {partition_format: '%Y-%m'}}\n"
    )
    assert isinstance(component, ReceiptGatesComponent)
    defs = dg.build_defs_for_component(component)
    (check,) = defs.asset_checks or ()
    assert [spec.asset_key for spec in check.check_specs] == [EXTERNAL.key]
