"""Workers that die, and states that a person sets by hand."""

from __future__ import annotations

import psutil

from tests.airflow.standalone.rest import ENOUGH, User
from tests.airflow.standalone.server import Standalone, until
from ubunye_core import ReceiptStore, Status

KILLED, HAND = "killed/monthly/calc", "hand/monthly/calc"


def test_a_task_whose_process_is_killed_leaves_an_interrupted_run_and_the_scheduler_lives_on(
    server: Standalone, admin: User, store: ReceiptStore
) -> None:
    run_id = admin.trigger("killed_in_its_work", month="2026-10")
    until(
        lambda: store.list_runs(KILLED) and admin.run("killed_in_its_work", run_id).tasks,
        within=ENOUGH,
        what="the receipt of a run that has begun",
    )
    (begun,) = store.list_runs(KILLED)
    assert begun.status is Status.RUNNING
    assert begun.pid is not None
    psutil.Process(begun.pid).kill()
    ended = admin.ended("killed_in_its_work", run_id)
    assert ended.states == {"calc": "success"}
    until(
        lambda: store.load(KILLED, begun.run_id).status is Status.INTERRUPTED,
        within=ENOUGH,
        what="the receipt to say that the run was interrupted",
    )
    again, left = store.list_runs(KILLED)
    assert (left.ended_by, left.started_at) == ("airflow", begun.started_at)
    assert again.status is Status.SUCCESS
    assert [each.orchestrator.attempt for each in (left, again) if each.orchestrator] == [1, 2]
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
