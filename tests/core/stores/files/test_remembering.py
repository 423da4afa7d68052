"""What a handle remembers of how a task stands never outlives a change."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ubunye_core import Receipt, Status
from ubunye_core.codec import encode
from ubunye_core.runids import new_run_id
from ubunye_core.stores import FileStore, Summed
from ubunye_core.stores.files.hints import Hints
from ubunye_core.testing import A_TASK, a_receipt, at
from ubunye_core.testing.builders import SIX_O_CLOCK


def a_run(minutes: int, status: Status = Status.SUCCESS) -> Receipt:
    return a_receipt(run_id=new_run_id(at(minutes)), started_at=at(minutes), status=status)


@pytest.fixture
def reader(tmp_path: Path) -> FileStore:
    """A handle that remembers: it has asked twice, and nothing has changed for a while."""
    FileStore(tmp_path).save(a_run(0))
    now = tmp_path / A_TASK / ".hints" / "now"
    os.utime(now, (SIX_O_CLOCK.timestamp(),) * 2)
    reader = FileStore(tmp_path)
    for _ in range(2):
        assert list(reader.search(since=at(1))) == []
        assert reader.settled([A_TASK])[A_TASK].started_at == at(0)
    return reader


@pytest.mark.parametrize("status", [Status.SUCCESS, Status.ERROR, Status.RUNNING])
def test_a_run_that_another_handle_saves_is_seen_at_once(reader: FileStore, status: Status) -> None:
    for minutes in (2, 3, 4):
        FileStore(reader.root).save(a_run(minutes, status))
        assert [run.started_at for run in reader.search(since=at(1), limit=1)] == [at(minutes)]
        assert [run.started_at for run in reader.search(A_TASK, limit=1)] == [at(minutes)]
        told = reader.settled([A_TASK]).get(A_TASK)
        if status is Status.SUCCESS:
            assert told is not None
        assert told is None or (told.started_at, told.status) == (at(minutes), status)


def test_a_run_that_another_program_writes_is_seen_at_once(reader: FileStore) -> None:
    run = a_run(5, Status.ERROR)
    (reader.root / A_TASK / f"{run.run_id}.json").write_bytes(encode(run))
    assert list(reader.search(since=at(1))) == [run]
    assert A_TASK not in reader.settled([A_TASK])


def test_a_run_that_ends_is_seen_at_once(reader: FileStore) -> None:
    run = a_run(6, Status.RUNNING)
    FileStore(reader.root).save(run)
    assert [each.status for each in reader.search(since=at(1))] == [Status.RUNNING]
    FileStore(reader.root).save(
        a_receipt(run_id=run.run_id, started_at=at(6), status=Status.SUCCESS)
    )
    assert [each.status for each in reader.search(since=at(1))] == [Status.SUCCESS]
    assert reader.settled([A_TASK])[A_TASK].open_runs == frozenset()


def test_without_its_hints_a_task_is_looked_at_as_it_is(reader: FileStore) -> None:
    folder = reader.root / A_TASK
    assert Hints(folder).state().open_runs == frozenset()
    (folder / ".locks" / "seen").unlink()
    run = a_run(7)
    (folder / f"{run.run_id}.json").write_bytes(encode(run))
    assert list(reader.search(since=at(1))) == [run]


def test_a_success_that_was_read_in_brief_is_remembered_while_its_file_stays(
    tmp_path: Path,
) -> None:
    path = tmp_path / A_TASK / f"{a_run(0).run_id}.json"
    run = a_receipt(run_id=path.stem, started_at=at(0), status=Status.SUCCESS)
    path.parent.mkdir(parents=True)
    path.write_bytes(encode(run))
    os.utime(path, (SIX_O_CLOCK.timestamp(),) * 2)
    asked = Summed(since=at(-60), until=at(600))
    store = FileStore(tmp_path)
    first = store.summaries(A_TASK, asked)
    path.write_bytes(b"?" * path.stat().st_size)  # as no store writes: the same file, date and size
    os.utime(path, (SIX_O_CLOCK.timestamp(),) * 2)
    assert store.summaries(A_TASK, asked).successes == first.successes
    assert list(store.summaries(A_TASK, replace(asked, until=at(0))).others.unreadable)
    os.utime(path, (SIX_O_CLOCK.timestamp() + 1,) * 2)
    told = store.summaries(A_TASK, asked)
    assert (len(told.successes), len(told.others.unreadable)) == (0, 1)
