"""A gate that needs every window of its upstream: in each mode, and through the trigger."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from airflow.sdk import DAG

from tests.airflow.conftest import RunDag, a_receipt
from ubunye_airflow import RequirementOperator, UpstreamReceiptSensor
from ubunye_airflow.answers import requirement_fields
from ubunye_airflow.every_window import requirement_read
from ubunye_airflow.gate import Gate, Outcome
from ubunye_airflow.triggers import UpstreamReceiptTrigger
from ubunye_core import Calendar, ReceiptStore, Requirement, Schedule, Window

HOURLY = "sales/hourly/load"
NEEDED: dict[str, Any] = {
    "task": HOURLY,
    "windows": "all",
    "schedule": {"every": "1h"},
    "variables": [],
}
DAY = {"start": "2026-10-14T00:00:00Z", "end": "2026-10-15T00:00:00Z"}
CONF = {"window": DAY}
MODES = ({"mode": "poke"}, {"mode": "reschedule"}, {"deferrable": True})


def load(store: ReceiptStore, hours: int) -> None:
    for hour in range(hours):
        start = datetime(2026, 10, 14, hour, tzinfo=UTC)
        window = Window(start=start, end=start + timedelta(hours=1))
        ran = {"started_at": window.end, "ended_at": window.end + timedelta(minutes=1)}
        store.save(a_receipt(f"hour-{hour}", task=HOURLY, month=None, window=window, **ran))


@pytest.mark.parametrize("how", MODES, ids=str)
def test_a_sensor_opens_once_each_hour_of_its_day_has_succeeded(
    store: ReceiptStore, store_url: str, run_dag: RunDag, how: dict[str, Any]
) -> None:
    with DAG("daily", schedule=None) as dag:
        UpstreamReceiptSensor(task_id="hours", requires=NEEDED, store=store_url, wait="0s", **how)
    load(store, 23)
    missing = run_dag(dag, CONF)
    assert missing.states == {"hours": "failed"}
    assert "1 of 24 windows" in missing.returned["hours"]["reason"]
    load(store, 24)
    assert run_dag(dag, CONF).states == {"hours": "success"}


def test_an_operator_asks_for_each_window_once(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("once", schedule=None) as dag:
        RequirementOperator(task_id="hours", requires=[NEEDED], store=store_url)
    assert run_dag(dag, CONF).states == {"hours": "failed"}
    load(store, 24)
    assert run_dag(dag, CONF).states == {"hours": "success"}


@pytest.mark.parametrize("how", MODES, ids=str)
def test_a_run_without_a_window_cannot_ask_and_is_told_at_once(
    store: ReceiptStore, store_url: str, run_dag: RunDag, how: dict[str, Any]
) -> None:
    load(store, 24)
    with DAG("no_window", schedule=None) as dag:
        UpstreamReceiptSensor(task_id="hours", requires=NEEDED, store=store_url, wait="2h", **how)
    assert run_dag(dag, {}, logical_date=None).states == {"hours": "failed"}


def test_what_a_trigger_is_given_is_json_and_asks_the_same(
    store: ReceiptStore, store_url: str
) -> None:
    load(store, 24)
    window = Window(
        start=datetime(2026, 10, 14, tzinfo=UTC),
        end=datetime(2026, 10, 15, tzinfo=UTC),
        time_zone="Asia/Jakarta",
    )
    gate = Gate(
        requires=(Requirement.of(NEEDED),),
        variables={},
        store=store_url,
        store_conn_id=None,
        since=datetime.now(UTC),
        window=window,
    )
    fields = json.loads(json.dumps(gate.fields()))
    assert Gate.of(fields) == gate
    trigger = UpstreamReceiptTrigger(**fields)
    assert json.loads(json.dumps(trigger.serialize()[1])) == fields

    async def first() -> Any:
        return await anext(aiter(trigger.run()))

    assert asyncio.run(first()).payload["outcome"] == Outcome.OPEN.value


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule(cron="0 2 * * *", time_zone="Asia/Jakarta", window="day", of="current"),
        Schedule(every="90m", start="2026-01-01T00:00:00Z", end="2027-01-01T00:00:00Z"),
        Schedule(
            cron="0 6 * * *",
            window="day",
            calendar=Calendar(
                business_days=frozenset(range(5)), holidays={date(2026, 12, 25): "Christmas"}
            ),
            variable="dt",
            format="%Y%m%d",
            start_grace="1m",
            finish_by="8h",
            max_runtime="2h",
            min_duration="1s",
            early_margin="0s",
            min_rows=0,
        ),
        Schedule(cron="0 6 * * *", calendar=Calendar(country="ZA")),
    ],
    ids=["cron", "interval", "everything", "country"],
)
def test_a_schedule_comes_back_from_json_as_it_was(schedule: Schedule) -> None:
    given = Requirement(HOURLY, windows="all", schedule=(schedule, schedule), variables=[])
    fields = json.loads(json.dumps(requirement_fields(given)))
    assert requirement_read(fields) == given
