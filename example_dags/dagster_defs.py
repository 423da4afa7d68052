"""The monthly calculation, moved to Dagster; and the payment behind the same gate."""

import dagster as dg

from example_dags import payroll
from ubunye_core import Run
from ubunye_dagster import ReceiptStoreResource, partition_format, recorded

monthly = dg.MonthlyPartitionsDefinition(start_date="2026-01-01", end_offset=12)
month = {"month": partition_format("%Y-%m")}  # Dagster's own key of October is 2026-10-01


@dg.asset(partitions_def=monthly)
@recorded("pay/monthly/calc", variables=month)
def calc(context: dg.AssetExecutionContext, run: Run) -> None:
    people, due, file = payroll.calc(run.variables["month"])
    run.read("people", people)
    run.wrote("due", due, location=file)


defs = dg.Definitions(
    assets=[calc],
    resources={"receipts": ReceiptStoreResource()},  # the store that UBUNYE_STORE names
)
