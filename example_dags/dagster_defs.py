"""The monthly calculation, moved to Dagster; and the payment behind the same gate."""

import dagster as dg

from example_dags import payroll
from ubunye_core import Run
from ubunye_dagster import (
    ReceiptStoreResource,
    build_missed_windows_sensor,
    gated,
    partition_format,
    recorded,
)

# Months to come are partitions too: one may be calculated before it is over.
monthly = dg.MonthlyPartitionsDefinition(start_date="2026-01-01", end_offset=12)
month = {"month": partition_format("%Y-%m")}  # Dagster's own key of October is 2026-10-01


@dg.asset(partitions_def=monthly)
@recorded("pay/monthly/calc", variables=month)
def calc(context: dg.AssetExecutionContext, run: Run) -> None:
    people, due, file = payroll.calc(run.variables["month"])
    run.read("people", people)
    run.wrote("due", due, location=file)


# It names no asset that it depends on: its gate asks for the task, wherever that ran.
@dg.asset(partitions_def=monthly)
@recorded("pay/monthly/send", variables=month)
@gated("pay/monthly/calc")
def send(context: dg.AssetExecutionContext, run: Run) -> None:
    due, payments, file = payroll.send(run.variables["month"])
    run.read("due", due)
    run.wrote("payments", payments, location=file)


# Months that were not calculated, wherever that was to run: oldest first, two at once.
catch_up = build_missed_windows_sensor(
    "calc_catches_up",
    "pay/monthly/calc",
    partitions_def=monthly,
    variables=month,
    catchup="all",
    cap=2,
    since="180d",
    asset_selection=[calc],
)

defs = dg.Definitions(
    assets=[calc, send],
    sensors=[catch_up],
    resources={"receipts": ReceiptStoreResource()},  # the store that UBUNYE_STORE names
)
