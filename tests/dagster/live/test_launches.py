"""Receipts of one place launch runs in another: once, in order, and with their upstream only."""

from __future__ import annotations

from tests.dagster.live.client import Client, RunSeen, TickSeen
from tests.dagster.live.conftest import A_WHILE, Succeed, finished, two_ticks_after
from tests.dagster.live.server import until
from ubunye_core import ReceiptStore, Status

SENSOR = ("payment", "pay_when_calculated")
UPSTREAM, TASK = "pay/monthly/calc", "pay/monthly/send"


def launched(client: Client) -> list[RunSeen]:
    return client.runs(dagster__sensor_name="pay_when_calculated")


def runs_of(client: Client, *partitions: str) -> list[RunSeen]:
    """The runs that the sensor launched for these partitions, once each of them has one."""

    def found() -> list[RunSeen]:
        return [run for run in launched(client) if run.partition in partitions]

    until(
        lambda: len(found()) >= len(partitions),
        within=A_WHILE,
        what=lambda: f"runs of {partitions}; ticks: {client.ticks(*SENSOR)[-3:]}",
    )
    for run in found():
        finished(client, run.run_id)
    return found()


def ticks_without_a_cursor(client: Client) -> list[TickSeen]:
    """Ticks of the sensor, of which the last one began after the cursor was lost."""
    before = client.last_tick(*SENSOR)
    client.wipe_cursor(*SENSOR)
    return two_ticks_after(client, *SENSOR, before)


def test_receipts_launch_one_run_each_oldest_first_and_none_twice_when_the_cursor_is_lost(
    client: Client, store: ReceiptStore, succeed: Succeed
) -> None:
    partitions = ("2024-01-01", "2024-02-01", "2024-03-01")
    for partition in reversed(partitions):
        succeed(UPSTREAM, month=partition[:7])
    client.turn_on(*SENSOR)
    runs = runs_of(client, *partitions)
    assert [run.partition for run in runs] == list(partitions)
    assert {finished(client, run.run_id).status for run in runs} == {"SUCCESS"}
    paid = [store.search(TASK, batch={"month": each[:7]})[0] for each in partitions]
    assert [each.status for each in paid] == [Status.SUCCESS] * 3
    starts = [each.started_at for each in paid]
    assert starts == sorted(starts)
    assert [each.triggered_by and each.triggered_by.kind for each in paid] == ["sensor"] * 3

    asked_again = False
    for _ in range(5):  # a tick that is under way then writes the cursor anew
        ticks = ticks_without_a_cursor(client)
        assert [tick.runs for tick in ticks] == [()] * len(ticks)
        asked_again = any(set(partitions) <= set(tick.run_keys) for tick in ticks)
        if asked_again:
            break
    assert asked_again
    assert len([run for run in launched(client) if run.partition in partitions]) == 3


def test_case_7_a_month_that_another_code_location_calculated_is_paid(
    client: Client, store: ReceiptStore
) -> None:
    client.turn_on(*SENSOR)
    run_id = client.launch("calculation", "calc_job", partition="2024-05-01")
    assert finished(client, run_id).status == "SUCCESS"
    (run,) = runs_of(client, "2024-05-01")
    (calculated,) = store.search(UPSTREAM, batch={"month": "2024-05"})
    assert run.tags["ubunye/receipt"] == calculated.run_id
    assert run.tags["dagster/code_location"] == "payment"
    (paid,) = store.search(TASK, batch={"month": "2024-05"})
    assert paid.status is Status.SUCCESS
    assert [pin.run_id for pin in paid.upstreams] == [calculated.run_id]
    assert calculated.orchestrator is not None
    assert paid.orchestrator is not None
    assert calculated.orchestrator.ids["instance"] == paid.orchestrator.ids["instance"]


def test_a_backfill_of_a_month_that_was_not_calculated_stops_before_the_body(
    client: Client, store: ReceiptStore
) -> None:
    backfill = client.backfill(TASK, ["2024-08-01"])
    until(
        lambda: client.runs(dagster__backfill=backfill),
        within=A_WHILE,
        what="the run of the backfill",
    )
    (run,) = client.runs(dagster__backfill=backfill)
    assert finished(client, run.run_id).status == "FAILURE"
    events = client.events(run.run_id)
    assert not [each for each in events if each.get("message") == "paid"]
    # A backfill of an asset has no check in it: what stopped it is the gate.
    assert not [each for each in events if each.get("eventType") == "ASSET_CHECK_EVALUATION"]
    (refused,) = store.search(TASK, batch={"month": "2024-08"})
    assert refused.was_refused
    assert refused.triggered_by is not None
    assert refused.triggered_by.kind == "backfill"
    (failure,) = [each for each in events if each.get("eventType") == "STEP_FAILURE"]
    assert failure["stepKey"] == "pay__monthly__send"
