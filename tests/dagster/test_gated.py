"""A gated step does nothing unless its upstream has succeeded for its batch."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import ConfigError, ReceiptStore, Requirement, Run, Status, Verdict
from ubunye_dagster import ReceiptStoreResource, gated, partition_format, recorded
from ubunye_dagster.partitions.batches import PartitionBatch
from ubunye_dagster.upstreams import wait_for_upstreams

UPSTREAM, TASK = "pay/monthly/calc", "pay/monthly/send"
MONTHLY = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
MONTH = {"month": partition_format("%Y-%m")}
RETRIES = dg.RetryPolicy(max_retries=2)
ran: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


@dg.asset(partitions_def=MONTHLY, retry_policy=RETRIES)
@recorded(TASK, variables=MONTH)
@gated(UPSTREAM)
def send(context: dg.AssetExecutionContext, run: Run) -> None:
    ran.append(run.variables["month"])


@dg.asset(partitions_def=MONTHLY, retry_policy=RETRIES)
@gated(UPSTREAM, variables=MONTH)
def send_unrecorded(context: dg.AssetExecutionContext) -> None:
    ran.append(context.partition_key)


def materialize(asset: Any, resources: Any, key: str | None = "2026-10-01") -> Any:
    return dg.materialize([asset], resources=resources, partition_key=key, raise_on_error=False)


def failures(result: Any) -> list[dg.StepFailureData]:
    return [event.step_failure_data for event in result.get_step_failure_events()]


def test_the_gate_opens_for_a_success_of_the_batch(
    store: ReceiptStore, receipts: Any, put: Put
) -> None:
    upstream = put(month="2026-10")
    assert materialize(send, receipts).success
    assert ran == ["2026-10"]
    (receipt,) = store.list_runs(TASK)
    assert receipt.status is Status.SUCCESS
    assert [(pin.task, pin.run_id) for pin in receipt.upstreams] == [(UPSTREAM, upstream.run_id)]


@pytest.mark.parametrize("asset", [send, send_unrecorded], ids=["recorded", "alone"])
def test_a_refusal_fails_at_once_and_says_what_is_missing(
    receipts: Any, put: Put, asset: Any
) -> None:
    put(month="2026-11")
    put("error", run_id="r2", month="2026-10")
    result = materialize(asset, receipts)
    assert not result.success
    assert ran == []
    (failure,) = failures(result)
    assert "pay/monthly/calc has not succeeded for month=2026-10" in str(failure.error)
    assert not [e for e in result.all_events if e.event_type_value == "STEP_UP_FOR_RETRY"]
    assert failure.user_failure_data is not None
    metadata = failure.user_failure_data.metadata
    assert metadata["verdict"].value == "FAIL"
    assert "Try: run pay/monthly/calc again" in str(metadata["reason"].value)
    (row,) = metadata["requirements"].records
    assert row.data["batch"] == "month=2026-10"
    assert row.data["newest_run"] == "r2"


def test_a_refused_run_leaves_a_skipped_receipt_that_says_so(
    store: ReceiptStore, receipts: Any, put: Put
) -> None:
    put(month="2026-11")
    materialize(send, receipts)
    (receipt,) = store.list_runs(TASK)
    assert receipt.was_refused
    assert receipt.variables == {"month": "2026-10"}
    assert "has not succeeded for month=2026-10" in (receipt.error or "")


def test_what_cannot_be_told_is_tried_again_and_never_opens(
    store: ReceiptStore, receipts: Any, url: str
) -> None:
    damaged = Path(url) / "pay" / "monthly" / "calc" / "damaged.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{")
    result = materialize(send, receipts)
    assert not result.success
    assert ran == []
    retries = [e for e in result.all_events if e.event_type_value == "STEP_UP_FOR_RETRY"]
    assert len(retries) == 2
    assert [each.was_refused for each in store.list_runs(TASK)] == [True, True, True]
    assert "damaged.json" in (store.list_runs(TASK)[0].error or "")


def test_a_retry_passes_once_the_store_can_be_read(
    store: ReceiptStore, receipts: Any, put: Put, url: str
) -> None:
    damaged = Path(url) / "pay" / "monthly" / "calc" / "damaged.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{")

    def repair(context: Any) -> Any:
        if context.retry_number:
            put(month="2026-10")
        return {"month": "2026-10"}

    @dg.asset(retry_policy=RETRIES)
    @gated(UPSTREAM, variables=repair)
    def repaired(context: dg.AssetExecutionContext) -> None:
        ran.append("repaired")

    assert materialize(repaired, receipts, None).success
    assert ran == ["repaired"]


def test_a_store_that_is_not_there_never_opens_the_gate(tmp_path: Path) -> None:
    gone = {"receipts": ReceiptStoreResource(url=str(tmp_path / "gone"))}
    result = materialize(send_unrecorded, gone)
    assert not result.success
    assert ran == []
    assert failures(result)[-1].user_failure_data is not None


def test_a_wrong_requirement_is_not_tried_again(receipts: Any, put: Put) -> None:
    put(month="2026-10")

    @dg.asset(retry_policy=RETRIES)
    @gated({"task": UPSTREAM, "variables": ["month"]})
    def odd(context: dg.AssetExecutionContext) -> None:
        ran.append("odd")

    result = materialize(odd, receipts, None)
    assert not result.success
    assert ran == []
    assert not [e for e in result.all_events if e.event_type_value == "STEP_UP_FOR_RETRY"]
    assert "which this run does not have" in str(failures(result)[0].error)


def test_a_gate_that_requires_nothing_is_refused_when_it_is_decorated() -> None:
    with pytest.raises(ConfigError, match="always be open"):
        gated([])


def test_a_gate_may_wait_in_the_step(receipts: Any, put: Put) -> None:
    put("running", month="2026-10")
    poll, wait = timedelta(milliseconds=50), timedelta(seconds=30)

    @dg.asset
    @gated({"task": UPSTREAM, "poll": poll}, variables={"month": "2026-10"}, wait=wait)
    def patient(context: dg.AssetExecutionContext) -> None:
        ran.append("patient")

    later = threading.Timer(0.5, lambda: put(month="2026-10"))
    later.start()
    assert materialize(patient, receipts, None).success
    later.join()
    assert ran == ["patient"]


def test_a_gated_generator_does_not_begin(receipts: Any, put: Put) -> None:
    put(month="2026-11")

    @dg.asset(partitions_def=MONTHLY)
    @recorded(TASK, variables=MONTH)
    @gated(UPSTREAM)
    def lazy(context: dg.AssetExecutionContext) -> Iterator[Any]:
        ran.append("lazy")
        yield dg.MaterializeResult()

    assert not materialize(lazy, receipts).success
    assert materialize(lazy, receipts, "2026-11-01").success
    assert ran == ["lazy"]


def test_a_gated_async_function_does_not_begin(receipts: Any, put: Put) -> None:
    put(month="2026-11")

    @dg.asset(partitions_def=MONTHLY)
    @gated(UPSTREAM, variables=MONTH)
    async def later(context: dg.AssetExecutionContext) -> None:
        ran.append("later")

    assert not materialize(later, receipts).success
    assert materialize(later, receipts, "2026-11-01").success
    assert ran == ["later"]


def test_a_gated_asset_called_directly_raises_the_same(receipts: Any, put: Put) -> None:
    put(month="2026-11")
    context = dg.build_asset_context(partition_key="2026-10-01", resources=receipts)
    with pytest.raises(dg.Failure, match="has not succeeded for month=2026-10"):
        send(context)
    assert ran == []


def test_a_refusal_from_the_body_is_told_in_dagsters_words_too(
    store: ReceiptStore, receipts: Any, put: Put
) -> None:
    put(month="2026-11")

    @dg.asset(retry_policy=RETRIES)
    @recorded(TASK, variables={"month": "2026-10"})
    def careful(context: dg.AssetExecutionContext, run: Run) -> None:
        run.require(UPSTREAM)

    result = materialize(careful, receipts, None)
    assert failures(result)[0].user_failure_data is not None
    assert store.list_runs(TASK)[0].was_refused
    assert len(store.list_runs(TASK)) == 1


def test_a_plain_no_for_one_partition_of_a_range_outweighs_a_doubt_about_another(
    store: ReceiptStore, put: Put
) -> None:
    put(month="2026-09")
    future = datetime.now(UTC) + timedelta(days=365)  # a doubt about its own batch alone
    put(run_id="r2", started_at=future, month="2026-10")
    doubtful, unmet = (PartitionBatch({"month": month}) for month in ("2026-10", "2026-11"))
    requires = [Requirement(UPSTREAM)]
    assert wait_for_upstreams(requires, [doubtful], store=store).verdict is Verdict.UNKNOWN
    for batches in ([doubtful, unmet], [unmet, doubtful]):
        answer = wait_for_upstreams(requires, batches, store=store)
        assert answer.verdict is Verdict.FAIL
        assert answer.reason.startswith("2 of 2 partitions may not run.")
