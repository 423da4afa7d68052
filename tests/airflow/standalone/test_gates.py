"""Gates on a real scheduler: they wait, open, and run out of time."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.airflow.standalone import elsewhere
from tests.airflow.standalone.early import DYING, Early
from tests.airflow.standalone.rest import User
from tests.airflow.standalone.server import SLOTS
from ubunye_core import ReceiptStore

MODES = ("poke", "reschedule", "deferrable")


def test_a_gate_opens_once_another_process_has_recorded_the_upstream_and_pins_its_run(
    admin: User, store: ReceiptStore, store_url: str
) -> None:
    assert elsewhere.run("opens/monthly/calc", store_url, month="2026-09") == 0
    run_id = admin.trigger("gate_opens", month="2026-10")
    waiting = admin.when_tasks("gate_opens", run_id, gate="deferred")
    assert waiting.states["send"] == "None"

    assert elsewhere.run("opens/monthly/calc", store_url, month="2026-10") == 0
    ended = admin.ended("gate_opens", run_id)
    assert ended.states == {"gate": "success", "send": "success"}
    upstream = store.list_runs("opens/monthly/calc")[0]
    (sent,) = store.list_runs("opens/monthly/send")
    assert [(pin.task, pin.run_id) for pin in sent.upstreams] == [
        ("opens/monthly/calc", upstream.run_id)
    ]
    assert sent.orchestrator is not None
    assert sent.orchestrator.ids["run_id"] == run_id
    assert sent.triggered_by is not None
    assert (sent.triggered_by.kind, sent.triggered_by.actor) == ("manual", "admin")


def test_a_gate_that_timed_out_is_not_retried_in_any_mode(admin: User, store_url: str) -> None:
    assert elsewhere.run("late/monthly/calc", store_url, month="2026-09") == 0
    run_id = admin.trigger("gate_times_out", month="2026-10")
    ended = admin.ended("gate_times_out", run_id)
    assert ended.states == dict.fromkeys(MODES, "failed")
    for mode, task in ended.tasks.items():
        # A short pause may cost a try (Airflow's own race); a timeout that is retried, every one.
        assert task["try_number"] <= task["max_tries"]
        log = admin.log("gate_times_out", run_id, mode, task["try_number"])
        assert "AirflowSensorTimeout" in log
        assert "Waited 0:00:08" in log
        told = admin.xcom("gate_times_out", run_id, mode)
        assert told["verdict"] == "FAIL"
        assert "has not succeeded for month=2026-10" in told["reason"]


def test_a_retry_does_not_wait_anew(admin: User, early: Early) -> None:
    began = early.kill_of_the_first_try()
    gate = admin.ended(DYING, early.dying).tasks["gate"]
    assert (gate["state"], gate["try_number"]) == ("failed", 2)
    end, again = (datetime.fromisoformat(gate[name]) for name in ("end_date", "start_date"))
    assert began + timedelta(seconds=45) <= end < again + timedelta(seconds=45)


def test_case_10_more_gates_than_slots_wait_while_their_upstream_runs_and_every_one_opens(
    admin: User, store_url: str, store: ReceiptStore
) -> None:
    assert SLOTS < 25
    assert elsewhere.run("many/monthly/calc", store_url) == 0
    run_id = admin.trigger("many_gates")
    deferred = {f"deferrable[{part}]": "deferred" for part in range(20)}
    others = {f"reschedule[{part}]" for part in range(5)}
    admin.when_tasks("many_gates", run_id, **deferred)
    upstream = admin.trigger("upstream_of_many")
    assert admin.ended("upstream_of_many", upstream).state == "success"
    ended = admin.ended("many_gates", run_id)
    assert ended.states == dict.fromkeys({*deferred, *others}, "success")
