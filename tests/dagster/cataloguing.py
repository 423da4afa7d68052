"""What the tests of the catalog's sensor stand on: a tick of it, receipts, what it has told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pytest

from ubunye_core import (
    Receipt,
    Status,
)
from ubunye_dagster import (
    build_receipt_catalog_sensor,
    partition_format,
)

CALC, SEND = "pay/monthly/calc", "pay/monthly/send"
KEY = dg.AssetKey(["pay", "monthly", "calc"])
MONTHLY = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
MONTH = {"month": partition_format("%Y-%m")}
NOW = datetime.now(UTC)
"""A sensor goes by the clock: what is old and what is new is told from here."""
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HASH = f"sha256:{'a' * 64}"
LONDON = "Europe/London"
Tick = Callable[..., Any]


def a_receipt(
    status: str = "success",
    *,
    run_id: str = "r1",
    ago: timedelta = 2 * HOUR,
    task: str = CALC,
    month: str | None = "2026-10",
    **fields: Any,
) -> Receipt:
    start = NOW - ago
    if Status(status).is_final:
        fields = {"ended_at": start + timedelta(minutes=5), **fields}
    return Receipt(
        task=task,
        run_id=run_id,
        status=Status(status),
        started_at=start,
        variables={} if month is None else {"month": month},
        **fields,
    )


@pytest.fixture
def tick(receipts: Any, instance: dg.DagsterInstance) -> Tick:
    """Evaluate the sensor and write down its events, as the daemon does."""

    def evaluate(
        cursor: str | None = None,
        *,
        resources: Any = receipts,
        assets: Any = None,
        dies_after: int | None = None,
        **arguments: Any,
    ) -> Any:
        sensor = build_receipt_catalog_sensor("catalog", **arguments)
        defs = dg.Definitions(
            assets=[dg.AssetSpec(KEY)] if assets is None else assets,
            asset_checks=arguments.get("checks", ()),
            sensors=[sensor],
            resources=resources,
        )
        context = dg.build_sensor_context(
            instance=instance,
            cursor=cursor,
            repository_def=defs.get_repository_def(),
            resources=resources,
            sensor_name="catalog",
        )
        with dg.partition_loading_context(dynamic_partitions_store=instance):
            result = sensor.evaluate_tick(context)
        for event in result.asset_events[:dies_after]:
            instance.report_runless_asset_event(event)
        return result

    return evaluate


def told(result: Any) -> list[tuple[str, str, str | None]]:
    """Kind, run and partition of each event of a tick."""
    return [
        (type(each).__name__.removeprefix("Asset"), each.metadata["ubunye/receipt"].value,
         each.partition)
        for each in result.asset_events
        if not isinstance(each, dg.AssetCheckEvaluation)
    ]  # fmt: skip


def on_record(instance: dg.DagsterInstance, key: dg.AssetKey = KEY) -> list[str]:
    """The runs whose receipts are materialisations, in the order of their report."""
    found = instance.fetch_materializations(key, limit=100, ascending=True).records
    return [
        str(each.asset_materialization.metadata["ubunye/receipt"].value)
        for each in found
        if each.asset_materialization is not None
    ]
