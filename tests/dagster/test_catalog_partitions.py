"""Each receipt stands in Dagster's catalog for the partitions that it is for."""

# Fixtures are asked for by their names.
# ruff: noqa: F401, F811
from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from tests.dagster.cataloguing import (
    CALC,
    DAY,
    HOUR,
    KEY,
    LONDON,
    MONTH,
    MONTHLY,
    NOW,
    Tick,
    a_receipt,
    tick,
    told,
)
from ubunye_core import Receipt, ReceiptStore, Window
from ubunye_dagster import partition_key


def test_of_a_partition_that_has_none_a_late_success_is_the_first_materialisation(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    how = {"partitions_def": MONTHLY, "variables": MONTH}
    store.save(a_receipt(run_id="october", ago=HOUR))
    first = tick(**how)
    store.save(a_receipt(run_id="september", ago=30 * HOUR, month="2026-09"))
    store.save(a_receipt(run_id="october-before", ago=29 * HOUR))
    assert told(tick(first.cursor, **how)) == [
        ("Materialization", "september", "2026-09-01"),
        ("Observation", "october-before", "2026-10-01"),
    ]
    filled = instance.get_materialized_partitions(KEY)
    assert filled == {"2026-09-01", "2026-10-01"}


def test_an_unknown_partition_loses_no_other_and_is_reported_once_there_is_one(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    months = dg.DynamicPartitionsDefinition(name="months")
    how: Any = {
        "assets": [dg.AssetSpec(KEY, partitions_def=months)],
        "variables": {"month": partition_key()},
    }
    store.save(a_receipt())
    instance.add_dynamic_partitions("months", ["2026-11"])
    store.save(a_receipt(run_id="r2", month="2026-11", ago=HOUR))
    store.save(a_receipt(run_id="r3", month=None, ago=HOUR))
    first = tick(**how)
    assert told(first) == [("Materialization", "r2", "2026-11")]
    assert "Not a partition (yet): " in first.skip_message
    assert f"{CALC}: month=2026-10" in first.skip_message
    assert f"{CALC}: (no variables)" in first.skip_message
    instance.add_dynamic_partitions("months", ["2026-10"])
    assert told(tick(first.cursor, **how)) == [("Materialization", "r1", "2026-10")]


def test_the_asset_says_how_it_is_partitioned_and_the_window_which_partition_it_is(
    tick: Tick, store: ReceiptStore
) -> None:
    """A receipt of another scheduler need not name the month as Dagster does."""
    window = Window(start=datetime(2026, 10, 1, tzinfo=UTC), end=datetime(2026, 11, 1, tzinfo=UTC))
    store.save(a_receipt(window=window, month="Oktober"))
    store.save(a_receipt(run_id="r2", month=None, ago=HOUR))
    result = tick(assets=[dg.AssetSpec(KEY, partitions_def=MONTHLY)])
    assert told(result) == [("Materialization", "r1", "2026-10-01")]
    assert "(no variables)" in result.skip_message


def test_a_function_that_fails_for_one_receipt_loses_no_other(
    tick: Tick, store: ReceiptStore
) -> None:
    def key_of(receipt: Receipt) -> str:
        return f"{receipt.batch.as_dict()['month']}-01"

    store.save(a_receipt(run_id="r1", month=None, ago=3 * HOUR))
    store.save(a_receipt(run_id="r2"))
    result = tick(partitions_def=MONTHLY, key_of=key_of)
    assert told(result) == [("Materialization", "r2", "2026-10-01")]
    assert f"{CALC}: (no variables) (KeyError)" in result.skip_message


def test_a_run_for_several_partitions_is_reported_for_each_of_them_once(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    daily = dg.DailyPartitionsDefinition("2026-03-28", end_date="2026-04-02", timezone=LONDON)
    window = Window(
        start=datetime(2026, 3, 27, 12, tzinfo=UTC), end=datetime(2026, 3, 30, 23, tzinfo=UTC)
    )
    store.save(a_receipt(window=window, month=None))
    asset = [dg.AssetSpec(KEY, partitions_def=daily)]
    first = tick(assets=asset, dies_after=1)
    assert [partition for _, _, partition in told(first)] == [
        "2026-03-28",
        "2026-03-29",  # which has 23 hours
        "2026-03-30",
    ]
    assert [partition for _, _, partition in told(tick(assets=asset))] == [
        "2026-03-29",
        "2026-03-30",
    ]
    last = tick(assets=asset)
    assert told(last) == []
    assert len(instance.get_materialized_partitions(KEY)) == 3


def test_of_several_partitions_those_that_come_later_are_reported_then(
    tick: Tick, store: ReceiptStore
) -> None:
    window = Window(start=datetime(2026, 3, 28, tzinfo=UTC), end=datetime(2026, 3, 31, tzinfo=UTC))
    store.save(a_receipt(window=window, month=None))

    def asset(end: str) -> list[dg.AssetSpec]:
        daily = dg.DailyPartitionsDefinition("2026-03-29", end_date=end)
        return [dg.AssetSpec(KEY, partitions_def=daily)]

    first = tick(assets=asset("2026-03-30"))
    assert [partition for _, _, partition in told(first)] == ["2026-03-29"]
    assert f"Not a partition (yet): {CALC}" in first.skip_message
    second = tick(first.cursor, assets=asset("2026-03-31"))
    assert [partition for _, _, partition in told(second)] == ["2026-03-30"]
    assert told(tick(second.cursor, assets=asset("2026-04-01"))) == []


def test_two_dimensions_are_found_by_their_variables(tick: Tick, store: ReceiptStore) -> None:
    both = dg.MultiPartitionsDefinition(
        {"month": MONTHLY, "region": dg.StaticPartitionsDefinition(["eu", "za"])}
    )
    receipt = a_receipt()
    store.save(replace(receipt, variables={"month": "2026-10-01", "region": "za"}))
    store.save(replace(receipt, run_id="r2", variables={"month": "2026-10-01", "region": "us"}))
    result = tick(partitions_def=both)
    assert told(result) == [("Materialization", "r1", "2026-10-01|za")]


def test_what_waits_for_a_partition_is_waited_for_as_long_as_any_run_is(
    tick: Tick, store: ReceiptStore
) -> None:
    """A key that is misspelt does not hold the cursor for ever."""
    store.save(a_receipt(run_id="r0", ago=40 * DAY, month="2026-01"))
    store.save(a_receipt(run_id="r1", ago=29 * DAY, month="2026-02"))
    waits = json.dumps({"tasks": {CALC: [(NOW - 50 * DAY).isoformat(), []]}, "first": None})
    result = tick(waits, partitions_def=MONTHLY, variables=MONTH)
    assert told(result) == [("Materialization", "r1", "2026-02-01")]
