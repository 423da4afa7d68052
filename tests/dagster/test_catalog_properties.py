"""However receipts arrive and daemons die: each end stands in the catalog once."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubunye_core import Receipt, ReceiptStore, Status, open_store
from ubunye_dagster import build_receipt_catalog_sensor, partition_key

TASKS = ("pay/monthly/calc", "pay/monthly/send")
MONTHS = dg.StaticPartitionsDefinition(["2026-09", "2026-10"])
NOW = datetime.now(UTC)
"""A sensor goes by the clock."""


@dataclass(frozen=True)
class Arrival:
    """A run of so many hours ago, and the tick before which its receipt comes into sight."""

    task: str
    month: str
    hours_ago: int
    status: str
    tick: int


@dataclass(frozen=True)
class Fate:
    """What becomes of a tick: its cursor is kept only if all of its events are written down."""

    dies_after: int | None
    loses_cursor: bool


arrivals = st.lists(
    st.builds(
        Arrival,
        task=st.sampled_from(TASKS),
        month=st.sampled_from(["2026-09", "2026-10"]),
        hours_ago=st.integers(1, 47),  # within the lookback of two days
        status=st.sampled_from(["success", "success", "error"]),
        tick=st.integers(0, 4),
    ),
    max_size=12,
)
fates = st.lists(
    st.builds(Fate, dies_after=st.none() | st.integers(0, 3), loses_cursor=st.booleans()),
    min_size=5,
    max_size=5,
)


class Catalog:
    """A sensor, its store, and the Dagster to which it reports."""

    def __init__(self, instance: dg.DagsterInstance, at_most: int) -> None:
        url = f"memory://{uuid.uuid4()}"
        self.instance, self.cursor = instance, None
        self.store: ReceiptStore = open_store(url)
        self.sensor = build_receipt_catalog_sensor(
            "catalog",
            TASKS,
            partitions_def=MONTHS,
            variables={"month": partition_key()},
            at_most=at_most,
            store=url,
        )

    def tick(self, fate: Fate = Fate(None, False)) -> int:
        context = dg.build_sensor_context(
            instance=self.instance, cursor=self.cursor, sensor_name="catalog"
        )
        result: Any = self.sensor.evaluate_tick(context)
        for event in result.asset_events[: fate.dies_after]:
            self.instance.report_runless_asset_event(event)
        if fate.dies_after is None or fate.dies_after >= len(result.asset_events):
            self.cursor = result.cursor
        if fate.loses_cursor:
            self.cursor = None
        return len(result.asset_events)

    def on_record(self, task: str) -> list[tuple[int, str, dict[str, Any]]]:
        """Every event of a task's asset in the order of its report, with its kind."""
        key, found = dg.AssetKey(task.split("/")), []
        for fetch in (self.instance.fetch_materializations, self.instance.fetch_observations):
            for record in fetch(key, limit=1000).records:
                entry = record.event_log_entry
                event = entry.asset_materialization or entry.asset_observation
                assert event is not None
                told = {name: value.value for name, value in event.metadata.items()}
                told["partition"] = event.partition
                found.append((record.storage_id, type(event).__name__, told))
        return sorted(found, key=lambda each: each[0])


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(arrivals=arrivals, fates=fates, at_most=st.integers(1, 4))
def test_every_end_is_on_record_once_and_the_newest_success_is_the_newest_materialisation(
    arrivals: list[Arrival], fates: list[Fate], at_most: int
) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        catalog = Catalog(instance, at_most)
        saved: dict[str, Receipt] = {}
        for number, fate in enumerate(fates):
            for place, each in enumerate(arrivals):
                if each.tick == number:
                    receipt = receipt_of(each, f"r{place}")
                    catalog.store.save(receipt)
                    saved[receipt.run_id] = receipt
            catalog.tick(fate)
        for _ in range(len(arrivals) + 1):
            if catalog.tick() == 0:
                break
        else:
            raise AssertionError("the sensor does not come to an end")

        for task in TASKS:
            events = catalog.on_record(task)
            once = Counter(told["ubunye/receipt"] for _, _, told in events)
            assert once == {r.run_id: 1 for r in saved.values() if r.task == task}
            for month in MONTHS.get_partition_keys():
                of_month = [
                    (kind, saved[told["ubunye/receipt"]])
                    for _, kind, told in events
                    if told["partition"] == month
                ]
                made = [r for kind, r in of_month if kind == "AssetMaterialization"]
                successes = [r for _, r in of_month if r.status is Status.SUCCESS]
                assert made == sorted(made, key=lambda r: r.order)
                assert all(r.status is Status.SUCCESS for r in made)
                assert made[-1:] == sorted(successes, key=lambda r: r.order)[-1:]


def receipt_of(arrival: Arrival, run_id: str) -> Receipt:
    start = NOW - timedelta(hours=arrival.hours_ago)
    return Receipt(
        task=arrival.task,
        run_id=run_id,
        status=Status(arrival.status),
        started_at=start,
        ended_at=start + timedelta(minutes=5),
        variables={"month": arrival.month},
    )
