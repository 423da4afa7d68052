"""What users ran into with manual runs and double ones, on Dagster. Numbers are of the cases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from ubunye_core import (
    ConfigError,
    IfHeld,
    Policy,
    Receipt,
    ReceiptStore,
    Schedule,
    Status,
    Window,
    claim,
)
from ubunye_dagster import gated, partition_format, partition_key, recorded

TASK = "pay/monthly/calc"
MONTHLY = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
MONTH = {"month": partition_format("%Y-%m")}
Launch = Callable[..., Any]


def an_asset(ran: list[str], retries: int = 0, **how: Any) -> dg.AssetsDefinition:
    @dg.asset(partitions_def=MONTHLY, retry_policy=dg.RetryPolicy(max_retries=retries))
    @recorded(TASK, variables=MONTH, **how)
    def calc(context: dg.AssetExecutionContext) -> None:
        ran.extend(context.partition_keys)

    return calc


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def launch(receipts: Any, instance: dg.DagsterInstance) -> Launch:
    def run(asset: dg.AssetsDefinition, key: str = "2026-10-01", **tags: str) -> Any:
        named = {name.replace("__", "/"): text for name, text in tags.items()}
        return dg.materialize(
            [asset], partition_key=key, resources=receipts, instance=instance, tags=named,
            raise_on_error=False,
        )  # fmt: skip

    return run


def newest(store: ReceiptStore) -> Receipt:
    return store.list_runs(TASK)[0]


HOURLY = Schedule(every="1h")
DAILY = dg.DailyPartitionsDefinition("2024-10-10", timezone="Europe/London")


def test_case_8_a_day_whose_hours_have_not_run_is_refused(
    receipts: Any, store: ReceiptStore, instance: dg.DagsterInstance, ran: list[str]
) -> None:
    requires = {
        "task": "sales/hourly/load", "windows": "all", "variables": [], "schedule": HOURLY,
    }  # fmt: skip

    @dg.asset(partitions_def=DAILY)
    @recorded("sales/daily/report", variables={"day": partition_key()})
    @gated(requires)
    def report(context: dg.AssetExecutionContext) -> None:
        ran.append(context.partition_key)

    def launched() -> bool:
        return dg.materialize(
            [report], partition_key="2024-10-27", resources=receipts, instance=instance,
            raise_on_error=False,
        ).success  # fmt: skip

    assert not launched()  # nobody knows of the task
    begins = datetime(2024, 10, 26, 23, tzinfo=UTC)  # clocks go back on that day: it has 25 hours
    for number in range(24):
        save_hour(store, begins + timedelta(hours=number))
    assert not launched()
    assert "1 of 25 windows" in str(store.list_runs("sales/daily/report")[0].error)
    save_hour(store, begins + timedelta(hours=24))
    assert launched()
    assert ran == ["2024-10-27"]


def test_case_8_a_range_of_days_is_refused_for_the_one_that_lacks_an_hour(
    receipts: Any, store: ReceiptStore, instance: dg.DagsterInstance, ran: list[str]
) -> None:
    @dg.asset(partitions_def=DAILY, backfill_policy=dg.BackfillPolicy.single_run())
    @recorded("sales/daily/report", variables={"day": partition_key()})
    @gated({"task": "sales/hourly/load", "windows": "all", "variables": [], "schedule": HOURLY})
    def report(context: dg.AssetExecutionContext) -> None:
        ran.extend(context.partition_keys)

    ends = {"start": "2024-10-14", "end": "2024-10-15"}
    tags = {f"dagster/asset_partition_range_{end}": key for end, key in ends.items()}

    def launched() -> bool:
        return dg.materialize(
            [report], tags=tags, resources=receipts, instance=instance, raise_on_error=False
        ).success

    begins = datetime(2024, 10, 13, 23, tzinfo=UTC)
    for number in range(47):
        save_hour(store, begins + timedelta(hours=number))
    assert not launched()
    refused = store.list_runs("sales/daily/report")
    assert [each.was_refused for each in refused] == [True, True]
    assert "1 of 2 partitions may not run. 2024-10-15:" in str(refused[0].error)
    save_hour(store, begins + timedelta(hours=47))
    assert launched()
    assert ran == ["2024-10-14", "2024-10-15"]


def test_case_7_a_month_that_another_code_location_calculated_opens_the_gate(
    receipts: Any, store: ReceiptStore, ran: list[str]
) -> None:
    """Two locations, each with a Dagster of its own: they share the store and nothing else."""

    @dg.asset(partitions_def=MONTHLY)
    @recorded("pay/monthly/send", variables=MONTH)
    @gated(TASK)
    def send(context: dg.AssetExecutionContext) -> None:
        ran.append("paid")

    def launched(asset: dg.AssetsDefinition, key: str) -> bool:
        with dg.DagsterInstance.ephemeral() as alone:
            return dg.materialize(
                [asset], partition_key=key, resources=receipts, instance=alone,
                raise_on_error=False,
            ).success  # fmt: skip

    assert not launched(send, "2026-10-01")
    assert launched(an_asset([]), "2026-10-01")
    assert launched(send, "2026-10-01")
    assert not launched(send, "2026-11-01")
    assert ran == ["paid"]


def save_hour(store: ReceiptStore, start: datetime) -> None:
    end = start + timedelta(hours=1)
    receipt = Receipt(
        task="sales/hourly/load",
        run_id=f"r-{start:%d-%H}",
        status=Status.SUCCESS,
        started_at=end,
        ended_at=end + timedelta(minutes=1),
        window=Window(start=start, end=end),
    )
    store.save(receipt)


def test_case_26_two_manual_launches_of_one_partition_leave_two_receipts_and_one_run(
    launch: Launch, store: ReceiptStore, ran: list[str]
) -> None:
    asset = an_asset(ran, guard=True, retries=2)
    assert launch(asset).success
    second = launch(asset)
    assert not second.success
    assert ran == ["2026-10-01"]
    refused, succeeded = store.list_runs(TASK)  # and no third: what is finished is not retried
    assert (succeeded.status, refused.status) == (Status.SUCCESS, Status.SKIPPED)
    assert refused.was_refused
    assert refused.window == succeeded.window
    (failure,) = second.get_step_failure_events()
    assert (
        f"run {succeeded.run_id} succeeded"
        in failure.event_specific_data.user_failure_data.description
    )
    assert launch(an_asset(ran, guard=True, rerun=True)).success
    assert launch(asset, "2026-11-01").success
    assert ran == ["2026-10-01", "2026-10-01", "2026-11-01"]


def test_case_27_a_manual_run_leaves_who_who_says_so_and_why(
    launch: Launch, store: ReceiptStore, ran: list[str]
) -> None:
    assert launch(an_asset(ran), user="ann@example.com", ubunye__reason="the bank sent it again")
    by = newest(store).triggered_by
    assert by is not None
    assert (by.kind, by.actor, by.asserted_by, by.reason) == (
        "manual",
        "ann@example.com",
        "dagster",
        "the bank sent it again",
    )


def test_case_27_a_manual_run_without_a_reason_is_refused_where_the_policy_asks_for_one(
    launch: Launch, store: ReceiptStore, ran: list[str], tmp_path: Path
) -> None:
    (tmp_path / "receipts.yaml").write_text("policy: {require_reason: true}")
    asset = an_asset(ran, policy=tmp_path)
    assert not launch(asset, user="ann").success
    assert newest(store).was_refused
    assert ran == []
    assert launch(asset, user="ann", ubunye__reason="asked for by the auditor").success
    assert launch(asset, dagster__schedule_name="monthly").success  # nobody started it by hand


@pytest.mark.parametrize(
    ("retry", "kind"), [({}, "manual"), ({"dagster__retry_number": "1"}, "schedule")], ids=str
)
def test_case_27_a_scheduled_run_that_is_executed_again_by_hand_is_a_manual_one(
    retry: dict[str, str], kind: str, launch: Launch, store: ReceiptStore, ran: list[str]
) -> None:
    first = launch(an_asset(ran), dagster__schedule_name="monthly")
    tags = {"dagster__schedule_name": "monthly", "dagster__parent_run_id": first.run_id, **retry}
    assert launch(an_asset(ran), **tags).success
    again, scheduled = store.list_runs(TASK)
    assert scheduled.triggered_by is not None
    assert scheduled.triggered_by.kind == "schedule"
    assert again.triggered_by is not None
    assert again.triggered_by.kind == kind
    assert again.orchestrator is not None
    assert again.orchestrator.ids["parent_run_id"] == first.run_id
    policy = Policy(require_reason=True)
    assert launch(an_asset(ran, policy=policy), **tags).success is (kind == "schedule")


@pytest.mark.parametrize("if_held", [IfHeld.FAIL, IfHeld.SKIP], ids=str)
def test_case_39_a_partition_that_another_run_holds_is_not_run_and_may_be_retried(
    if_held: IfHeld, launch: Launch, store: ReceiptStore, ran: list[str]
) -> None:
    assert claim(TASK, {"month": "2026-10"}, run_id="other", store=store)
    result = launch(an_asset(ran, retries=1, policy=Policy(guard=True, if_held=if_held)))
    assert not result.success
    assert ran == []
    assert [each.was_refused for each in store.list_runs(TASK)] == [True, True]


def test_a_run_for_a_range_of_partitions_cannot_be_guarded(
    receipts: Any, store: ReceiptStore, instance: dg.DagsterInstance, ran: list[str]
) -> None:
    tags = {
        "dagster/asset_partition_range_start": "2026-09-01",
        "dagster/asset_partition_range_end": "2026-10-01",
    }

    def launched(**how: Any) -> Any:
        @dg.asset(partitions_def=MONTHLY, backfill_policy=dg.BackfillPolicy.single_run())
        @recorded(TASK, variables=MONTH, **how)
        def calc(context: dg.AssetExecutionContext) -> None:
            ran.extend(context.partition_keys)

        return dg.materialize(
            [calc], tags=tags, resources=receipts, instance=instance, raise_on_error=False
        )

    failed = launched(policy=Policy(guard=True))
    assert not failed.success
    assert ran == []
    assert not store.list_runs(TASK)
    assert launched(policy=Policy(require_reason=False)).success
    assert ran == ["2026-09-01", "2026-10-01"]


def test_a_policy_that_cannot_be_read_is_an_error_of_the_code(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        an_asset([], policy=tmp_path / "receipts.yaml")
    with pytest.raises(ConfigError, match="guard=True"):
        an_asset([], rerun=True)
