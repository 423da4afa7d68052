"""The end of a DAG run shows which of its runs were killed in their last try."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.airflow.conftest import CALC, a_receipt
from tests.airflow.test_listener_outside import END, calc_dag, open_receipt, row
from ubunye_airflow.listener import dagruns, left_open, outside
from ubunye_core import Orchestrator, ReceiptStore, Status

__all__ = ["row"]
Rows = Callable[..., Any]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for the last words of a task."""
    monkeypatch.setenv("AIRFLOW__CORE__TASK_SUCCESS_OVERTIME", "0")
    monkeypatch.setattr(left_open, "LONGER", timedelta(0))


def run_of(ti: Any) -> Any:
    """Its DAG run, as the scheduler has it when that ends."""
    run = ti.dag_run
    run.dag = ti.task.dag
    return run


def waited() -> None:
    assert outside.background.drain(20)
    assert left_open.later.drain(20)


@pytest.mark.parametrize("state", ["failed", "success"])
def test_what_a_dag_run_left_open_is_interrupted_when_it_ends(
    state: str, row: Rows, store: ReceiptStore
) -> None:
    ti = row(calc_dag(f"left_open_{state}"), "calc")
    before = open_receipt(ti, store)
    end = dagruns.on_dag_run_failed if state == "failed" else dagruns.on_dag_run_success
    end(run_of(ti), "over")
    waited()
    (found,) = store.list_runs(CALC)
    assert (found.run_id, found.status, found.ended_by) == (
        before.run_id,
        Status.INTERRUPTED,
        "airflow",
    )
    assert (
        found.error == f"Its DAG run has ended ({state}), and this try has not told how it ended."
    )


def test_a_run_that_tells_its_end_a_little_later_keeps_its_word(
    row: Rows, store: ReceiptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_open, "LONGER", timedelta(seconds=1))
    ti = row(calc_dag("left_open_late"), "calc")
    before = open_receipt(ti, store)
    dagruns.on_dag_run_success(run_of(ti), "success")
    store.save(replace(before, status=Status.SUCCESS, ended_at=END))
    waited()
    (found,) = store.list_runs(CALC)
    assert (found.status, found.ended_by) == (Status.SUCCESS, None)


def test_runs_of_other_dag_runs_and_those_started_again_since_are_left_alone(
    row: Rows, store: ReceiptStore
) -> None:
    ti = row(calc_dag("left_open_others"), "calc")
    ids = {"dag_id": ti.dag_id, "run_id": ti.run_id, "task_id": "calc", "map_index": "-1"}
    others = {
        "other-run": ({**ids, "run_id": "another"}, END),
        "other-dag": ({**ids, "dag_id": "another"}, END),
        "since": (ids, datetime.now(UTC) + timedelta(minutes=2)),
    }
    for run_id, (named, started) in others.items():
        orchestrator = Orchestrator(name="airflow", ids=named, attempt=1, max_attempts=1)
        store.save(a_receipt(run_id, Status.RUNNING, orchestrator=orchestrator, started_at=started))
    dagruns.on_dag_run_failed(run_of(ti), "task_failure")
    waited()
    assert {found.status for found in store.list_runs(CALC)} == {Status.RUNNING}


def test_the_end_of_a_dag_run_asks_the_scheduler_nothing(row: Rows, store: ReceiptStore) -> None:
    from airflow import settings
    from sqlalchemy import event

    ti = row(calc_dag("left_open_untouched"), "calc")
    open_receipt(ti, store)
    run = run_of(ti)
    asked: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        asked.append(statement)

    assert settings.engine is not None
    event.listen(settings.engine, "before_cursor_execute", note)
    try:
        dagruns.on_dag_run_failed(run, "task_failure")
        waited()
    finally:
        event.remove(settings.engine, "before_cursor_execute", note)
    assert store.list_runs(CALC)[0].status is Status.INTERRUPTED
    assert asked == []
