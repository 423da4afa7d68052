"""Hints that are missing, hostile or may not be written: they stop no save and falsify nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ubunye_core import Status, job_health
from ubunye_core.codec import encode
from ubunye_core.runids import new_run_id
from ubunye_core.stores import FileStore
from ubunye_core.stores.files import upkeep
from ubunye_core.stores.files.hints import SEGMENT_BYTES, Hints, Now
from ubunye_core.stores.files.lines import Keys, sealed
from ubunye_core.testing import A_TASK, a_receipt, at
from ubunye_core.testing.builders import SIX_O_CLOCK

OCTOBER = {"month": "2026-10"}


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    store = FileStore(tmp_path / "receipts")
    store.save(a_receipt(run_id=new_run_id(SIX_O_CLOCK)))
    return store


@pytest.fixture
def folder(store: FileStore) -> Path:
    return store.root / A_TASK


def as_a_link(hints: Path) -> None:
    elsewhere = hints.parents[4] / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(hints)
    hints.symlink_to(elsewhere)


def as_a_file(hints: Path) -> None:
    shutil.rmtree(hints)
    hints.write_text("no folder")


def with_folders_for_files(hints: Path) -> None:
    for path in [path for path in hints.iterdir() if path.is_file()]:
        path.unlink()
        path.mkdir()


def with_links_for_files(hints: Path) -> None:
    for path in [path for path in hints.iterdir() if path.is_file()]:
        path.unlink()
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "spoil", [as_a_link, as_a_file, with_folders_for_files, with_links_for_files]
)
def test_a_save_succeeds_and_is_found_whatever_stands_in_the_place_of_hints(
    store: FileStore, folder: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(folder / ".hints")
    for minutes in (1, 2):
        store.save(a_receipt(run_id=new_run_id(at(minutes)), started_at=at(minutes)))
    for each in (store, FileStore(store.root)):
        assert len(each.search(A_TASK, Status.SUCCESS, batch=OCTOBER)) == 3
        assert [run.started_at for run in each.list_runs(A_TASK, 1)] == [at(2)]
        told = each.success_by_batch(A_TASK, OCTOBER, whole=True)
        assert told is None or told[0].started_at == at(2)
    elsewhere = tmp_path / "elsewhere"
    assert not elsewhere.exists() or list(elsewhere.iterdir()) == []


def test_a_repair_clears_a_folder_that_stands_where_a_mark_belongs(
    store: FileStore, folder: Path
) -> None:
    seen = folder / ".locks" / "seen"
    seen.unlink()
    (seen / "deep").mkdir(parents=True)
    store.save(a_receipt(run_id=new_run_id(at(1)), started_at=at(1)))
    assert store.repair().hints == 2
    assert seen.is_file()
    assert Hints(folder).state().open_runs == frozenset()
    assert len(store.list_runs(A_TASK)) == 2


def test_a_hint_never_names_a_file_elsewhere(store: FileStore, folder: Path) -> None:
    secret = a_receipt(run_id="run-9", started_at=at(9))
    (store.root / "run-9.json").write_bytes(encode(secret))
    hints = Hints(folder)
    for name in ("../../../run-9", "/etc/passwd"):
        hints.append("names", [sealed(f"N {name} 0 -")])
        keys = Keys.of(secret)
        hints.append(hints.file_of("b", keys.batch), [sealed(f"R {name} {keys}")])
        assert store.success_by_batch(A_TASK, OCTOBER, whole=True) is None  # a search tells
        assert len(store.list_runs(A_TASK, 5)) == 1
        assert store.list_runs(A_TASK, 5).unreadable == ()


def test_a_crash_between_a_receipt_and_its_hints_loses_nothing(
    store: FileStore, folder: Path
) -> None:
    kept = folder.parent / "kept"
    shutil.copytree(folder / ".hints", kept)
    store.save(a_receipt(run_id=new_run_id(at(5)), started_at=at(5)))
    for name in ("names", "facts/000000", *(path.name for path in kept.glob("b*"))):
        with open(folder / ".hints" / name, "r+b") as file:
            file.truncate((kept / name).stat().st_size)
    (folder / ".locks" / "seen").unlink()  # the date that it had fits no more
    fresh = FileStore(store.root)
    assert [run.started_at for run in fresh.list_runs(A_TASK, 1)] == [at(5)]
    told = fresh.success_by_batch(A_TASK, OCTOBER, whole=True)
    assert told is not None
    assert told[0].started_at == at(5)
    assert fresh.repair().hints == 2
    assert Hints(folder).state().open_runs == frozenset()


def test_an_older_copy_put_over_a_folder_hides_no_run(store: FileStore) -> None:
    kept = store.root.with_name("kept")
    shutil.copytree(store.root, kept)
    newest = new_run_id(at(5))
    store.save(a_receipt(run_id=newest, started_at=at(5), status=Status.ERROR))
    shutil.copytree(kept, store.root, dirs_exist_ok=True)  # with the dates of then, as cp -a does
    fresh = FileStore(store.root)
    assert fresh.list_runs(A_TASK, 1)[0].run_id == newest
    assert not job_health(A_TASK, store=fresh, now=at(60))


@pytest.mark.parametrize("ours", ["save", "remove"])
def test_what_others_add_while_hints_are_written_is_not_missed(
    store: FileStore, folder: Path, monkeypatch: pytest.MonkeyPatch, ours: str
) -> None:
    mine, theirs = new_run_id(at(3)), new_run_id(at(5))
    store.save(a_receipt(run_id=mine, started_at=at(3)))
    write_now = Hints.write_now

    def meanwhile(hints: Hints, now: Now) -> None:
        foreign = a_receipt(run_id=theirs, started_at=at(5), status=Status.ERROR)
        (folder / f"{theirs}.json").write_bytes(encode(foreign))
        write_now(hints, now)

    monkeypatch.setattr(Hints, "write_now", meanwhile)
    if ours == "remove":
        store.remove(A_TASK, [mine])
    else:
        store.save(a_receipt(run_id=new_run_id(at(4)), started_at=at(4)))
    monkeypatch.undo()
    fresh = FileStore(store.root)
    assert fresh.list_runs(A_TASK, 1)[0].run_id == theirs
    assert not job_health(A_TASK, store=fresh, now=at(60))


def test_damage_is_set_aside_only_where_it_is_asked_for_and_nobody_writes_it(
    store: FileStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bad.json").write_bytes(b"{")
    assert [bad.why for bad in store.repair().left] == ["it is not whole JSON (line 1, column 2)"]
    assert len(store.repair(set_aside=True).left) == 1
    monkeypatch.setattr(upkeep, "STILL_WRITTEN_SECONDS", -60.0)
    done = store.repair(set_aside=True)
    assert (len(done.set_aside), done.left, done.hints) == (1, (), 1)
    (aside,) = folder.glob("bad.json.*.damaged")
    assert (done.set_aside, aside.read_bytes()) == ((str(aside),), b"{")
    assert store.search(A_TASK).unreadable == ()


def test_an_examination_leaves_no_trace_and_says_what_has_no_hints(
    store: FileStore, folder: Path
) -> None:
    before = sorted(store.root.rglob("*"))
    found = {finding.what: finding for finding in store.examine()}
    assert sorted(store.root.rglob("*")) == before
    assert {what: each.good for what, each in found.items()} == dict.fromkeys(
        ("write", "durability", "lock", "claim", "clock", "hints"), True
    )
    (folder / "own.json").write_bytes(encode(a_receipt(run_id="own")))
    hints = next(each for each in store.examine() if each.what == "hints")
    assert hints.good is None
    assert hints.why.startswith("of 2 receipts 1 has none, in 1 task")


def test_a_stranger_among_the_facts_stops_no_writer(folder: Path) -> None:
    hints, line = Hints(folder), sealed("T 6c 0 nothing")
    (folder / ".hints/facts/²").write_bytes(b"x" * SEGMENT_BYTES)
    hints.append_facts([line])
    assert hints.segments() == ["facts/000000"]
    assert line in hints.read("facts/000000")
