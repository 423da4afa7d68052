"""What a step of Dagster leaves on record."""

from __future__ import annotations

import asyncio
import os
import pwd
from collections.abc import Iterator
from typing import Any

import dagster as dg
import pandas as pd
import pytest

from ubunye_core import ConfigError, Receipt, ReceiptStore, Run, Status
from ubunye_dagster import ReceiptStoreResource, gated, partition_format, recorded

TASK = "pay/monthly/calc"
ME = pwd.getpwuid(os.getuid()).pw_name
"""Who runs the test: Dagster itself does not know who launches a run."""
MONTHLY = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
MONTH = {"month": partition_format("%Y-%m")}


class Settings(dg.Config):
    factor: int


class Bank(dg.ConfigurableResource):  # type: ignore[type-arg]
    name: str


def run(asset: Any, resources: Any, **arguments: Any) -> dg.ExecuteInProcessResult:
    return dg.materialize([asset], resources=resources, raise_on_error=False, **arguments)


def only(store: ReceiptStore, task: str = TASK) -> Receipt:
    (receipt,) = store.list_runs(task)
    return receipt


def test_a_materialized_month_leaves_a_receipt_with_what_it_read_and_wrote(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    seen: list[Status] = []

    @dg.asset(partitions_def=MONTHLY)
    @recorded(TASK, variables=MONTH)
    def calc(context: dg.AssetExecutionContext, run: Run) -> None:
        seen.append(only(store).status)
        run.read("people", pd.DataFrame({"id": [1, 2]}))
        run.wrote("adults", pd.DataFrame({"id": [1]}))

    result = run(calc, receipts, partition_key="2026-09-01")
    assert result.success
    assert seen == [Status.RUNNING]
    receipt = only(store)
    assert receipt.status is Status.SUCCESS
    assert receipt.variables == {"month": "2026-09"}
    assert [(s.name, s.row_count, s.data_hash is not None) for s in receipt.inputs] == [
        ("people", 2, True)
    ]
    assert [s.name for s in receipt.outputs] == ["adults"]
    assert receipt.window is not None
    assert receipt.window.start.isoformat() == "2026-09-01T00:00:00+00:00"
    assert receipt.window.end.isoformat() == "2026-10-01T00:00:00+00:00"
    assert receipt.window.time_zone == "UTC"
    assert receipt.orchestrator is not None
    assert receipt.orchestrator.name == "dagster"
    assert receipt.orchestrator.ids["run_id"] == result.run_id
    assert receipt.orchestrator.ids["step"] == "calc"
    assert (receipt.orchestrator.attempt, receipt.orchestrator.max_attempts) == (1, 1)
    assert receipt.code_hash is not None


def test_the_code_on_record_is_the_functions_own_file(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    from ubunye_core import record_run

    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None: ...

    run(calc, receipts)
    with record_run("pay/monthly/here", store=store, code=__file__) as here:
        pass
    assert only(store).code_hash == here.receipt.code_hash


def test_a_failed_asset_leaves_its_error_and_still_fails(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext, run: Run) -> None:
        run.read("people", pd.DataFrame({"id": [1]}))
        raise ValueError("no such person")

    assert not run(calc, receipts).success
    receipt = only(store)
    assert receipt.status is Status.ERROR
    assert receipt.error == "ValueError: no such person"
    assert [step.name for step in receipt.inputs] == ["people"]


def test_the_message_of_an_error_can_be_kept_out(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset
    @recorded(TASK, record_errors="type")
    def calc(context: dg.AssetExecutionContext) -> None:
        raise ValueError("Ada Lovelace")

    run(calc, receipts)
    assert only(store).error == "ValueError"


def test_each_attempt_of_a_retried_step_has_its_receipt(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset(retry_policy=dg.RetryPolicy(max_retries=2))
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None:
        if context.retry_number < 2:
            raise ValueError("not yet")

    assert run(calc, receipts).success
    found = store.list_runs(TASK)
    assert [each.status for each in found] == [Status.SUCCESS, Status.ERROR, Status.ERROR]
    attempts = [each.orchestrator for each in found]
    assert [(a.attempt, a.max_attempts) for a in attempts if a] == [(3, 3), (2, 3), (1, 3)]
    assert len({a.scheduled_run for a in attempts if a}) == 1
    assert [each.has_tries_left for each in found] == [False, True, True]


def test_a_failure_that_forbids_retries_has_no_tries_left(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset(retry_policy=dg.RetryPolicy(max_retries=2))
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None:
        raise dg.Failure("hopeless", allow_retries=False)

    run(calc, receipts)
    assert only(store).status is Status.ERROR
    assert not only(store).has_tries_left


def test_a_requested_retry_has_tries_left_until_the_last(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None:
        raise dg.RetryRequested(max_retries=1)

    assert not run(calc, receipts).success
    assert [each.has_tries_left for each in store.list_runs(TASK)] == [False, True]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, dg.DagsterExecutionInterruptedError])
def test_an_interrupted_step_is_on_record_as_interrupted(
    store: ReceiptStore, receipts: dict[str, Any], kind: type[BaseException]
) -> None:
    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None:
        raise kind

    with pytest.raises(BaseException):  # noqa: B017, PT011  # Dagster may turn one into another
        dg.materialize([calc], resources=receipts)
    assert only(store).status is Status.INTERRUPTED


def test_a_generator_is_recorded_until_its_end(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext, run: Run) -> Iterator[Any]:
        yield dg.AssetObservation("calc")
        run.count(loaded=3)
        yield dg.MaterializeResult(metadata={"rows": 3})

    result = run(calc, receipts)
    assert result.success
    assert only(store).status is Status.SUCCESS
    assert only(store).counts is not None
    (made,) = result.asset_materializations_for_node("calc")
    assert made.metadata["rows"].value == 3


def test_a_generator_that_fails_after_a_yield_is_an_error(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> Iterator[Any]:
        yield dg.AssetObservation("calc")
        raise ValueError("halfway")

    assert not run(calc, receipts).success
    assert only(store).status is Status.ERROR


def test_an_async_function_is_recorded_while_it_runs(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    seen: list[Status] = []

    @dg.asset
    @recorded(TASK)
    async def calc(context: dg.AssetExecutionContext) -> int:
        await asyncio.sleep(0)
        seen.append(only(store).status)
        return 5

    result = run(calc, receipts)
    assert result.success
    assert result.output_for_node("calc") == 5
    assert seen == [Status.RUNNING]
    assert only(store).status is Status.SUCCESS


def test_an_async_generator_is_recorded_until_its_end(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset
    @recorded(TASK)
    async def calc(context: dg.AssetExecutionContext) -> Any:  # Dagster knows no AsyncIterator
        yield dg.AssetObservation("calc")
        await asyncio.sleep(0)
        yield dg.MaterializeResult()

    assert run(calc, receipts).success
    assert only(store).status is Status.SUCCESS


def test_an_op_with_config_resources_and_inputs_is_recorded(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.op
    def people() -> int:
        return 3

    @dg.op
    @recorded(TASK, variables=lambda context: {"job": context.job_name})
    def calc(
        context: dg.OpExecutionContext, people: int, config: Settings, bank: Bank, run: Run
    ) -> str:
        run.count(loaded=people)
        return f"{people * config.factor} to {bank.name}"

    @dg.job(resource_defs={**receipts, "bank": Bank(name="First")})
    def pay() -> None:
        calc(people())

    result = pay.execute_in_process(run_config={"ops": {"calc": {"config": {"factor": 2}}}})
    assert result.output_for_node("calc") == "6 to First"
    assert only(store).variables == {"job": "pay"}


def test_a_function_may_have_the_store_as_its_own_resource(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext, receipts: ReceiptStoreResource) -> str:
        return receipts.get_store().url

    assert run(calc, receipts).output_for_node("calc") == store.url
    assert only(store).status is Status.SUCCESS


def test_a_multi_asset_is_recorded_once(store: ReceiptStore, receipts: dict[str, Any]) -> None:
    @dg.multi_asset(specs=[dg.AssetSpec("one"), dg.AssetSpec("two")])
    @recorded(TASK)
    def both(context: dg.AssetExecutionContext) -> Iterator[Any]:
        yield dg.MaterializeResult("one")
        yield dg.MaterializeResult("two")

    assert run(both, receipts).success
    assert only(store).status is Status.SUCCESS


def test_an_asset_can_be_called_directly(store: ReceiptStore, receipts: dict[str, Any]) -> None:
    @dg.asset(partitions_def=MONTHLY)
    @recorded(TASK, variables=MONTH)
    def calc(context: dg.AssetExecutionContext, run: Run) -> str:
        return run.variables["month"]

    context = dg.build_asset_context(partition_key="2026-09-01", resources=receipts)
    assert calc(context) == "2026-09"
    receipt = only(store)
    assert receipt.orchestrator is None
    assert receipt.window is not None
    assert receipt.triggered_by is not None
    assert receipt.triggered_by.asserted_by == "os-user"


def test_an_op_can_be_called_directly(store: ReceiptStore, receipts: dict[str, Any]) -> None:
    @dg.op
    @recorded(TASK, variables={"month": "2026-10"})
    def calc(context: dg.OpExecutionContext, amount: int) -> int:
        return amount + 1

    assert calc(dg.build_op_context(resources=receipts), 1) == 2
    assert only(store).variables == {"month": "2026-10"}


@pytest.mark.parametrize(
    ("tags", "kind", "actor", "reason"),
    [
        ({}, "manual", ME, None),
        ({"user": "thandi", "ubunye/reason": "late file"}, "manual", "thandi", "late file"),
        ({"dagster/schedule_name": "monthly"}, "schedule", None, None),
        ({"dagster/sensor_name": "calculated"}, "sensor", None, None),
        (
            {"dagster/sensor_name": "auto", "dagster/from_automation_condition": "true"},
            "asset",
            None,
            None,
        ),
        ({"dagster/backfill": "b1", "dagster/schedule_name": "monthly"}, "backfill", None, None),
    ],
)
def test_a_receipt_says_what_launched_the_run(
    store: ReceiptStore,
    receipts: dict[str, Any],
    tags: dict[str, str],
    kind: str,
    actor: str | None,
    reason: str | None,
) -> None:
    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None: ...

    run(calc, receipts, tags=tags)
    by = only(store).triggered_by
    assert by is not None
    assert (by.kind, by.actor, by.reason) == (kind, actor, reason)
    assert by.asserted_by == {None: None, ME: "os-user"}.get(actor, "dagster")


def test_a_store_that_cannot_be_written_does_not_fail_the_asset(
    tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "a-file"
    file.write_text("in the way")

    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> int:
        return 1

    assert run(calc, {"receipts": ReceiptStoreResource(url=str(file))}).success
    assert "could not be saved" in caplog.text


def test_a_function_without_a_context_is_refused_when_it_is_decorated() -> None:
    with pytest.raises(ConfigError, match="first parameter be 'context'"):

        @recorded(TASK)
        def calc() -> None: ...


def test_the_wrong_order_of_decorators_is_refused() -> None:
    says = "what is below it is of type AssetsDefinition. It goes below Dagster's own decorator"
    with pytest.raises(ConfigError, match=says):

        @recorded(TASK)
        @dg.asset
        def calc(context) -> None: ...  # type: ignore[no-untyped-def]


def test_a_gate_above_the_recorder_is_refused() -> None:
    with pytest.raises(ConfigError, match="@asset, @recorded, @gated"):

        @gated("pay/monthly/other")
        @recorded(TASK)
        def calc(context: dg.AssetExecutionContext) -> None: ...


def test_a_name_that_is_no_task_is_refused_when_it_is_decorated() -> None:
    with pytest.raises(ConfigError, match="is not a task"):
        recorded("pay/calc")


def test_a_job_that_runs_twice_has_two_receipts(
    store: ReceiptStore, receipts: dict[str, Any]
) -> None:
    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None: ...

    run(calc, receipts)
    run(calc, receipts)
    assert len(store.list_runs(TASK)) == 2
