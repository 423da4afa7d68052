"""What users ran into, on a real scheduler. Numbers are of the cases."""

from __future__ import annotations

from datetime import timedelta

from tests.airflow.standalone import elsewhere
from tests.airflow.standalone.early import LONG_WAIT, Early, sleep_until
from tests.airflow.standalone.rest import User
from ubunye_core import ReceiptStore

MODES = ("poke", "reschedule", "deferrable")


def test_case_3_a_failure_of_the_upstream_ends_every_mode_with_the_same_words(
    admin: User, store_url: str
) -> None:
    upstream = elsewhere.start("fails/monthly/calc", store_url, "sh", "-c", "read line; exit 1")
    run_id = admin.trigger("gates_on_a_failure", month="2026-10")
    waiting = {"running", "deferred", "up_for_reschedule"}
    admin.when(
        "gates_on_a_failure",
        run_id,
        lambda run: len(run.states) == 3 and set(run.states.values()) <= waiting,
        "to wait",
    )
    assert upstream.stdin is not None
    upstream.stdin.close()
    assert upstream.wait(60) == 1
    ended = admin.ended("gates_on_a_failure", run_id)
    assert ended.states == dict.fromkeys(MODES, "failed")
    said = {admin.xcom("gates_on_a_failure", run_id, mode)["reason"] for mode in MODES}
    (reason,) = said
    assert "fails/monthly/calc has not succeeded for month=2026-10" in reason
    assert "(error at" in reason


def test_case_5_a_task_that_nobody_knows_is_refused_at_once_unless_the_gate_is_patient(
    admin: User, store_url: str
) -> None:
    assert elsewhere.run("unknown/monthly/calc", store_url) == 0
    run_id = admin.trigger("gates_on_the_unknown", month="2026-10")
    run = admin.when_tasks("gates_on_the_unknown", run_id, strict="failed", patient="deferred")
    assert run.state == "running"
    reason = admin.xcom("gates_on_the_unknown", run_id, "strict")["reason"]
    assert "unknown/monthly/calk is unknown" in reason
    assert "Did you mean unknown/monthly/calc" in reason
    assert run.tasks["strict"]["try_number"] <= run.tasks["strict"]["max_tries"]

    assert elsewhere.run("nobody/knows/this", store_url) == 0
    ended = admin.ended("gates_on_the_unknown", run_id)
    assert ended.states == {"strict": "failed", "patient": "success"}


def test_case_40_health_is_asked_in_a_worker_without_a_database_or_a_token(
    admin: User, store_url: str
) -> None:
    assert elsewhere.run("healthy/monthly/calc", store_url) == 0
    run_id = admin.trigger("no_database")
    ended = admin.ended("no_database", run_id)
    assert ended.states == {"database": "success", "health": "success"}
    told = admin.xcom("no_database", run_id, "database")
    assert "not allowed" in told["error"]
    assert told["connection"].startswith("airflow-db-not-allowed:")
    assert told["tokens"] == []
    assert admin.xcom("no_database", run_id, "health")["verdict"] == "PASS"


def test_case_4_an_upstream_that_shows_signs_of_life_is_waited_for_longer_than_a_minute(
    admin: User, store: ReceiptStore, early: Early
) -> None:
    sleep_until(early.began + timedelta(seconds=61))
    assert early.upstream.poll() is None
    (running,) = store.list_runs("slow/monthly/calc")
    assert running.status == "running"
    assert admin.run(LONG_WAIT, early.long_wait).states == {"gate": "deferred"}
    early.let_the_upstream_end()
    assert admin.ended(LONG_WAIT, early.long_wait).states == {"gate": "success"}
