"""What a run did not tell itself is put on record by others, and never as a success."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ubunye_core import (
    Orchestrator,
    Receipt,
    Status,
    TriggeredBy,
    end_attempt,
    record_afterwards,
    record_run,
)
from ubunye_core.stores import FileStore, MemoryStore
from ubunye_core.testing import a_receipt, at

TASK = "pay/monthly/calc"
TRY = Orchestrator(
    name="airflow", ids={"dag_id": "pay", "run_id": "r", "task_id": "calc"}, attempt=1
)
GONE = {"ended_by": "airflow", "reason": "the worker is gone, password=hunter22"}


def test_the_open_run_of_an_attempt_is_interrupted_and_says_by_whom_and_why(
    store: MemoryStore,
) -> None:
    store.save(a_receipt(status=Status.RUNNING, orchestrator=TRY, run_id="r-1"))
    store.save(a_receipt(status=Status.RUNNING, orchestrator=replace(TRY, attempt=2), run_id="r-2"))
    (found,) = end_attempt(TASK, TRY, store=store, **GONE)
    assert (found.run_id, found.status, found.ended_by) == ("r-1", Status.INTERRUPTED, "airflow")
    assert found.error == "the worker is gone, password=***"
    assert found.ended_at is not None
    assert store.load(TASK, "r-2").status is Status.RUNNING


def test_an_attempt_that_has_ended_stays_as_it_is_and_one_without_receipts_has_none(
    folder: FileStore,
) -> None:
    folder.root.mkdir()
    assert end_attempt(TASK, TRY, store=folder, **GONE) == []
    with record_run(TASK, store=folder, orchestrator=TRY):
        pass
    (found,) = end_attempt(TASK, TRY, store=folder, **GONE)
    assert (found.status, found.ended_by) == (Status.SUCCESS, None)


def test_a_run_that_was_ended_from_outside_and_lives_after_all_has_the_last_word(
    store: MemoryStore,
) -> None:
    with record_run(TASK, store=store, orchestrator=TRY):
        end_attempt(TASK, TRY, store=store, **GONE)
    (found,) = store.search()
    assert (found.status, found.ended_by, found.error) == (Status.SUCCESS, None, None)


def recorded(store: MemoryStore, status: Status = Status.SKIPPED) -> Receipt:
    return record_afterwards(
        TASK,
        status,
        store=store,
        started_at=at(0),
        variables={"month": "2026-10", "api_key": "geheim-1"},
        triggered_by=TriggeredBy(kind="manual", actor="ann", reason="it said geheim-1"),  # type: ignore[arg-type]
        orchestrator=TRY,
        **GONE,
    )


def test_a_run_without_a_receipt_is_recorded_afterwards_and_twice_is_once(
    store: MemoryStore,
) -> None:
    assert recorded(store).run_id == recorded(store).run_id
    (found,) = store.search()
    assert (found.status, found.started_at, found.ended_by) == (Status.SKIPPED, at(0), "airflow")
    assert dict(found.variables) == {"month": "2026-10", "api_key": "***"}
    assert found.triggered_by is not None
    assert (found.triggered_by.actor, found.triggered_by.reason) == ("ann", "it said ***")
    assert found.recorder is not None


def test_nobody_but_the_run_can_say_that_it_succeeded_or_runs(store: MemoryStore) -> None:
    for status in (Status.SUCCESS, Status.RUNNING):
        with pytest.raises(ValueError, match="Only the run itself"):
            recorded(store, status)
    assert not store.search()


def test_a_start_in_the_future_is_now(store: MemoryStore) -> None:
    found = record_afterwards(
        TASK, Status.SKIPPED, store=store, started_at=at(0) + timedelta(days=36_500), **GONE
    )
    assert found.started_at == found.ended_at
