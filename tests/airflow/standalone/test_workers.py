"""Workers that die, and states that a person sets by hand."""

from __future__ import annotations

import psutil

from tests.airflow.standalone.rest import ENOUGH, User
from tests.airflow.standalone.server import Standalone, until
from ubunye_core import Receipt, ReceiptStore, Status

KILLED, LAST, HAND = "killed/monthly/calc", "last/monthly/calc", "hand/monthly/calc"


def kill_a_run(store: ReceiptStore, task: str) -> Receipt:
    """Wait for a run that has begun, and kill its process."""
    until(lambda: store.list_runs(task), within=ENOUGH, what=f"a run of {task} to begin")
    (begun,) = store.list_runs(task)
    assert begun.status is Status.RUNNING
    assert begun.pid is not None
    psutil.Process(begun.pid).kill()
    return begun


def interrupted(store: ReceiptStore, begun: Receipt) -> Receipt:
    """The receipt of a run that was killed, once it says so."""
    until(
        lambda: store.load(begun.task, begun.run_id).status is Status.INTERRUPTED,
        within=ENOUGH,
        what="the receipt to say that the run was interrupted",
    )
    return store.load(begun.task, begun.run_id)


def test_a_run_whose_process_is_killed_is_interrupted_and_the_scheduler_lives_on(
    server: Standalone, admin: User, store: ReceiptStore
) -> None:
    retried = admin.trigger("killed_in_its_work", month="2026-10")
    final = admin.trigger("killed_in_its_last_try", month="2026-10")
    killed, last = kill_a_run(store, KILLED), kill_a_run(store, LAST)
    assert admin.ended("killed_in_its_work", retried).states == {"calc": "success"}
    assert admin.ended("killed_in_its_last_try", final).states == {"calc": "failed"}
    for begun in (killed, last):
        left = interrupted(store, begun)
        assert (left.ended_by, left.started_at) == ("airflow", begun.started_at)
    again, first = store.list_runs(KILLED)
    assert (again.status, first.run_id) == (Status.SUCCESS, killed.run_id)
    assert [each.orchestrator.attempt for each in (first, again) if each.orchestrator] == [1, 2]

    assert server.health()["scheduler"] == "healthy"
    after = admin.trigger("open_to_all", month="2026-09")
    assert admin.ended("open_to_all", after).state == "success"


def test_a_success_that_a_person_sets_by_hand_writes_no_success_and_opens_no_gate(
    admin: User, store: ReceiptStore
) -> None:
    run_id = admin.trigger("set_by_hand", month="2026-10")
    assert admin.ended("set_by_hand", run_id).states == {"calc": "failed"}
    admin.ask(
        "PATCH",
        f"/api/v2/dags/set_by_hand/dagRuns/{run_id}/taskInstances/calc",
        {"new_state": "success"},
    )
    assert admin.run("set_by_hand", run_id).states == {"calc": "success"}
    until(
        lambda: len(store.list_runs(HAND)) > 1,
        within=ENOUGH,
        what="a receipt of what was set by hand",
    )
    decision, failure = store.list_runs(HAND)
    assert (decision.status, failure.status) == (Status.SKIPPED, Status.ERROR)
    assert decision.outcome == "set_by_hand"

    gate = admin.trigger("gate_after_a_hand", month="2026-10")
    assert admin.ended("gate_after_a_hand", gate).states == {"gate": "failed"}
    told = admin.xcom("gate_after_a_hand", gate, "gate")
    assert told["verdict"] == "FAIL"
    assert f"{HAND} has not succeeded for month=2026-10" in told["reason"]
