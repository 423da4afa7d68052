"""What is killed writes nothing, and its receipt is ended all the same."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime

import pytest

from tests.dagster.live.client import Client
from tests.dagster.live.conftest import A_WHILE, finished
from tests.dagster.live.server import until
from ubunye_core import Receipt, ReceiptStore, Status, Verdict, job_health

SENSOR = ("calculation", "receipts_are_ended")
TASK = "pay/monthly/tax"


@pytest.mark.parametrize(
    ("job", "partition", "said"),
    [
        pytest.param("tax_job", "2024-01-01", "run ", id="the worker of a run"),
        pytest.param("tax_in_a_step_of_its_own", "2024-02-01", "step ", id="a step's process"),
    ],
)
def test_case_14_a_run_whose_process_is_killed_is_interrupted_by_the_sensor(
    client: Client, store: ReceiptStore, job: str, partition: str, said: str
) -> None:
    client.turn_on(*SENSOR)
    run_id = client.launch("calculation", job, partition=partition)

    def receipt() -> Receipt | None:
        found = store.search(TASK, batch={"month": partition[:7]})
        return found[0] if found else None

    until(receipt, within=A_WHILE, what=lambda: f"a receipt of {client.run(run_id)}")
    running = receipt()
    assert running is not None
    assert (running.status, running.pid is None) == (Status.RUNNING, False)
    killed = datetime.now(UTC)
    os.kill(int(str(running.pid)), signal.SIGKILL)

    until(
        lambda: store.load(TASK, running.run_id).status is not Status.RUNNING,
        within=A_WHILE,
        what=lambda: f"its end; the run is {client.run(run_id)}, {client.ticks(*SENSOR)[-3:]}",
    )
    ended = store.load(TASK, running.run_id)
    assert finished(client, run_id).status == "FAILURE"
    assert (ended.status, ended.ended_by) == (Status.INTERRUPTED, "reconcile")
    assert ended.ended_at is not None
    assert killed < ended.ended_at < datetime.now(UTC)
    assert f"Dagster says that {said}" in str(ended.error)
    assert run_id in str(ended.error)
    health = job_health(TASK, store=store)
    assert health.verdict is Verdict.FAIL
    assert health.tasks[0].stuck == ()
    assert [each.run_id for each in store.search(TASK, batch={"month": partition[:7]})] == [
        running.run_id
    ]
