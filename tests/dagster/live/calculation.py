"""A code location: what is calculated, and what looks after receipts."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import dagster as dg

from ubunye_dagster import (
    ReceiptStoreResource,
    build_missed_windows_sensor,
    build_reconcile_sensor,
    partition_format,
    partition_key,
    recorded,
)

# Long ago by any clock: what is asked for is not moved by the day on which it is asked.
monthly = dg.MonthlyPartitionsDefinition("2024-01-01", end_date="2025-01-01")
daily = dg.DailyPartitionsDefinition("2024-10-01", end_date="2024-10-05")
month = {"month": partition_format("%Y-%m")}
day = {"day": partition_key()}
FOR_EVER = 300.0


@dg.asset(key=["pay", "monthly", "calc"], partitions_def=monthly)
@recorded("pay/monthly/calc", variables=month)
def calc(context: dg.AssetExecutionContext) -> None: ...


@dg.asset(key=["news", "daily", "load"], partitions_def=daily)
@recorded("news/daily/load", variables=day)
def load(context: dg.AssetExecutionContext) -> None: ...


@dg.asset(key=["pay", "monthly", "tax"], partitions_def=monthly)
@recorded("pay/monthly/tax", variables=month)
def tax(context: dg.AssetExecutionContext) -> None:
    time.sleep(FOR_EVER)


defs = dg.Definitions(
    assets=[calc, load, tax],
    jobs=[
        dg.define_asset_job("calc_job", [calc]),
        dg.define_asset_job("tax_job", [tax]),
        dg.define_asset_job(
            "tax_in_a_step_of_its_own", [tax], executor_def=dg.multiprocess_executor
        ),
    ],
    sensors=[
        build_reconcile_sensor("receipts_are_ended", minimum_interval_seconds=2),
        build_missed_windows_sensor(
            "news_catch_up",
            "news/daily/load",
            partitions_def=daily,
            variables=day,
            catchup="all",
            since=datetime(2024, 1, 1, tzinfo=UTC),
            asset_selection=[load],
            minimum_interval_seconds=2,
        ),
    ],
    resources={"receipts": ReceiptStoreResource()},
    executor=dg.in_process_executor,
)
