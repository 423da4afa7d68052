"""Another code location: what is paid. It shares nothing with the first but the store."""

from __future__ import annotations

import dagster as dg

from ubunye_dagster import (
    ReceiptStoreResource,
    build_health_checks,
    build_receipt_catalog_sensor,
    build_upstream_checks,
    build_upstream_receipt_sensor,
    define_gated_job,
    gated,
    partition_format,
    recorded,
)

monthly = dg.MonthlyPartitionsDefinition("2024-01-01", end_date="2025-01-01")
month = {"month": partition_format("%Y-%m")}
calculated = dg.AssetSpec(["pay", "monthly", "calc"], partitions_def=monthly)
rates = dg.AssetSpec(["pay", "daily", "rates"])
news = dg.AssetSpec(["news", "daily", "letter"])


@dg.asset(key=["pay", "monthly", "send"], partitions_def=monthly, deps=[calculated])
@recorded("pay/monthly/send", variables=month)
@gated("pay/monthly/calc")
def send(context: dg.AssetExecutionContext) -> None:
    context.log.info("paid")


checks = build_upstream_checks("pay/monthly/calc", variables=month)
health = build_health_checks(["pay/daily/rates"], max_age="1h")
pay = define_gated_job("pay", [send], checks)

defs = dg.Definitions(
    assets=[calculated, rates, news, send],
    asset_checks=[*checks, *health],
    jobs=[pay],
    sensors=[
        build_upstream_receipt_sensor(
            "pay_when_calculated",
            "pay/monthly/calc",
            partitions_def=monthly,
            variables=month,
            job=pay,
            minimum_interval_seconds=2,
        ),
        build_receipt_catalog_sensor(
            "news_to_catalog", "news/daily/letter", minimum_interval_seconds=2
        ),
        build_receipt_catalog_sensor(
            "rates_to_catalog", "pay/daily/rates", checks=health, minimum_interval_seconds=2
        ),
    ],
    resources={"receipts": ReceiptStoreResource()},
    executor=dg.in_process_executor,
)
