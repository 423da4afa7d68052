"""Receipts of any scheduler stand in Dagster's catalog, each of them once."""

# Fixtures are asked for by their names.
# ruff: noqa: F401, F811
from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.dagster.cataloguing import (
    CALC,
    DAY,
    HASH,
    HOUR,
    KEY,
    MONTH,
    MONTHLY,
    NOW,
    SEND,
    Tick,
    a_receipt,
    on_record,
    tick,
    told,
)
from ubunye_core import (
    ConfigError,
    Counts,
    Orchestrator,
    Pin,
    ReceiptStore,
    Status,
    Step,
    TriggeredBy,
    TriggerKind,
    Window,
)
from ubunye_dagster import (
    ReceiptStoreResource,
    build_health_checks,
    build_receipt_catalog_sensor,
    build_upstream_checks,
    recorded,
)


def test_a_success_is_a_materialisation_with_all_that_its_receipt_says(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    window = Window(start=datetime(2026, 10, 1, tzinfo=UTC), end=datetime(2026, 11, 1, tzinfo=UTC))
    receipt = a_receipt(
        outputs=(Step(name="adults", direction="output", row_count=3, data_hash=HASH),),
        inputs=(Step(name="people", direction="input", row_count=5),),
        upstreams=(Pin(task="hr/monthly/people", run_id="p1"),),
        window=window,
        orchestrator=Orchestrator(name="airflow", url="https://airflow.example/dags/pay"),
        triggered_by=TriggeredBy(kind=TriggerKind.MANUAL, actor="thandi", reason="late file"),
    )
    store.save(receipt)
    (event,) = tick(partitions_def=MONTHLY, variables=MONTH).asset_events
    assert isinstance(event, dg.AssetMaterialization)
    assert (event.asset_key, event.partition) == (KEY, "2026-10-01")
    assert event.tags is not None
    assert event.tags["dagster/data_version"] == HASH
    metadata = {name: value.value for name, value in event.metadata.items()}
    assert metadata["dagster/row_count"] == 3
    assert metadata["ended_at"] == receipt.finished_at.timestamp()
    assert metadata["page"] == "https://airflow.example/dags/pay"
    assert metadata["triggered_by"] == "manual by thandi: late file"
    assert metadata["window"] == "2026-10-01T00:00:00+00:00 to 2026-11-01T00:00:00+00:00"
    (output,) = event.metadata["outputs"].records  # type: ignore[union-attr]
    assert (output.data["rows"], output.data["data_hash"]) == ("3", HASH)
    (upstream,) = event.metadata["upstreams"].records  # type: ignore[union-attr]
    assert upstream.data == {"task": "hr/monthly/people", "run_id": "p1"}
    assert on_record(instance) == ["r1"]


def test_what_has_no_single_count_or_hash_is_told_as_far_as_it_is_known(
    tick: Tick, store: ReceiptStore
) -> None:
    two = tuple(Step(name=name, direction="output", data_hash=HASH) for name in ("a", "b"))
    store.save(a_receipt(run_id="r1", outputs=two, counts=Counts(loaded=7), ago=4 * HOUR))
    store.save(a_receipt(run_id="r2", outputs=(*two, Step(name="c", direction="output")), ago=HOUR))
    both, lacking = tick().asset_events
    assert both.metadata["dagster/row_count"].value == 7
    assert both.tags["dagster/data_version"].startswith("sha256:")
    assert both.tags["dagster/data_version"] != HASH
    assert "dagster/row_count" not in lacking.metadata
    assert "dagster/data_version" not in (lacking.tags or {})


@pytest.mark.parametrize("status", ["error", "interrupted", "skipped"])
def test_what_did_not_succeed_is_an_observation_without_a_data_version(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance, status: str
) -> None:
    output = Step(name="adults", direction="output", data_hash=HASH)
    store.save(a_receipt(status, error="ValueError: no", outputs=(output,)))
    result = tick()
    assert told(result) == [("Observation", "r1", None)]
    (event,) = result.asset_events
    assert event.metadata["ubunye/status"].value == status
    assert event.metadata["error"].value == "ValueError: no"
    assert "dagster/data_version" not in event.tags
    assert on_record(instance) == []


def test_each_end_is_reported_once_also_when_the_cursor_is_lost(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    store.save(a_receipt(run_id="r1", ago=5 * HOUR))
    store.save(a_receipt("error", run_id="r2", ago=4 * HOUR))
    first = tick()
    assert told(first) == [("Materialization", "r1", None), ("Observation", "r2", None)]
    assert told(tick(first.cursor)) == []
    store.save(a_receipt(run_id="r3"))
    assert told(tick(first.cursor)) == [("Materialization", "r3", None)]
    for lost in (None, "not a cursor", '{"tasks": 5}', '{"tasks": {"pay/monthly/calc": ["x"]}}'):
        again = tick(lost)
        assert told(again) == []
        assert "No new receipt." in again.skip_message
    assert on_record(instance) == ["r1", "r3"]


def test_a_daemon_that_dies_between_two_events_repeats_none(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    for number in range(4):
        store.save(a_receipt(run_id=f"r{number}", ago=(9 - number) * HOUR))
    tick(dies_after=2)  # and its cursor was never kept
    assert on_record(instance) == ["r0", "r1"]
    assert told(tick()) == [("Materialization", "r2", None), ("Materialization", "r3", None)]
    assert on_record(instance) == ["r0", "r1", "r2", "r3"]


def test_a_run_is_reported_when_it_has_ended_however_long_it_took(
    tick: Tick, store: ReceiptStore
) -> None:
    long = a_receipt("running", run_id="long", ago=9 * DAY)
    store.save(long)
    store.save(a_receipt(run_id="r1", ago=6 * DAY))
    first = tick()
    assert told(first) == [("Materialization", "r1", None)]
    store.save(a_receipt(run_id="r2", ago=HOUR))
    second = tick(first.cursor)
    store.save(replace(long, status=Status.ERROR, ended_at=NOW))
    assert told(tick(second.cursor)) == [("Observation", "long", None)]


def test_the_runs_own_word_after_an_end_that_another_wrote_is_reported_too(
    tick: Tick, store: ReceiptStore
) -> None:
    dead = a_receipt("interrupted", ended_by="reconcile")
    store.save(dead)
    first = tick()
    assert told(first) == [("Observation", "r1", None)]
    store.save(replace(dead, status=Status.SUCCESS, ended_by=None, ended_at=NOW))
    assert told(tick(first.cursor)) == [("Materialization", "r1", None)]
    assert told(tick()) == []


def test_a_receipt_that_comes_into_sight_late_is_not_lost_and_looks_old(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    """An older success is not the newest materialisation: its rows were written over since."""
    store.save(a_receipt(run_id="new", ago=HOUR))
    first = tick()
    store.save(a_receipt(run_id="old", ago=30 * HOUR))
    result = tick(first.cursor)
    assert told(result) == [("Observation", "old", None)]
    (event,) = result.asset_events
    assert event.metadata["late"].value is True
    assert event.metadata["ended_at"].value < (NOW - DAY).timestamp()
    assert on_record(instance) == ["new"]


def test_few_are_reported_in_a_tick_the_oldest_first_over_all_tasks_and_none_is_lost(
    tick: Tick, store: ReceiptStore
) -> None:
    for number in range(7):
        task = (CALC, SEND)[number % 2]
        store.save(a_receipt(run_id=f"r{number}", ago=(20 - number) * HOUR, task=task))
    seen, cursor = [], None
    for _ in range(4):
        result = tick(cursor, at_most=2)
        assert len(result.asset_events) <= 2
        seen += [run for _, run, _ in told(result)]
        cursor = result.cursor
    assert seen == [f"r{number}" for number in range(7)]


@pytest.mark.parametrize(
    ("page", "is_link"),
    [
        ("HTTPS://cron.example/1", True),
        ("http://[", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("//evil.example", False),
    ],
)
def test_only_a_page_is_a_link(tick: Tick, store: ReceiptStore, page: str, is_link: bool) -> None:
    store.save(a_receipt(orchestrator=Orchestrator(name="cron", url=page)))
    (event,) = tick().asset_events
    assert isinstance(event.metadata["page"], dg.UrlMetadataValue) is is_link


def test_receipts_that_cannot_be_read_are_named_in_every_tick(
    tick: Tick, store: ReceiptStore, url: str
) -> None:
    store.save(a_receipt())
    (Path(url) / "pay" / "monthly" / "calc" / "damaged.json").write_text("{")
    first = tick()
    assert told(first) == [("Materialization", "r1", None)]
    for result in (first, tick(first.cursor)):
        assert "UNKNOWN: receipts that cannot be read: " in result.skip_message
        assert "damaged.json" in result.skip_message


def test_a_store_that_cannot_answer_skips_the_tick_and_keeps_the_cursor(
    tick: Tick, store: ReceiptStore, tmp_path: Path
) -> None:
    store.save(a_receipt())
    first = tick()
    gone = {"receipts": ReceiptStoreResource(url=str(tmp_path / "gone"))}
    for arguments in ({}, {"tasks": CALC}):
        result = tick(first.cursor, resources=gone, **arguments)
        assert "UNKNOWN: " in result.skip_message
        assert told(result) == []
        kept = json.loads(result.cursor)["tasks"]
        assert kept == json.loads(first.cursor)["tasks"]


def test_a_receipt_from_the_future_waits_and_loses_nothing(tick: Tick, store: ReceiptStore) -> None:
    store.save(a_receipt(run_id="future", ago=-DAY))
    store.save(a_receipt(run_id="r1"))
    first = tick()
    assert told(first) == [("Materialization", "r1", None)]
    store.save(a_receipt(run_id="r0", ago=30 * HOUR, month="2026-09"))
    assert [run for _, run, _ in told(tick(first.cursor))] == ["r0"]


def test_what_is_older_than_asked_for_is_left_alone(tick: Tick, store: ReceiptStore) -> None:
    store.save(a_receipt(run_id="r0", ago=40 * DAY))
    store.save(a_receipt(run_id="r1", ago=20 * DAY))
    assert [run for _, run, _ in told(tick())] == ["r1"]
    assert [run for _, run, _ in told(tick(since=60 * DAY))] == ["r0"]


def test_the_memory_has_a_limit_and_nothing_is_reported_twice_for_it(
    tick: Tick, store: ReceiptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ubunye_dagster.catalog.cursor.REMEMBERED", 3)
    monkeypatch.setattr("ubunye_dagster.catalog.cursor.REMEMBERED_OF_A_TASK", 3)
    for number in range(8):
        store.save(a_receipt(run_id=f"r{number}", ago=(20 - number) * HOUR))
    first = tick()
    assert len(first.asset_events) == 8
    ((since, marks),) = json.loads(first.cursor)["tasks"].values()
    assert len(marks) == 3
    assert datetime.fromisoformat(since) == NOW - 15 * HOUR
    assert told(tick(first.cursor)) == []


def test_a_tick_without_time_begins_the_next_time_where_it_stopped(
    tick: Tick, store: ReceiptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(a_receipt(run_id="r1"))
    store.save(a_receipt(run_id="r2", task=SEND))
    monkeypatch.setattr("ubunye_dagster.catalog.sensor.TICK_SECONDS", -1.0)
    first = tick()
    assert told(first) == [("Materialization", "r1", None)]
    assert f"the next tick begins at {SEND}" in first.skip_message
    assert told(tick(first.cursor)) == [("Materialization", "r2", None)]


def test_what_this_dagster_made_itself_is_not_reported_again(
    tick: Tick, store: ReceiptStore, receipts: Any, instance: dg.DagsterInstance
) -> None:
    fails: list[bool] = []

    @dg.asset(key=KEY)
    @recorded(CALC)
    def calc(context: dg.AssetExecutionContext) -> None:
        if fails:
            raise ValueError("no")

    def run() -> None:
        dg.materialize([calc], resources=receipts, instance=instance, raise_on_error=False)

    run()
    assert told(tick(assets=[])) == []  # the asset stands in another code location
    fails.append(True)
    run()
    assert told(tick(assets=[calc])) == []
    foreign = Orchestrator(name="dagster", ids={"run_id": "of-another"})
    after_it = NOW - datetime.now(UTC) - timedelta(minutes=2)  # NOW is when the tests began
    store.save(a_receipt(run_id="foreign", orchestrator=foreign, month=None, ago=after_it))
    assert told(tick(assets=[calc])) == [("Materialization", "foreign", None)]


def test_an_asset_may_have_another_key_than_its_task(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    store.save(a_receipt())
    store.save(a_receipt(run_id="r2", task=SEND))
    tick(asset_keys={CALC: "money/calculated"}, exclude=SEND)
    assert on_record(instance, dg.AssetKey(["money", "calculated"])) == ["r1"]
    assert on_record(instance, dg.AssetKey(["pay", "monthly", "send"])) == []


def test_a_receipt_is_news_for_the_checks_of_its_task(
    tick: Tick, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    checks = build_health_checks([CALC], owner="payroll")
    spec = dg.AssetSpec(["pay", "monthly", "send"])
    store.save(a_receipt(run_id="r1", ago=3 * HOUR))

    def evaluated(result: Any) -> list[bool]:
        return [e.passed for e in result.asset_events if isinstance(e, dg.AssetCheckEvaluation)]

    first = tick(checks=checks)
    assert evaluated(first) == [True]
    store.save(a_receipt(run_id="r9", task=SEND))
    second = tick(first.cursor, checks=checks, assets=[dg.AssetSpec(KEY), spec])
    assert len(second.asset_events) == 1  # no news of the task that is checked
    store.save(a_receipt("error", run_id="r2"))
    result = tick(second.cursor, checks=checks)
    assert evaluated(result) == [False]
    check = next(e for e in result.asset_events if isinstance(e, dg.AssetCheckEvaluation))
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert "To be told: payroll." in (check.description or "")
    assert evaluated(tick(result.cursor, checks=checks)) == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"tasks": "pay/monthly"}, "is not a task"),
        ({"at_most": 0}, "must be 1 or more"),
        ({"lookback": 40 * DAY}, "since is the longer one"),
        ({"checks": build_upstream_checks(CALC)}, "cannot be asked in a sensor's tick"),
        ({"partitions_def": MONTHLY, "variables": {"month": "2026-10"}}, "one is needed"),
    ],
)
def test_wrong_arguments_are_refused_at_once(arguments: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        build_receipt_catalog_sensor("catalog", **arguments)
