"""Recording never breaks the run that it records."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import pytest

from ubunye_core import (
    Found,
    Receipt,
    Status,
    StoreUnavailableError,
    UpstreamNotMetError,
    record_run,
)
from ubunye_core.recording import circumstances as where
from ubunye_core.stores import FileStore, atomic
from ubunye_core.stores.files.writing import lock_of

TASK = "pay/monthly/calc"


class Down:
    """A store that cannot be reached: what no folder can be made to do."""

    url = "down://"

    def __init__(self, error: Exception, times: int = 10**9) -> None:
        self.error, self.times, self.saved = error, times, list[Receipt]()

    def save(self, receipt: Receipt) -> None:
        self.times -= 1
        if self.times >= 0:
            raise self.error
        self.saved.append(receipt)

    def load(self, task: str, run_id: str) -> Receipt:
        raise self.error

    def list_runs(self, task: str, n: int = 20) -> Found:
        raise self.error

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        raise self.error


def test_a_run_whose_store_cannot_be_written_succeeds_with_a_loud_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "receipts").write_text("not a folder")
    done, began = [], time.monotonic()
    with record_run(TASK, store=tmp_path / "receipts") as run:
        done.append(run.run_id)
    assert done
    assert time.monotonic() - began < 5
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 2
    for status, warning in zip(("running", "success"), warnings, strict=True):
        assert f"{TASK} run {run.run_id} ({status}) could not be saved" in warning
        assert "no gate or health check will see it" in warning
        assert "Not a directory" in warning or "File exists" in warning


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailableError("down"),
        OSError(5, "io"),
        RuntimeError(),
        RecursionError(),
        KeyError(1),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_store_raises_the_run_goes_on(error: Exception) -> None:
    store = Down(error)
    with record_run(TASK, store=store, heartbeat_every="0.01s", run_id="x"):
        time.sleep(0.05)
    with pytest.raises(ValueError, match="the work's own"), record_run(TASK, store=store):
        raise ValueError("the work's own")


def test_an_end_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    store = Down(StoreUnavailableError("down"), times=3)
    with record_run(TASK, store=store):
        pass
    assert [receipt.status for receipt in store.saved] == [Status.SUCCESS]
    assert "could not be saved" in caplog.text  # the running one


def test_no_secret_of_a_store_stands_in_the_warning(caplog: pytest.LogCaptureFixture) -> None:
    with record_run(TASK, store=Down(OSError("postgresql://ada:wachtwoord@db refused"))):
        pass
    assert "postgresql://ada:***@db refused" in caplog.text


def test_a_gate_whose_store_is_down_does_not_open() -> None:
    ran = False
    store = Down(StoreUnavailableError("down"))
    recording = record_run(
        "pay/monthly/send", variables={"month": "2026-10"}, store=store, requires=TASK
    )
    with pytest.raises(UpstreamNotMetError, match="down"), recording:
        ran = True
    assert not ran


def test_a_lock_that_is_never_let_go_holds_a_run_up_for_a_bounded_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(atomic, "LOCK_WITHIN_SECONDS", 0.1)
    lock = lock_of(tmp_path / TASK / "r-1.json")
    lock.parent.mkdir(parents=True)
    began = time.monotonic()
    with atomic.lock(lock), record_run(TASK, store=tmp_path, run_id="r-1"):
        pass
    assert time.monotonic() - began < 5
    assert "another writer has held its lock" in caplog.text


def test_a_store_that_is_lost_halfway_costs_the_end_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = FileStore(tmp_path / "receipts")
    with record_run(TASK, store=store) as run:
        shutil.rmtree(store.root / TASK)
        (store.root / TASK).write_text("in the way")
    assert f"{run.run_id} (success) could not be saved" in caplog.text


def test_what_cannot_be_told_about_the_machine_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> str:
        raise OSError("no name")

    monkeypatch.setattr(where.socket, "gethostname", unknown)
    with record_run(TASK, store=tmp_path):
        pass
    receipt = FileStore(tmp_path).search()[0]
    assert (receipt.status, receipt.host) == (Status.SUCCESS, None)


def test_a_run_that_is_quiet_logs_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with record_run(TASK, store=tmp_path / "new"):
        pass
    assert [record for record in caplog.records if record.levelno >= logging.INFO] == []
