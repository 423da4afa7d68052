"""From Dagster's partitions to variables, windows and receipts."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import ConfigError, Receipt, ReceiptStore, Run, check_upstream
from ubunye_dagster import gated, partition_format, partition_key, recorded

TASK = "pay/monthly/calc"
ZONE = "Africa/Johannesburg"
MONTHLY = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
DAILY = dg.DailyPartitionsDefinition("2026-01-01", timezone=ZONE, end_offset=1000)
REGIONS = dg.StaticPartitionsDefinition(["eu", "za"])
ONE_RUN = dg.BackfillPolicy.single_run()


def recorded_for(
    definition: Any, key: str, variables: Any, store: ReceiptStore, resources: Any
) -> Receipt:
    @dg.asset(partitions_def=definition)
    @recorded(TASK, variables=variables)
    def calc(context: dg.AssetExecutionContext) -> None: ...

    dg.materialize([calc], partition_key=key, resources=resources)
    (receipt,) = store.list_runs(TASK)
    return receipt


@pytest.mark.parametrize(
    ("definition", "key", "format", "text"),
    [
        (MONTHLY, "2026-10-01", "%Y-%m", "2026-10"),
        (
            dg.MonthlyPartitionsDefinition("2026-01", fmt="%Y-%m", end_offset=24),
            "2026-10",
            "%Y-%m",
            "2026-10",
        ),
        (DAILY, "2026-10-05", "%Y%m%d", "20261005"),
        (
            dg.HourlyPartitionsDefinition("2026-10-01-00:00", end_offset=24_000),
            "2026-10-01-03:00",
            "%H",
            "03",
        ),
        (
            dg.WeeklyPartitionsDefinition("2026-01-01", end_offset=150),
            "2026-10-04",
            "%G-W%V",
            "2026-W40",
        ),
    ],
    ids=["month", "month with fmt", "day", "hour", "week"],
)
def test_a_time_is_written_as_the_variable_wants_it(
    store: ReceiptStore, receipts: Any, definition: Any, key: str, format: str, text: str
) -> None:
    variables = {"when": partition_format(format), "mode": "full"}
    receipt = recorded_for(definition, key, variables, store, receipts)
    assert receipt.batch.as_dict() == {"when": text}
    assert receipt.variables["mode"] == "full"


def test_a_day_is_that_of_the_definitions_own_zone(store: ReceiptStore, receipts: Any) -> None:
    receipt = recorded_for(DAILY, "2026-10-05", None, store, receipts)
    assert receipt.window is not None
    assert receipt.window.start.isoformat() == "2026-10-04T22:00:00+00:00"
    assert receipt.window.end.isoformat() == "2026-10-05T22:00:00+00:00"
    assert receipt.window.time_zone == ZONE


def test_without_variables_the_batch_is_the_partitions_key(
    store: ReceiptStore, receipts: Any
) -> None:
    receipt = recorded_for(REGIONS, "za", None, store, receipts)
    assert receipt.variables == {"partition": "za"}
    assert receipt.window is None


def test_several_dimensions_are_several_variables(store: ReceiptStore, receipts: Any) -> None:
    both = dg.MultiPartitionsDefinition({"day": DAILY, "region": REGIONS})
    variables = {"dt": partition_format("%Y-%m-%d"), "region": partition_key("region")}
    receipt = recorded_for(both, "2026-10-05|za", variables, store, receipts)
    assert receipt.variables == {"dt": "2026-10-05", "region": "za"}
    assert receipt.window is not None
    assert receipt.window.time_zone == ZONE


def test_without_variables_each_dimension_is_a_variable(store: ReceiptStore, receipts: Any) -> None:
    both = dg.MultiPartitionsDefinition({"day": DAILY, "region": REGIONS})
    receipt = recorded_for(both, "2026-10-05|za", None, store, receipts)
    assert receipt.variables == {"day": "2026-10-05", "region": "za"}


@pytest.mark.parametrize(
    ("definition", "key", "variables", "why"),
    [
        (REGIONS, "za", {"month": partition_format("%Y-%m")}, "has no time"),
        (REGIONS, "za", {"region": partition_key("region")}, "has no dimension 'region'"),
        (None, None, {"month": partition_format("%Y-%m")}, "this run has none"),
    ],
)
def test_a_variable_that_cannot_be_told_fails_the_run(
    store: ReceiptStore, receipts: Any, definition: Any, key: Any, variables: Any, why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        recorded_for(definition, key, variables, store, receipts)


def test_a_secret_variable_is_masked(store: ReceiptStore, receipts: Any) -> None:
    variables = {"month": "2026-10", "db_password": "hunter2"}
    receipt = recorded_for(None, None, variables, store, receipts)  # type: ignore[arg-type]
    assert receipt.variables == {"month": "2026-10", "db_password": "***"}


def test_an_op_of_a_partitioned_job_has_its_partition(store: ReceiptStore, receipts: Any) -> None:
    @dg.op
    @recorded(TASK, variables={"dt": partition_format("%Y-%m-%d")})
    def calc(context: dg.OpExecutionContext) -> None: ...

    @dg.job(partitions_def=DAILY, resource_defs=receipts)
    def pay() -> None:
        calc()

    pay.execute_in_process(partition_key="2026-10-05")
    (receipt,) = store.list_runs(TASK)
    assert receipt.variables == {"dt": "2026-10-05"}
    assert receipt.window is not None


def materialize_range(asset: Any, resources: Any, first: str, last: str) -> Any:
    tags = {
        "dagster/asset_partition_range_start": first,
        "dagster/asset_partition_range_end": last,
    }
    return dg.materialize([asset], resources=resources, tags=tags, raise_on_error=False)


def test_one_run_for_a_range_leaves_a_receipt_for_each_partition(
    store: ReceiptStore, receipts: Any
) -> None:
    @dg.asset(partitions_def=MONTHLY, backfill_policy=ONE_RUN)
    @recorded(TASK, variables={"month": partition_format("%Y-%m"), "mode": "full", "token": "t"})
    def calc(context: dg.AssetExecutionContext, run: Run) -> None:
        run.count(loaded=3)

    assert materialize_range(calc, receipts, "2026-08-01", "2026-10-01").success
    found = store.list_runs(TASK)
    assert {each.variables["month"]: each.status.value for each in found} == {
        "2026-08": "success",
        "2026-09": "success",
        "2026-10": "success",
    }
    assert {each.variables["mode"] for each in found} == {"full"}
    assert {each.variables["token"] for each in found} == {"***"}
    assert [each.counts.loaded for each in found if each.counts] == [3, 3, 3]
    assert len({each.run_id for each in found}) == 3
    windows = sorted(each.window.start.month for each in found if each.window)
    assert windows == [8, 9, 10]
    for month in ("2026-08", "2026-09", "2026-10"):
        answer = check_upstream(TASK, variables={"month": month}, store=store)
        assert answer.verdict == "PASS"
    assert check_upstream(TASK, variables={"month": "2026-11"}, store=store).verdict == "FAIL"


def test_a_range_that_fails_fails_for_each_partition(store: ReceiptStore, receipts: Any) -> None:
    @dg.asset(partitions_def=DAILY, backfill_policy=ONE_RUN, retry_policy=dg.RetryPolicy())
    @recorded(TASK, variables=lambda context: {"dt": context.partition_key})
    def calc(context: dg.AssetExecutionContext) -> None:
        raise ValueError("no")

    assert not materialize_range(calc, receipts, "2026-10-01", "2026-10-02").success
    found = store.list_runs(TASK)
    assert sorted(each.variables["dt"] for each in found) == [  # two attempts of each
        "2026-10-01",
        "2026-10-01",
        "2026-10-02",
        "2026-10-02",
    ]
    assert {each.status.value for each in found} == {"error"}


def test_of_a_range_every_partition_must_pass(store: ReceiptStore, receipts: Any, put: Put) -> None:
    ran: list[str] = []

    @dg.asset(partitions_def=DAILY, backfill_policy=ONE_RUN)
    @recorded("pay/monthly/send", variables={"dt": partition_format("%Y-%m-%d")})
    @gated(TASK)
    def send(context: dg.AssetExecutionContext) -> None:
        ran.extend(context.partition_keys)

    first = put(run_id="r1", dt="2026-10-01")
    result = materialize_range(send, receipts, "2026-10-01", "2026-10-02")
    assert not result.success
    assert ran == []
    refused = store.list_runs("pay/monthly/send")
    assert [each.was_refused for each in refused] == [True, True]
    assert "1 of 2 partitions may not run. 2026-10-02: " in (refused[0].error or "")

    second = put(run_id="r2", dt="2026-10-02")
    assert materialize_range(send, receipts, "2026-10-01", "2026-10-02").success
    assert ran == ["2026-10-01", "2026-10-02"]
    passed = store.search("pay/monthly/send", limit=2)
    for receipt in passed:
        assert {pin.run_id for pin in receipt.upstreams} == {first.run_id, second.run_id}


def test_a_gate_in_the_body_asks_for_every_partition_of_a_range(
    store: ReceiptStore, receipts: Any, put: Put
) -> None:
    ran: list[str] = []

    @dg.asset(partitions_def=DAILY, backfill_policy=ONE_RUN)
    @recorded("pay/monthly/send", variables={"dt": partition_format("%Y-%m-%d")})
    def send(context: dg.AssetExecutionContext, run: Run) -> None:
        run.require("pay/monthly/*")  # a pattern does not name the task that asks
        ran.extend(context.partition_keys)
        run.count(loaded=3)

    put(run_id="r1", dt="2026-10-01")
    assert not materialize_range(send, receipts, "2026-10-01", "2026-10-02").success
    assert ran == []
    assert [each.was_refused for each in store.list_runs("pay/monthly/send")] == [True, True]

    put(run_id="r2", dt="2026-10-02")
    assert materialize_range(send, receipts, "2026-10-01", "2026-10-02").success
    for receipt in store.search("pay/monthly/send", limit=2):
        assert {pin.run_id for pin in receipt.upstreams} == {"r1", "r2"}
        assert receipt.counts is not None


def test_the_partitions_of_a_range_wait_together(receipts: Any, put: Put) -> None:
    put("running", dt="2026-10-01")
    wait, poll = timedelta(seconds=1), timedelta(milliseconds=100)

    @dg.asset(partitions_def=DAILY, backfill_policy=ONE_RUN)
    @gated({"task": TASK, "wait": wait, "poll": poll}, variables={"dt": partition_key()})
    def send(context: dg.AssetExecutionContext) -> None: ...

    began = time.monotonic()
    assert not materialize_range(send, receipts, "2026-10-01", "2026-10-30").success
    assert time.monotonic() - began < 20  # not thirty seconds
