"""The gate in the triggerer: what it is given, what it gives back, and what it must not hold up."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowFailException, AirflowSensorTimeout, TaskDeferred
from airflow.sdk.serde import deserialize, serialize

from tests.airflow.conftest import CALC, T0, RunDag, TellingSensor, a_receipt
from ubunye_airflow import UpstreamReceiptSensor
from ubunye_airflow.gate import Gate, Look, Outcome, judge
from ubunye_airflow.triggers import UpstreamReceiptTrigger
from ubunye_core import Patience, ReceiptStore, Requirement, Status, check_upstream

MONTH = {"month": "2026-10"}


def deferred(**asked: Any) -> TaskDeferred:
    how = {"task_id": "gate", "required_task": CALC, "variables": MONTH, "wait": "2h"}
    sensor = UpstreamReceiptSensor(**{**how, **asked}, deferrable=True)
    with pytest.raises(TaskDeferred) as caught:
        sensor.poke({})
    return caught.value


def restored(trigger: UpstreamReceiptTrigger) -> UpstreamReceiptTrigger:
    """The trigger as a triggerer makes it from what Airflow keeps."""
    path, kwargs = trigger.serialize()
    assert path == "ubunye_airflow.triggers.UpstreamReceiptTrigger"
    kept = json.loads(json.dumps(serialize(kwargs)))
    return UpstreamReceiptTrigger(**deserialize(kept))


def first_event(trigger: UpstreamReceiptTrigger) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async for event in trigger.run():
            return event.payload
        raise AssertionError("the trigger ended without an event")

    return asyncio.run(run())


def test_the_trigger_survives_airflows_database_whole(store: ReceiptStore, store_url: str) -> None:
    asked = {
        "required_task": None,
        "requires": [
            {"task": CALC, "wait": "1h", "max_age": "40d", "on_failed": "fail"},
            Requirement("pay/monthly/tax", {"day": T0.date()}, optional=True, wait="1s"),
        ],
        "variables": {"month": 202610, "full": True, "mode": "nightly"},
    }
    store.save(a_receipt(month="2026-09"))
    trigger = deferred(store=store_url, wait=None, **asked).trigger
    again = restored(trigger)
    assert again.gate == trigger.gate
    assert again.gate.variables == {"month": "202610", "full": "true", "mode": "nightly"}
    assert again.gate.requires[0].max_age == timedelta(days=40)


def test_no_secret_travels_with_the_trigger(
    store: ReceiptStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(a_receipt(month="2026-09"))
    variables = {"month": "2026-10", "api_token": "hunter2", "db_password": "hunter2"}
    trigger = deferred(store=store_url, variables=variables, match=["month"]).trigger
    assert "hunter2" not in json.dumps(serialize(trigger.serialize()[1]))
    assert trigger.gate.variables == MONTH
    connection = {"conn_type": "ubunye_receipts", "host": store_url}
    monkeypatch.setenv("AIRFLOW_CONN_MINE", json.dumps(connection))
    trigger = deferred(store_conn_id="mine").trigger
    assert store_url not in json.dumps(serialize(trigger.serialize()[1]))
    assert trigger.gate.store_conn_id == "mine"


def test_a_url_with_a_password_is_refused_where_it_would_be_kept() -> None:
    sensor = UpstreamReceiptSensor(
        task_id="gate",
        required_task=CALC,
        variables=MONTH,
        store="sql://me:hunter2@db/receipts",
        deferrable=True,
    )
    with pytest.raises(AirflowFailException, match="has a password") as caught:
        sensor.poke({})
    assert "hunter2" not in str(caught.value)


def test_the_deadline_is_an_instant_and_a_second_triggerer_keeps_it(
    store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt(month="2026-09"))
    trigger = deferred(store=store_url).trigger
    since = trigger.gate.since
    answer = check_upstream(trigger.gate.requires, variables=MONTH, store=store)

    def outcome(after: timedelta) -> Outcome:
        gate = restored(restored(trigger)).gate
        now = since + after
        return judge(answer, patience=Patience(gate.since), poll=gate.poll, now=now).outcome

    assert outcome(timedelta(seconds=61)) is Outcome.WAIT
    assert outcome(timedelta(hours=2) - timedelta(seconds=1)) is Outcome.WAIT
    assert outcome(timedelta(hours=2)) is Outcome.TIMED_OUT
    # A triggerer that was away for longer than the wait looks once more, and no longer.
    late = Gate.of({**trigger.gate.fields(), "since": (since - timedelta(hours=3)).isoformat()})
    assert late.look().outcome is Outcome.TIMED_OUT


def test_the_last_pause_ends_at_the_deadline(store: ReceiptStore, store_url: str) -> None:
    store.save(a_receipt(month="2026-09"))
    gate = deferred(store=store_url, poll="10m").trigger.gate
    answer = check_upstream(gate.requires, variables=MONTH, store=store)
    now = gate.since + timedelta(hours=1, minutes=58)
    look = judge(answer, patience=Patience(gate.since), poll=gate.poll, now=now)
    assert (look.pause, look.left) == (timedelta(minutes=2), timedelta(minutes=2))


def test_of_several_deadlines_the_next_one_is_looked_at_and_the_last_one_kept(
    store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt(month="2026-09"))
    requires = [{"task": CALC, "wait": "1h"}, {"task": CALC, "wait": "3h"}]
    asked = {"required_task": None, "requires": requires, "wait": None}
    gate = deferred(store=store_url, **asked).trigger.gate
    answer = check_upstream(gate.requires, variables=MONTH, store=store)
    look = judge(answer, patience=Patience(gate.since), poll=gate.poll, now=gate.since)
    assert (look.next_end, look.left) == (timedelta(hours=1), timedelta(hours=3))


def test_airflows_own_timeout_comes_after_the_triggers_deadline(
    store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt(month="2026-09"))
    timeout = deferred(store=store_url).timeout
    assert timedelta(hours=2) < timeout <= timedelta(hours=2, minutes=5)


def test_the_trigger_opens_once_the_success_is_on_record(
    store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt(month="2026-09"))
    trigger = restored(deferred(store=store_url, poll="1s").trigger)
    timer = threading.Timer(0.3, lambda: store.save(a_receipt("run-2")))
    timer.start()
    event = first_event(trigger)
    timer.join()
    assert (event["outcome"], event["answer"]["pins"][0]["run_id"]) == ("open", "run-2")


class SlowGate(Gate):
    """A gate whose store does not answer before it is told to."""

    is_asked, go_on = threading.Event(), threading.Event()

    def look(self, opened: object = None) -> Look:
        self.is_asked.set()
        assert self.go_on.wait(60)
        name = threading.current_thread().name
        return Look(outcome=Outcome.REFUSED, message=name)


def test_a_slow_store_does_not_hold_up_other_triggers(store: ReceiptStore, store_url: str) -> None:
    trigger = deferred(store=store_url, allow_unknown=True).trigger
    trigger.gate = SlowGate.of(trigger.gate.fields())

    async def race() -> str:
        running = asyncio.create_task(anext(trigger.run()))
        while not SlowGate.is_asked.is_set():
            await asyncio.sleep(0.02)
        for _ in range(5):
            await asyncio.sleep(0.02)
        assert not running.done()
        SlowGate.go_on.set()
        return (await running).payload["message"]

    assert asyncio.run(race()) != threading.main_thread().name


def a_gate() -> UpstreamReceiptSensor:
    return UpstreamReceiptSensor(task_id="gate", required_task=CALC, variables=MONTH)


@pytest.mark.parametrize(
    "event",
    [
        None,
        "open",
        {},
        {"outcome": "open"},
        {"outcome": "open", "message": "", "answer": None},
        {"outcome": "open", "message": "", "answer": {}},
        {"outcome": "open", "message": "", "answer": {"verdict": "UNKNOWN"}},
        {"outcome": "wait", "message": "", "answer": {"verdict": "PASS"}},
        {"outcome": "ajar", "message": "", "answer": {"verdict": "PASS"}},
        {"status": "success"},
    ],
    ids=str,
)
def test_an_event_that_is_no_answer_opens_nothing(event: Any) -> None:
    with pytest.raises(AirflowFailException, match="without an answer"):
        a_gate().execute_complete({}, event)


@pytest.mark.parametrize(
    ("outcome", "raises"),
    [("timed_out", AirflowSensorTimeout), ("refused", AirflowFailException)],
)
def test_the_triggers_no_is_the_tasks_no(outcome: str, raises: type[Exception]) -> None:
    event = {"outcome": outcome, "message": "the reason", "answer": None}
    with pytest.raises(raises, match="the reason"):
        a_gate().execute_complete({}, event)


def test_a_trigger_whose_airflow_names_no_store_refuses_and_says_so(airflow_db: None) -> None:
    fields: Mapping[str, Any] = {
        "requires": [{"task": CALC, "wait": "1h"}],
        "variables": MONTH,
        "store": None,
        "store_conn_id": None,
        "since": datetime.now(UTC).isoformat(),
        "poll": 60.0,
    }
    event = first_event(UpstreamReceiptTrigger(**fields))
    assert event["outcome"] == "refused"
    assert "No receipt store is named" in event["message"]


def test_a_deferred_gate_opens_in_the_end_and_its_answer_is_pushed(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt("run-1", Status.RUNNING))
    with DAG("deferred", schedule=None) as dag:
        asked = {"required_task": CALC, "variables": MONTH, "store": store_url}
        TellingSensor(task_id="gate", wait="1m", poll="1s", deferrable=True, **asked)
    timer = threading.Timer(1.0, lambda: store.save(a_receipt("run-1")))
    timer.start()
    ended = run_dag(dag)
    timer.join()
    assert ended.states == {"gate": "success"}
    assert ended.returned["gate"]["pins"][0]["run_id"] == "run-1"


def test_a_config_is_read_in_the_worker_and_travels_with_the_trigger(
    store: ReceiptStore, store_url: str, tmp_path: Path
) -> None:
    store.save(a_receipt(month="2026-09"))
    config = tmp_path / "config.yaml"
    config.write_text(f"CONFIG:\n  requires:\n    - task: {CALC}\n      wait: 3h\n      poll: 5m\n")
    asked = {"store": store_url, "required_task": None, "wait": None}
    by_file = deferred(config=str(config), **asked).trigger
    config.unlink()
    by_dict = deferred(requires={"task": CALC, "wait": "3h", "poll": "5m"}, **asked).trigger
    assert restored(by_file).gate.requires == by_dict.gate.requires
    assert restored(by_file).gate.look().every == timedelta(minutes=5)


def test_a_trigger_that_an_older_version_has_left_goes_on(
    store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt(month="2026-09"))
    kept = deferred(store=store_url).trigger.gate.fields()
    del kept["asker"], kept["window"]
    store.save(a_receipt("run-2"))
    assert first_event(UpstreamReceiptTrigger(**kept))["outcome"] == "open"
