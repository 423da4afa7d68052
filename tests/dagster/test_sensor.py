"""A sensor launches one run for each partition whose upstream has succeeded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import DAY, Put
from ubunye_core import ConfigError, Receipt, ReceiptStore, Status
from ubunye_dagster import (
    ReceiptStoreResource,
    build_missed_windows_sensor,
    build_upstream_receipt_sensor,
    gated,
    partition_format,
    partition_key,
    recorded,
)

UPSTREAM, TASK = "pay/monthly/calc", "pay/monthly/send"
MONTHLY = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
MONTH = {"month": partition_format("%Y-%m")}
Tick = Callable[..., Any]


@dg.asset(partitions_def=MONTHLY)
@recorded(TASK, variables=MONTH)
@gated(UPSTREAM)
def send(context: dg.AssetExecutionContext) -> None: ...


@dg.asset
@recorded(TASK)
def whole(context: dg.AssetExecutionContext) -> None: ...


@pytest.fixture
def tick(receipts: Any, instance: dg.DagsterInstance) -> Tick:
    """Evaluate a sensor as its daemon does, but for launching and dropping known run keys."""

    def evaluate(
        cursor: str | None = None,
        *,
        resources: Any = receipts,
        target: Any = send,
        **arguments: Any,
    ) -> Any:
        if target is send:
            arguments = {"partitions_def": MONTHLY, "variables": MONTH, **arguments}
        job = dg.define_asset_job("pay", [target])
        sensor = build_upstream_receipt_sensor("calculated", UPSTREAM, job=job, **arguments)
        defs = dg.Definitions(assets=[target], jobs=[job], sensors=[sensor], resources=resources)
        context = dg.build_sensor_context(
            instance=instance,
            cursor=cursor,
            repository_def=defs.get_repository_def(),
            resources=resources,
            sensor_name="calculated",
        )
        # The daemon gives a tick its instance; build_sensor_context only half does.
        with dg.partition_loading_context(dynamic_partitions_store=instance):
            return sensor.evaluate_tick(context)

    return evaluate


def keys(result: Any) -> list[str]:
    return [request.partition_key for request in result.run_requests]


def run_keys(result: Any) -> list[str]:
    return [request.run_key for request in result.run_requests]


def test_each_new_success_is_requested_once(tick: Tick, put: Put) -> None:
    put(month="2026-09")
    first = tick()
    assert keys(first) == ["2026-09-01"]
    request = first.run_requests[0]
    assert request.tags["ubunye/upstream"] == UPSTREAM
    assert request.tags["ubunye/receipt"] == "r1"
    assert request.tags["dagster/partition"] == "2026-09-01"

    again = tick(first.cursor)
    assert keys(again) == []
    assert "No new success" in again.skip_message

    put(run_id="r2", month="2026-10")
    assert keys(tick(again.cursor)) == ["2026-10-01"]


def test_what_has_not_succeeded_is_not_requested(tick: Tick, put: Put) -> None:
    for number, status in enumerate(("running", "error", "interrupted", "skipped")):
        put(status, run_id=f"r{number}", month=f"2026-0{number + 1}")
    assert keys(tick()) == []


@pytest.mark.parametrize("variables", [{"dt": partition_key()}, {"month": partition_key()}])
def test_successes_that_are_for_no_partition_at_all_are_said_in_the_skip(
    variables: dict[str, Any], tick: Tick, put: Put
) -> None:
    put(month="2026-09")
    missed = tick(variables=variables)
    assert keys(missed) == []
    assert missed.skip_message == (
        f"No success of {UPSTREAM} is for a partition of this sensor: the newest is run r1 for "
        "month=2026-09. Is it named in 'variables' as in the receipts?"
    )
    put(run_id="r2", started_at=DAY + timedelta(hours=1), dt="2026-10-01")
    assert keys(tick(missed.cursor, variables={"dt": partition_key()})) == ["2026-10-01"]


def test_a_task_that_never_succeeded_is_said_in_the_skip(tick: Tick, put: Put) -> None:
    assert f"{UPSTREAM} is unknown" in tick().skip_message
    put("error", month="2026-09")
    assert "its newest run of this batch is r1 (error at" in tick().skip_message


@pytest.mark.parametrize("build", [build_upstream_receipt_sensor, build_missed_windows_sensor])
def test_a_sensor_with_nothing_to_launch_is_an_error(build: Any) -> None:
    given = {"catchup": "all"} if build is build_missed_windows_sensor else {}
    with pytest.raises(ConfigError, match=r"'s' has nothing to launch\. Give it job="):
        build("s", UPSTREAM, partitions_def=MONTHLY, variables=MONTH, **given)
    assert build("s", UPSTREAM, partitions_def=MONTHLY, variables=MONTH, job_name="pay", **given)


def test_a_lost_cursor_requests_the_same_run_keys(tick: Tick, put: Put) -> None:
    put(month="2026-09")
    put(run_id="r2", month="2026-10")
    assert run_keys(tick()) == run_keys(tick()) == ["2026-09-01", "2026-10-01"]
    assert run_keys(tick("not a cursor")) == run_keys(tick('{"since": 5}')) == run_keys(tick())


def test_another_success_of_a_partition_is_another_run_only_if_asked_for(
    tick: Tick, put: Put
) -> None:
    put(month="2026-09")
    once, rerun = tick(), tick(rerun=True)
    put(run_id="r2", started_at=DAY + timedelta(hours=1), month="2026-09")
    assert run_keys(tick(once.cursor)) == []
    assert run_keys(tick()) == ["2026-09-01"]  # the key it had before
    assert run_keys(tick(rerun.cursor, rerun=True)) == ["2026-09-01:r2"]


def test_a_success_that_comes_into_sight_late_is_not_lost(tick: Tick, put: Put) -> None:
    put(month="2026-10")
    first = tick()
    put(run_id="r2", started_at=DAY - timedelta(days=3), month="2026-09")
    assert keys(tick(first.cursor)) == ["2026-09-01"]


def test_an_old_success_that_is_reported_late_is_not_the_newest(tick: Tick, put: Put) -> None:
    arguments = {"target": whole, "rerun": True}
    put(run_id="r2")
    first = tick(**arguments)
    assert run_keys(first) == ["r2"]
    put(run_id="r1", started_at=DAY - timedelta(days=2))
    assert run_keys(tick(first.cursor, **arguments)) == []
    assert run_keys(tick(**arguments)) == ["r2"]

    put(run_id="r3", month="2026-09")
    monthly = tick(rerun=True)
    put(run_id="r4", started_at=DAY - timedelta(days=2), month="2026-09")
    assert run_keys(tick(monthly.cursor, rerun=True)) == []
    assert run_keys(tick(rerun=True)) == ["2026-09-01:r3"]


def test_few_are_requested_in_a_tick_the_oldest_first_and_none_is_lost(
    tick: Tick, put: Put
) -> None:
    months = [f"2026-{month:02}" for month in range(1, 8)]
    for number, month in enumerate(months):  # the oldest month ran last, years later
        start = DAY - timedelta(days=365 * number)
        put(run_id=f"r{number}", started_at=start, month=month)
    seen, cursor = [], None
    for _ in range(4):
        result = tick(cursor, at_most=2)
        assert len(result.run_requests) <= 2
        seen += keys(result)
        cursor = result.cursor
    assert seen == [f"{month}-01" for month in months]


def test_an_unknown_partition_does_not_lose_the_tick(tick: Tick, put: Put) -> None:
    put(run_id="r1", month="2031-01")
    put(run_id="r2", month="Oktober")
    put(run_id="r3", month="2020-01")
    put(run_id="r4", region="eu")
    put(run_id="r5", month="2026-09")
    first = tick()
    assert keys(first) == ["2026-09-01"]
    assert "Not a partition (yet): 2031-01-01." in tick(first.cursor).skip_message


def test_of_many_unknown_partitions_five_are_named_and_the_rest_counted(
    tick: Tick, put: Put
) -> None:
    for year in range(2031, 2038):
        put(run_id=f"r{year}", month=f"{year}-01")
    shown = ", ".join(f"{year}-01-01" for year in range(2031, 2036))
    assert f"Not a partition (yet): {shown} and 2 more." in tick().skip_message


def test_a_partition_that_comes_later_is_requested_then(
    tick: Tick, put: Put, instance: dg.DagsterInstance
) -> None:
    regions = dg.DynamicPartitionsDefinition(name="regions")

    @dg.asset(partitions_def=regions)
    @recorded(TASK)
    def by_region(context: dg.AssetExecutionContext) -> None: ...

    region = {
        "target": by_region,
        "partitions_def": regions,
        "variables": {"region": partition_key()},
    }
    put(run_id="r1", started_at=DAY - timedelta(days=100), region="za")
    put(run_id="r2", region="eu")
    instance.add_dynamic_partitions("regions", ["eu"])
    first = tick(**region)
    assert keys(first) == ["eu"]
    instance.add_dynamic_partitions("regions", ["za"])
    assert keys(tick(first.cursor, **region)) == ["za"]


def test_a_receipt_from_the_future_is_not_requested_and_loses_nothing(tick: Tick, put: Put) -> None:
    put(run_id="r1", started_at=datetime(2190, 1, 1, tzinfo=UTC), month="2026-09")
    first = tick()
    assert keys(first) == []
    assert "from the future" in first.skip_message
    put(run_id="r2", month="2026-10")
    assert keys(tick(first.cursor)) == ["2026-10-01"]
    put(run_id="r3", month="2026-09")
    assert keys(tick(first.cursor)) == ["2026-09-01", "2026-10-01"]


def test_a_corrupt_receipt_is_named_and_stops_no_other(
    tick: Tick, put: Put, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    put(month="2026-09")
    (Path(url) / "pay" / "monthly" / "calc" / "damaged.json").write_text("{")
    first = tick()
    assert keys(first) == ["2026-09-01"]
    second = tick(first.cursor)
    assert keys(second) == []
    assert second.skip_message.startswith("UNKNOWN: receipts that cannot be read: ")
    assert "damaged.json" in second.skip_message


def test_a_store_that_cannot_answer_skips_the_tick_and_keeps_the_cursor(
    tick: Tick, put: Put, tmp_path: Path
) -> None:
    put(month="2026-09")
    first = tick()
    gone = {"receipts": ReceiptStoreResource(url=str(tmp_path / "gone"))}
    skipped = tick(first.cursor, resources=gone)
    assert skipped.skip_message.startswith("UNKNOWN: The store folder")
    assert skipped.cursor == first.cursor


def test_a_job_without_partitions_runs_once_for_the_newest_success(tick: Tick, put: Put) -> None:
    put(run_id="r1", month="2026-08")
    put(run_id="r2", started_at=DAY + timedelta(days=30), month="2026-09")
    first = tick(target=whole)
    assert run_keys(first) == ["r2"]
    assert run_keys(tick(first.cursor, target=whole)) == []
    put(run_id="r3", started_at=DAY + timedelta(days=40), month="2026-09")
    assert run_keys(tick(first.cursor, target=whole)) == ["r3"]


def test_two_dimensions_are_found_by_their_variables(tick: Tick, put: Put) -> None:
    both = dg.MultiPartitionsDefinition(
        {"month": MONTHLY, "region": dg.StaticPartitionsDefinition(["eu", "za"])}
    )

    @dg.asset(partitions_def=both)
    @recorded(TASK)
    def by_both(context: dg.AssetExecutionContext) -> None: ...

    put(run_id="r1", month="2026-09", region="za")
    put(run_id="r2", month="2026-09", region="us")
    put(run_id="r3", month="2026-09")
    variables = {**MONTH, "region": partition_key("region")}
    result = tick(target=by_both, partitions_def=both, variables=variables)
    assert keys(result) == ["2026-09-01|za"]


def test_a_key_may_be_told_by_a_function(tick: Tick, put: Put) -> None:
    put(month="10/2026")

    def key_of(receipt: Receipt) -> str:
        month, year = str(receipt.variables["month"]).split("/")
        return f"{year}-{month}-01"

    assert keys(tick(key_of=key_of)) == ["2026-10-01"]


def test_variables_that_do_not_tell_the_partition_are_refused() -> None:
    with pytest.raises(ConfigError, match="one is needed"):
        build_upstream_receipt_sensor(
            "s", UPSTREAM, partitions_def=MONTHLY, variables={"month": "2026-10"}
        )


def test_from_a_tick_to_the_receipt_of_the_run_it_launched(
    tick: Tick, put: Put, store: ReceiptStore, receipts: Any, instance: dg.DagsterInstance
) -> None:
    put(month="2026-09")
    (request,) = tick().run_requests
    defs = dg.Definitions(
        assets=[send], jobs=[dg.define_asset_job("pay", [send])], resources=receipts
    )
    result = defs.resolve_job_def("pay").execute_in_process(
        partition_key=request.partition_key, tags=dict(request.tags), instance=instance
    )
    assert result.success
    (receipt,) = store.list_runs(TASK)
    assert receipt.status is Status.SUCCESS
    assert receipt.variables == {"month": "2026-09"}
    assert receipt.triggered_by is not None
    assert receipt.triggered_by.kind == "sensor"
    assert [pin.run_id for pin in receipt.upstreams] == ["r1"]
