"""A recorder that is called again for the same attempt goes on with its receipt."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ubunye_core import (
    Orchestrator,
    Receipt,
    Status,
    TriggeredBy,
    TriggerKind,
    Verdict,
    Window,
    check_upstream,
    record_run,
)
from ubunye_core.runids import run_id_of_attempt, time_in
from ubunye_core.stores import FileStore, MemoryStore
from ubunye_core.testing import a_receipt, at

TASK = "pay/monthly/calc"
IDS = {"dag_id": "pay", "run_id": "manual__1", "task_id": "calc", "map_index": "-1"}
FIRST_TRY = Orchestrator(name="airflow", ids=IDS, attempt=1, max_attempts=3)
SECOND_TRY = replace(FIRST_TRY, attempt=2)
Only = Callable[[], Receipt]


class PauseError(Exception):
    """A scheduler's way to wait without a process."""


def pauses(error: BaseException) -> Status | None:
    return Status.RUNNING if isinstance(error, PauseError) else None


def test_an_attempt_that_is_resumed_goes_on_with_its_receipt(
    store: MemoryStore, only: Only
) -> None:
    first = record_run(TASK, store=store, orchestrator=FIRST_TRY, how_it_ended=pauses)
    with contextlib.suppress(PauseError), first as run:
        run.count(extracted=5)
        raise PauseError
    paused = only()
    assert (paused.status, paused.heartbeat_every) == (Status.RUNNING, None)
    with record_run(TASK, store=store, orchestrator=FIRST_TRY) as run:
        assert only().heartbeat_every == timedelta(seconds=30)
        run.count(loaded=4)
    receipt = only()
    assert (receipt.run_id, receipt.started_at) == (paused.run_id, paused.started_at)
    assert receipt.status is Status.SUCCESS
    assert receipt.counts is not None
    assert (receipt.counts.extracted, receipt.counts.loaded) == (5, 4)


def test_a_resumed_attempt_says_where_it_runs_now_and_how_long_it_took_in_all(
    store: MemoryStore, only: Only
) -> None:
    store.save(
        a_receipt(status=Status.RUNNING, orchestrator=FIRST_TRY, host="worker-1", pid=7,
                  started_at=at(-60 * 24 * 365))
    )  # fmt: skip
    with record_run(TASK, store=store, orchestrator=FIRST_TRY):
        pass
    receipt = only()
    assert receipt.pid == os.getpid()
    assert receipt.host != "worker-1"
    assert receipt.ended_at is not None
    assert receipt.duration_sec == (receipt.ended_at - receipt.started_at).total_seconds()


def test_a_second_recorder_of_an_ended_attempt_erases_nothing(
    store: MemoryStore, only: Only
) -> None:
    with record_run(TASK, store=store, orchestrator=FIRST_TRY) as run:
        run.count(loaded=4)
    ended = only()
    with record_run(TASK, store=store, orchestrator=FIRST_TRY):
        pass
    assert only() == ended
    recording = record_run(TASK, store=store, orchestrator=FIRST_TRY)
    with pytest.raises(ValueError, match="x"), recording:
        raise ValueError("x")
    assert only() == ended


def test_another_attempt_has_a_receipt_of_its_own(store: MemoryStore) -> None:
    recording = record_run(TASK, store=store, orchestrator=FIRST_TRY)
    with pytest.raises(ValueError, match="x"), recording:
        raise ValueError("x")
    with record_run(TASK, store=store, orchestrator=SECOND_TRY):
        pass
    assert [receipt.status for receipt in store.search()] == [Status.SUCCESS, Status.ERROR]
    assert store.search()[1].has_tries_left


@pytest.mark.parametrize(
    "other",
    [
        replace(FIRST_TRY, name="dagster"),
        replace(FIRST_TRY, ids={**IDS, "run_id": "manual__2"}),
        replace(FIRST_TRY, ids={**IDS, "map_index": "0"}),
        Orchestrator(name="airflow"),
    ],
)
def test_what_differs_in_anything_is_another_run(store: MemoryStore, other: Orchestrator) -> None:
    for orchestrator in (FIRST_TRY, other):
        with record_run(TASK, store=store, orchestrator=orchestrator):
            pass
    assert len(store.search()) == 2


def test_the_id_of_an_attempt_comes_from_its_first_start_and_its_ids(
    store: MemoryStore, only: Only
) -> None:
    with record_run(TASK, store=store, orchestrator=FIRST_TRY):
        pass
    receipt = only()
    ids = {**IDS, "attempt": "1"}
    assert receipt.run_id == run_id_of_attempt(receipt.started_at, "airflow", ids)
    shown = time_in(receipt.run_id)
    assert shown is not None
    assert timedelta(0) <= receipt.started_at - shown < timedelta(milliseconds=1)


def test_ids_may_be_numbers_and_odd_text(folder: FileStore) -> None:
    odd = Orchestrator(
        name="any",
        ids={"map_index": -1, "key": "\ud800", "none": None},
        attempt=1,  # type: ignore[dict-item]
    )
    for _ in range(2):
        with record_run(TASK, store=folder, orchestrator=odd):
            pass
    (receipt,) = folder.search()
    assert receipt.orchestrator is not None
    assert receipt.orchestrator.ids == {"map_index": "-1", "key": "\ud800"}


def test_a_run_that_was_closed_by_hand_and_lives_has_the_last_word(
    store: MemoryStore, only: Only
) -> None:
    with record_run(TASK, store=store) as run:
        store.save(replace(run.receipt, status=Status.INTERRUPTED, ended_by="close"))
        run.count(loaded=4)
    assert (only().status, only().ended_by) == (Status.SUCCESS, None)
    assert only().counts is not None


def test_a_run_id_of_ones_own_goes_on_while_it_runs(store: MemoryStore, only: Only) -> None:
    store.save(a_receipt(run_id="mine", status=Status.RUNNING))
    with record_run(TASK, store=store, run_id="mine"):
        pass
    assert (only().run_id, only().started_at, only().status) == ("mine", at(0), Status.SUCCESS)


def test_a_run_id_that_only_begins_like_another_is_new(store: MemoryStore) -> None:
    store.save(a_receipt(run_id="mine-2"))
    with record_run(TASK, store=store, run_id="mine"):
        pass
    assert {receipt.run_id for receipt in store.search()} == {"mine", "mine-2"}


def test_a_run_id_that_was_used_before_is_said_loudly(
    store: MemoryStore, only: Only, caplog: pytest.LogCaptureFixture
) -> None:
    with record_run(TASK, store=store, run_id="daily"):
        pass
    first = only()
    assert caplog.text == ""
    with record_run(TASK, store=store, run_id="daily"):
        pass
    assert only() == first
    (warning,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "daily has ended already (success), so nothing of this run is recorded" in (
        warning.getMessage()
    )


def is_met(store: MemoryStore, month: str) -> bool:
    answer = check_upstream(TASK, variables={"month": month}, store=store)
    return answer.verdict is Verdict.PASS


@pytest.mark.parametrize("ends", [Status.RUNNING, Status.ERROR, Status.SUCCESS])
@pytest.mark.parametrize("known_by", [{"run_id": "nightly"}, {"orchestrator": FIRST_TRY}])
def test_a_success_for_one_batch_is_never_recorded_as_that_of_another(
    store: MemoryStore, known_by: dict[str, object], ends: Status
) -> None:
    """An id that is used again, and several batches in one attempt of a scheduler."""
    first = record_run(
        TASK, variables={"month": "2026-09"}, store=store, how_it_ended=lambda _: ends, **known_by
    )  # type: ignore[arg-type]
    with contextlib.suppress(PauseError), first:
        raise PauseError
    with record_run(TASK, variables={"month": "2026-10"}, store=store, **known_by):  # type: ignore[arg-type]
        pass
    assert is_met(store, "2026-10")
    assert is_met(store, "2026-09") is (ends is Status.SUCCESS)
    assert len(store.search()) == 2


def test_each_window_of_one_attempt_has_a_receipt(store: MemoryStore) -> None:
    windows = [Window(start=at(day), end=at(day + 1)) for day in (0, 1)]
    for window in (*windows, windows[1]):
        with record_run(TASK, store=store, orchestrator=FIRST_TRY, window=window):
            pass
    assert [receipt.window for receipt in store.search()] == windows[::-1]


def test_a_second_recorder_that_names_no_data_goes_on_with_the_receipt(
    store: MemoryStore, only: Only
) -> None:
    first = record_run(TASK, variables={"month": "2026-09"}, store=store, orchestrator=FIRST_TRY)
    with first, record_run(TASK, store=store, orchestrator=FIRST_TRY):
        pass
    assert only().variables == {"month": "2026-09"}


def test_a_recorder_inside_another_says_more_and_keeps_what_it_was_told(
    store: MemoryStore, only: Only, tmp_path: Path
) -> None:
    work = tmp_path / "work.py"
    work.write_text("print('work')")
    by_ann = TriggeredBy(kind=TriggerKind.MANUAL, actor="ann")
    around = record_run(
        TASK, store=store, orchestrator=FIRST_TRY, triggered_by=by_ann, heartbeat_every="0.02s"
    )
    with around:
        without = only().code_hash
        told = replace(by_ann, actor=None, reason="the bank was late, token=abc123")
        window = Window(start=at(0), end=at(60))
        with record_run(
            TASK, store=store, orchestrator=FIRST_TRY, triggered_by=told, window=window, code=work
        ) as run:
            run.count(loaded=4)
            run.store.save(run.receipt)
            time.sleep(0.2)  # the one around has no beat that would take the count away
            assert only().counts is not None
    found = only()
    assert (found.status, found.window) == (Status.SUCCESS, window)
    assert found.code_hash not in (without, None)
    assert found.triggered_by == replace(by_ann, reason="the bank was late, token=***")
    assert found.counts is not None
    assert found.counts.loaded == 4
