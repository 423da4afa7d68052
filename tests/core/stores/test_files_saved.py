"""What a folder holds after a save: what is replaced, what is kept, and where."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ubunye_core import InvalidNameError, Receipt, Status, StoreUnavailableError
from ubunye_core.stores import FileStore
from ubunye_core.testing import A_TASK, a_receipt, at


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    root = tmp_path / "receipts"
    root.mkdir()
    return FileStore(root)


@pytest.fixture
def folder(store: FileStore) -> Path:
    """The task's folder, with one good receipt in it."""
    store.save(a_receipt())
    return store.root / A_TASK


def test_a_record_that_cannot_be_read_now_is_never_written_over(
    store: FileStore, folder: Path
) -> None:
    for number, make in enumerate((lambda p: p.mkdir(), lambda p: p.symlink_to(p.name), os.mkfifo)):
        path = folder / f"bad-{number}.json"
        make(path)
        with pytest.raises(StoreUnavailableError):
            store.save(a_receipt(run_id=f"bad-{number}"))
        assert path.is_dir() or path.is_symlink() or path.is_fifo()
    assert len(store.search(A_TASK).unreadable) == 3


def test_a_damaged_record_is_kept_beside_the_end_that_replaces_it(
    store: FileStore, folder: Path
) -> None:
    for damage in (b"{", b"[]"):
        (folder / "run-2.json").write_bytes(damage)
        store.save(a_receipt(run_id="run-2"))
    kept = [path.read_bytes() for path in folder.glob("run-2.json.*.damaged")]
    assert sorted(kept) == [b"[]", b"{"]
    assert len(store.search(A_TASK)) == 2


# --- names ---


def test_a_run_id_never_leaves_the_folder(store: FileStore, tmp_path: Path) -> None:
    forged = a_receipt()
    for run_id in ("../../../../evil", str(tmp_path / "evil"), "a/../../evil", "..", "evil\0"):
        object.__setattr__(forged, "run_id", run_id)
        with pytest.raises(InvalidNameError):
            store.save(forged)
        with pytest.raises(InvalidNameError):
            store.load(A_TASK, run_id)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_order_does_not_follow_the_dates_of_files(store: FileStore, folder: Path) -> None:
    store.save(a_receipt(run_id="run-2", started_at=at(60)))
    os.utime(folder / "run-2.json", (0, 0))
    assert [receipt.run_id for receipt in store.list_runs(A_TASK)] == ["run-2", "run-1"]


def test_a_change_in_the_same_tick_and_of_the_same_size_is_seen(
    store: FileStore, folder: Path
) -> None:
    path = folder / "run-2.json"
    store.save(a_receipt(run_id="run-2", status=Status.RUNNING, host="a"))
    stamp = os.stat(path)
    assert _host(store) == "a"
    path.write_bytes(path.read_bytes().replace(b'"a"', b'"b"'))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert _host(store) == "b"


def _host(store: FileStore) -> str | None:
    receipt: Receipt = store.load(A_TASK, "run-2")
    return receipt.host


def test_the_layout_is_that_of_ubunye_engine(store: FileStore, folder: Path) -> None:
    document = json.loads((store.root / "pay" / "monthly" / "calc" / "run-1.json").read_text())
    assert document["task_path"] == A_TASK
    assert (document["usecase"], document["package"], document["task_name"]) == (
        "pay",
        "monthly",
        "calc",
    )
    assert (document["record_version"], document["status"]) == (2, "success")
    assert document["started_at"] == "2026-10-15T06:00:00+00:00"
