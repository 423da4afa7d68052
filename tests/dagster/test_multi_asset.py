"""Steps that make several assets, run several times in a run, or for partitions of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import Receipt, ReceiptStore, Run, Status, record_run
from ubunye_dagster import gated, partition_format, partition_key, recorded

TASK, UPSTREAM = "pay/monthly/both", "pay/monthly/calc"
ONE_RUN = dg.BackfillPolicy.single_run()
REGIONS = dg.StaticPartitionsDefinition(["eu", "us", "za"])
DAILY = dg.DailyPartitionsDefinition("2026-10-01", end_offset=1000)


def receipts_of(store: ReceiptStore, task: str = TASK) -> list[Receipt]:
    return list(store.list_runs(task))


@pytest.fixture
def both(ran: list[str]) -> dg.AssetsDefinition:
    @dg.multi_asset(
        specs=[dg.AssetSpec("adults", skippable=True), dg.AssetSpec("children", skippable=True)],
        can_subset=True,
    )
    @recorded(TASK, variables={"month": "2026-10"})
    @gated(UPSTREAM)
    def make_both(context: dg.AssetExecutionContext, run: Run) -> Iterator[Any]:
        for key in sorted(context.selected_asset_keys):
            name = key.to_user_string()
            ran.append(name)
            run.count(loaded=1)
            yield dg.MaterializeResult(asset_key=key)

    return make_both


@pytest.fixture
def ran() -> list[str]:
    return []


def test_a_multi_asset_is_one_step_with_one_receipt_whatever_part_of_it_is_made(
    both: dg.AssetsDefinition, store: ReceiptStore, receipts: Any, put: Put, ran: list[str]
) -> None:
    put(month="2026-10")
    assert dg.materialize([both], resources=receipts).success
    assert ran == ["adults", "children"]
    assert dg.materialize([both], selection="children", resources=receipts).success
    assert ran == ["adults", "children", "children"]
    newest, first = receipts_of(store)
    assert newest.status is first.status is Status.SUCCESS
    assert [pin.task for pin in newest.upstreams] == [UPSTREAM]


def test_a_gate_stops_a_part_of_a_multi_asset_as_it_stops_the_whole(
    both: dg.AssetsDefinition, store: ReceiptStore, receipts: Any, ran: list[str]
) -> None:
    for selection in (None, "adults"):
        result = dg.materialize(
            [both], selection=selection, resources=receipts, raise_on_error=False
        )
        assert not result.success
        assert result.get_asset_materialization_events() == []
    assert ran == []
    assert [each.was_refused for each in receipts_of(store)] == [True, True]


def test_which_part_was_made_may_be_a_variable(store: ReceiptStore, receipts: Any) -> None:
    """So that each part is a batch of its own, and a gate can ask for one of them."""

    def parts(context: Any) -> dict[str, str]:
        return {"parts": "+".join(sorted(k.to_user_string() for k in context.selected_asset_keys))}

    @dg.multi_asset(
        specs=[dg.AssetSpec("adults", skippable=True), dg.AssetSpec("children", skippable=True)],
        can_subset=True,
    )
    @recorded(TASK, variables=parts)
    def make(context: dg.AssetExecutionContext) -> Iterator[Any]:
        for key in context.selected_asset_keys:
            yield dg.MaterializeResult(asset_key=key)

    dg.materialize([make], resources=receipts)
    dg.materialize([make], selection="adults", resources=receipts)
    assert {each.variables["parts"] for each in receipts_of(store)} == {"adults+children", "adults"}


def test_each_asset_of_a_step_may_have_a_receipt_of_its_own(
    store: ReceiptStore, receipts: Any
) -> None:
    @dg.multi_asset(specs=[dg.AssetSpec("adults"), dg.AssetSpec("children")])
    def make() -> Iterator[Any]:
        for name in ("adults", "children"):
            with record_run(f"pay/monthly/{name}", variables={"month": "2026-10"}, store=store):
                if name == "children":
                    raise ValueError("no")
            yield dg.MaterializeResult(asset_key=name)

    assert not dg.materialize([make], resources=receipts, raise_on_error=False).success
    (adults,), (children,) = (
        receipts_of(store, f"pay/monthly/{name}") for name in ("adults", "children")
    )
    assert (adults.status, children.status) == (Status.SUCCESS, Status.ERROR)


def test_each_run_of_a_dynamic_op_is_a_step_with_its_own_receipt_and_attempts(
    store: ReceiptStore, receipts: Any
) -> None:
    @dg.op(out=dg.DynamicOut(str))
    def files() -> Iterator[Any]:
        for name in ("a", "b"):
            yield dg.DynamicOutput(name, mapping_key=name)

    @dg.op(retry_policy=dg.RetryPolicy(max_retries=1))
    @recorded(TASK, variables={"month": "2026-10"})
    def load(context: dg.OpExecutionContext, file: str) -> str:
        if file == "b" and context.retry_number == 0:
            raise ValueError("not yet")
        return file

    @dg.job(resource_defs=receipts)
    def loads() -> None:
        files().map(load)

    assert loads.execute_in_process().success
    found = sorted(
        (each.orchestrator.ids["step"], each.orchestrator.attempt, each.status.value)
        for each in receipts_of(store)
        if each.orchestrator is not None
    )
    assert found == [("load[a]", 1, "success"), ("load[b]", 1, "error"), ("load[b]", 2, "success")]


def test_an_op_inside_of_a_graph_asset_knows_its_partition(
    store: ReceiptStore, receipts: Any
) -> None:
    @dg.op
    @recorded(TASK, variables={"dt": partition_key()})
    def load(context: dg.OpExecutionContext) -> int:
        return 1

    @dg.graph_asset(partitions_def=DAILY)
    def loaded() -> int:
        return load()

    assert dg.materialize([loaded], partition_key="2026-10-05", resources=receipts).success
    (receipt,) = receipts_of(store)
    assert receipt.variables == {"dt": "2026-10-05"}
    assert receipt.window is not None
    assert receipt.orchestrator is not None
    assert receipt.orchestrator.ids["step"] == "loaded.load"


def ranged(
    definition: Any, variables: Any, first: str, last: str, resources: Any, instance: Any
) -> None:
    @dg.asset(partitions_def=definition, backfill_policy=ONE_RUN)
    @recorded(TASK, variables=variables)
    def calc(context: dg.AssetExecutionContext) -> None: ...

    tags = {
        "dagster/asset_partition_range_start": first,
        "dagster/asset_partition_range_end": last,
    }
    assert dg.materialize([calc], resources=resources, tags=tags, instance=instance).success


def test_a_range_of_keys_that_are_no_times_has_a_receipt_for_each(
    store: ReceiptStore, receipts: Any, instance: dg.DagsterInstance
) -> None:
    ranged(REGIONS, {"region": partition_key()}, "eu", "us", receipts, instance)
    assert {each.variables["region"]: each.window for each in receipts_of(store)} == {
        "eu": None,
        "us": None,
    }


def test_a_range_of_keys_that_were_added_while_dagster_runs_has_a_receipt_for_each(
    store: ReceiptStore, receipts: Any, instance: dg.DagsterInstance
) -> None:
    files = dg.DynamicPartitionsDefinition(name="files")
    instance.add_dynamic_partitions("files", ["a.csv", "b.csv", "c.csv"])
    ranged(files, {"file": partition_key()}, "b.csv", "c.csv", receipts, instance)
    assert {each.variables["file"] for each in receipts_of(store)} == {"b.csv", "c.csv"}


def test_a_key_that_was_added_while_dagster_runs_is_the_batch(
    store: ReceiptStore, receipts: Any, instance: dg.DagsterInstance
) -> None:
    files = dg.DynamicPartitionsDefinition(name="files")
    instance.add_dynamic_partitions("files", ["a.csv"])

    @dg.asset(partitions_def=files)
    @recorded(TASK, variables={"file": partition_key()})
    def calc(context: dg.AssetExecutionContext) -> None: ...

    dg.materialize([calc], partition_key="a.csv", resources=receipts, instance=instance)
    (receipt,) = receipts_of(store)
    assert receipt.variables == {"file": "a.csv"}
    assert receipt.window is None


def test_a_range_of_two_dimensions_has_a_receipt_for_each_with_the_window_of_its_time(
    store: ReceiptStore, receipts: Any, instance: dg.DagsterInstance
) -> None:
    definition = dg.MultiPartitionsDefinition({"day": DAILY, "region": REGIONS})
    variables = {"dt": partition_format("%Y-%m-%d"), "region": partition_key("region")}
    ranged(definition, variables, "2026-10-01|eu", "2026-10-02|eu", receipts, instance)
    found = {
        (each.variables["dt"], each.variables["region"]): each.window for each in receipts_of(store)
    }
    assert sorted(found) == [("2026-10-01", "eu"), ("2026-10-02", "eu")]
    window = found["2026-10-02", "eu"]
    assert window is not None
    assert window.start == datetime(2026, 10, 2, tzinfo=UTC)
    assert window.end == datetime(2026, 10, 3, tzinfo=UTC)


def test_the_two_hours_that_a_clock_shows_twice_are_two_windows(
    store: ReceiptStore, receipts: Any
) -> None:
    hourly = dg.HourlyPartitionsDefinition("2024-10-26-00:00", timezone="Europe/London")
    fold = [key for key in hourly.get_partition_keys() if key.startswith("2024-10-27-01:00")]
    assert len(fold) == 2

    @dg.asset(partitions_def=hourly)
    @recorded(TASK, variables={"hour": partition_key()})
    def calc(context: dg.AssetExecutionContext) -> None: ...

    for key in fold:
        assert dg.materialize([calc], partition_key=key, resources=receipts).success
    starts = [each.window.start.hour for each in receipts_of(store) if each.window]
    assert sorted(starts) == [0, 1]
    assert len({each.variables["hour"] for each in receipts_of(store)}) == 2
