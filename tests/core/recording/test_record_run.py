"""A run and its receipt, from the first moment to the last."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ubunye_core import (
    ConfigError,
    Receipt,
    Status,
    StoreNotNamedError,
    TriggerKind,
    Window,
    record_run,
)
from ubunye_core.hashing import code_hash, environment, environment_hash
from ubunye_core.runids import time_in
from ubunye_core.stores import FileStore, MemoryStore

TASK = "pay/monthly/calc"
Only = Callable[[], Receipt]


def test_running_is_on_record_before_the_work_begins(store: MemoryStore, only: Only) -> None:
    with record_run(TASK, variables={"month": "2026-10"}, store=store):
        running = only()
        assert (running.status, running.ended_at) == (Status.RUNNING, None)
    assert only().status is Status.SUCCESS


def test_a_success_says_what_ran_when_and_on_what(store: MemoryStore, only: Only) -> None:
    before = datetime.now(UTC)
    with record_run(TASK, variables={"month": "2026-10"}, store=store) as run:
        pass
    receipt = only()
    assert (receipt.task, receipt.run_id, receipt.status) == (TASK, run.run_id, Status.SUCCESS)
    assert receipt.ended_at is not None
    assert before <= receipt.started_at <= receipt.ended_at <= datetime.now(UTC)
    assert receipt.duration_sec is not None
    assert 0 <= receipt.duration_sec < 5
    assert (receipt.error, receipt.outcome, receipt.ended_by) == (None, None, None)
    assert receipt.code_hash == code_hash(__file__)
    assert receipt.environment == environment().fields()
    assert receipt.environment_hash == environment_hash(environment())
    assert receipt.pid == os.getpid()
    assert receipt.host
    assert receipt.recorder is not None
    assert receipt.recorder.name == "ubunye-receipts"
    assert receipt.heartbeat_every == timedelta(seconds=30)
    assert receipt.record_version == 2


def test_a_new_run_has_an_id_that_shows_when_it_started(store: MemoryStore) -> None:
    ids = []
    for _ in range(20):
        with record_run(TASK, store=store) as run:
            ids.append(run.run_id)
            shown = time_in(run.run_id)
            assert shown is not None
            assert timedelta(0) <= run.started_at - shown < timedelta(milliseconds=1)
    assert len(set(ids)) == 20


def test_a_run_is_by_hand_unless_told_otherwise(store: MemoryStore) -> None:
    with record_run(TASK, store=store, reason="the bank asked") as run:
        trigger = run.receipt.triggered_by
    assert trigger is not None
    assert (trigger.kind, trigger.asserted_by) == (TriggerKind.MANUAL, "os-user")
    assert (trigger.reason, bool(trigger.actor)) == ("the bank asked", True)
    with record_run(TASK, store=store, scheduled=True) as run:
        trigger = run.receipt.triggered_by
    assert trigger is not None
    assert trigger.kind is TriggerKind.SCHEDULE


def test_a_window_is_kept(store: MemoryStore, only: Only) -> None:
    window = Window(
        start=datetime(2026, 10, 1, tzinfo=UTC), end=datetime(2026, 11, 1, tzinfo=UTC),
        time_zone="Asia/Jakarta",
    )  # fmt: skip
    with record_run(TASK, store=store, window=window):
        pass
    assert only().window == window


def test_the_code_that_is_hashed_is_the_callers_file_or_what_is_given(
    store: MemoryStore, tmp_path: Path
) -> None:
    (tmp_path / "job.py").write_text("x = 1\n")
    for code, wanted in (
        (None, code_hash(__file__)),
        (tmp_path, code_hash(tmp_path)),
        (str(tmp_path / "job.py"), code_hash(tmp_path / "job.py")),
        (tmp_path / "missing.py", None),
    ):
        with record_run(TASK, store=store, code=code) as run:
            assert run.receipt.code_hash == wanted


# --- how runs end ---


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (ValueError("no column 'age'\nrow 7: Jan"), Status.ERROR, "ValueError: no column 'age'"),
        (KeyError("people"), Status.ERROR, "KeyError: 'people'"),
        (KeyboardInterrupt(), Status.INTERRUPTED, "KeyboardInterrupt"),
        (GeneratorExit(), Status.INTERRUPTED, "GeneratorExit"),
        (SystemExit(0), Status.SUCCESS, None),
        (SystemExit(None), Status.SUCCESS, None),
        (SystemExit(1), Status.ERROR, "SystemExit: 1"),
        (SystemExit(0.0), Status.ERROR, "SystemExit: 0.0"),  # a process ends with 1
        (SystemExit("no input"), Status.ERROR, "SystemExit: no input"),
        (MemoryError(), Status.ERROR, "MemoryError"),
        (ExceptionGroup("two", [ValueError("a"), ValueError("b")]), Status.ERROR,
         "ExceptionGroup: two (2 sub-exceptions)"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, BaseException) else None,
)  # fmt: skip
def test_an_exception_ends_the_run_and_goes_on(
    store: MemoryStore, only: Only, error: BaseException, status: Status, text: str | None
) -> None:
    with pytest.raises(type(error)) as raised, record_run(TASK, store=store):
        raise error
    assert raised.value is error
    assert (only().status, only().error) == (status, text)


def test_what_an_error_says_can_be_kept_out(store: MemoryStore, only: Only) -> None:
    recording = record_run(TASK, store=store, record_errors="type")
    with pytest.raises(ValueError, match="private"), recording:
        raise ValueError("private")
    assert only().error == "ValueError"
    with pytest.raises(ConfigError, match="'none' is no way to record errors"):
        record_run(TASK, store=store, record_errors="none")  # type: ignore[arg-type]


def test_an_error_that_cannot_be_shown_is_recorded_by_its_type(
    store: MemoryStore, only: Only
) -> None:
    class BrokenError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    with pytest.raises(BrokenError), record_run(TASK, store=store):
        raise BrokenError
    assert (only().status, only().error) == (Status.ERROR, "BrokenError")


def test_a_run_may_decide_to_do_nothing(store: MemoryStore, only: Only) -> None:
    with record_run(TASK, store=store) as run:
        run.skip("a holiday")
    assert (only().status, only().outcome, only().error) == (Status.SKIPPED, None, "a holiday")


def test_a_run_that_decides_to_do_nothing_and_leaves_is_skipped(
    store: MemoryStore, only: Only
) -> None:
    with contextlib.suppress(SystemExit), record_run(TASK, store=store) as run:
        run.skip("a holiday")
        sys.exit(0)
    assert only().status is Status.SKIPPED


def test_a_run_that_fails_after_it_decided_to_do_nothing_is_an_error(
    store: MemoryStore, only: Only
) -> None:
    with contextlib.suppress(ValueError), record_run(TASK, store=store) as run:
        run.skip("a holiday")
        raise ValueError("x")
    assert (only().status, only().error) == (Status.ERROR, "ValueError: x")


def test_a_scheduler_says_what_its_exceptions_mean(store: MemoryStore) -> None:
    class PauseError(Exception): ...

    class SkipError(Exception): ...

    meanings = {PauseError: Status.RUNNING, SkipError: Status.SKIPPED}
    for kind, status in ((PauseError, "running"), (SkipError, "skipped"), (OSError, "error")):
        recording = record_run(TASK, store=store, how_it_ended=lambda e: meanings.get(type(e)))
        with pytest.raises(kind), recording as run:
            raise kind("why")
        receipt = store.load(TASK, run.run_id)
        assert receipt.status == status
        assert (receipt.heartbeat_every is None) == (status == "running")  # no beat is due


def test_a_scheduler_that_cannot_tell_does_not_cost_the_end(store: MemoryStore, only: Only) -> None:
    def broken(_: BaseException) -> Status:
        raise RuntimeError("?")

    with pytest.raises(ValueError, match="x"), record_run(TASK, store=store, how_it_ended=broken):
        raise ValueError("x")
    assert only().status is Status.ERROR


# --- heartbeats, threads, forks, nesting ---


def test_a_run_shows_that_it_lives_and_what_it_has_done_so_far(
    store: MemoryStore, only: Only
) -> None:
    with record_run(TASK, store=store, heartbeat_every=timedelta(milliseconds=20)) as run:
        first = only().heartbeat_at
        assert first is not None
        run.count(extracted=5)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            counts, beat = only().counts, only().heartbeat_at
            if counts is not None and beat is not None and beat > first:
                break
            time.sleep(0.01)
        assert counts is not None
        assert counts.extracted == 5
        assert only().status is Status.RUNNING
    ended = only()
    time.sleep(0.1)
    assert only() == ended
    assert ended.started_at == run.started_at
    assert f"heartbeat of {run.run_id}" not in [each.name for each in threading.enumerate()]


def test_a_store_says_how_often_a_run_shows_that_it_lives(store: MemoryStore) -> None:
    store.heartbeat_every = timedelta(minutes=10)  # type: ignore[attr-defined]
    with record_run(TASK, store=store) as run:
        assert run.receipt.heartbeat_every == timedelta(minutes=10)
    with record_run(TASK, store=store, heartbeat_every="5s") as run:
        assert run.receipt.heartbeat_every == timedelta(seconds=5)


def test_where_no_thread_can_be_had_the_run_goes_on(
    store: MemoryStore, only: Only, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    with record_run(TASK, store=store):
        pass
    assert only().status is Status.SUCCESS


def test_runs_in_threads_are_apart(store: MemoryStore) -> None:
    def work(number: int) -> None:
        with record_run(TASK, variables={"n": number}, store=store) as run:
            run.count(loaded=number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.search(TASK, Status.SUCCESS)
    assert {(r.variables["n"], r.counts.loaded) for r in found if r.counts} == {
        (str(n), n) for n in range(8)
    }


def test_runs_may_stand_inside_one_another(store: MemoryStore) -> None:
    with record_run("pay/monthly/outer", store=store):
        with pytest.raises(ValueError, match="x"), record_run("pay/monthly/inner", store=store):
            raise ValueError("x")
        assert store.list_runs("pay/monthly/outer")[0].status is Status.RUNNING
    assert store.list_runs("pay/monthly/outer")[0].status is Status.SUCCESS
    assert store.list_runs("pay/monthly/inner")[0].status is Status.ERROR


def test_a_forked_child_does_not_end_the_run(folder: FileStore) -> None:
    try:
        with record_run(TASK, store=folder, heartbeat_every="1h"):
            child = os.fork()
            if child == 0:
                raise SystemExit(3)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
            assert folder.list_runs(TASK)[0].status is Status.RUNNING
    except SystemExit:
        os._exit(3)
    assert folder.list_runs(TASK)[0].status is Status.SUCCESS


def test_one_recording_records_one_run_at_a_time(store: MemoryStore) -> None:
    recording = record_run(TASK, store=store)
    with recording, pytest.raises(ConfigError, match="in use"), recording:
        pass
    with recording:
        pass
    assert [receipt.status for receipt in store.search()] == [Status.SUCCESS] * 2


# --- arguments ---


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-10", "2026-10"), ("010", "010"), ("NO", "NO"), ("", ""), ("a\nb", "a\nb"),
        ("\ud800", "\ud800"), (10, "10"), (10**30, str(10**30)), (True, "true"), (False, "false"),
        (1.5, "1.5"), (1.0, "1.0"), (date(2026, 10, 1), "2026-10-01"),
        (datetime(2026, 10, 1, 7, tzinfo=timezone(timedelta(hours=7))), "2026-10-01T00:00:00Z"),
    ],
    ids=ascii,
)  # fmt: skip
def test_variables_are_kept_as_text(folder: FileStore, value: object, text: str) -> None:
    with record_run(TASK, variables={"v": value, "none": None}, store=folder):
        pass
    assert folder.list_runs(TASK)[0].variables == {"v": text}


def test_numbers_of_numpy_and_pandas_are_numbers(store: MemoryStore, only: Only) -> None:
    import numpy as np
    import pandas as pd

    variables = {
        "i": np.int64(7),
        "f": np.float64(1.5),
        "at": pd.Timestamp("2026-10-01T00:00:00Z"),
    }
    with record_run(TASK, variables=variables, store=store):
        pass
    assert only().variables == {"i": "7", "f": "1.5", "at": "2026-10-01T00:00:00Z"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"task": "pay/calc"}, {"task": "../../x"}, {"task": "pay/monthly/c*"}, {"task": None},
        {"run_id": "a/b"}, {"run_id": ""}, {"variables": {"v": [1]}}, {"variables": {"v": {}}},
        {"variables": {"": 1}}, {"variables": {7: 1}}, {"variables": {"x" * 129: 1}},
        {"variables": {"a\nb": 1}}, {"variables": {"v": float("nan")}},
        {"variables": {"v": datetime(2026, 10, 1)}},  # noqa: DTZ001
        {"variables": {"v": object()}}, {"store": 7}, {"store": "gopher://x"}, {"store": ""},
        {"heartbeat_every": "soon"}, {"heartbeat_every": "-5m"}, {"record_errors": "all"},
        {"requires": "pay/calc"},
    ],
    ids=lambda wrong: ascii(wrong)[:40],
)  # fmt: skip
def test_what_is_wrong_is_told_before_the_work_begins(
    store: MemoryStore, wrong: dict[str, object]
) -> None:
    given: dict[str, object] = {"task": TASK, "store": store, **wrong}
    ran = False
    with pytest.raises(ConfigError), record_run(**given):  # type: ignore[arg-type]
        ran = True
    assert not ran
    assert list(store.search()) == []


def test_the_store_is_looked_up_when_the_run_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UBUNYE_STORE", raising=False)
    recording = record_run(TASK)
    with pytest.raises(StoreNotNamedError), recording:
        pass
    monkeypatch.setenv("UBUNYE_STORE", str(tmp_path))
    with recording:
        pass
    assert len(FileStore(tmp_path).search(TASK, Status.SUCCESS)) == 1


def test_a_store_may_be_named_by_a_path(tmp_path: Path) -> None:
    with record_run(TASK, store=tmp_path / "receipts"):
        pass
    assert len(FileStore(tmp_path / "receipts").search(TASK, Status.SUCCESS)) == 1


@pytest.mark.parametrize(
    "wrong", [{"window": "2026-10"}, {"triggered_by": "ada"}, {"orchestrator": "airflow"}], ids=str
)
def test_an_argument_of_another_kind_is_told_before_the_work_begins(wrong: Any) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        record_run(TASK, **wrong)
