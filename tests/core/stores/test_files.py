"""What only a folder can do wrong."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from tests.privileges import without_privileges
from ubunye_core import (
    AmbiguousRunError,
    BadReceiptError,
    ReceiptNotFoundError,
    Requirement,
    Status,
    StoreUnavailableError,
    Verdict,
    check_upstream,
)
from ubunye_core.codec import MAX_RECEIPT_BYTES, encode
from ubunye_core.runids import new_run_id
from ubunye_core.stores import FileStore, atomic
from ubunye_core.stores.files.hints import Hints
from ubunye_core.stores.files.listing import shows_start, told_apart
from ubunye_core.stores.files.noting import lock_of_hints
from ubunye_core.stores.files.writing import lock_of
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


def is_listed(store: FileStore, name: str, why: str) -> None:
    found = store.search(A_TASK)
    assert [receipt.run_id for receipt in found] == ["run-1"]
    (bad,) = found.unreadable
    assert (Path(bad.where).name, bad.why) == (f"{name}.json", why)
    with pytest.raises(BadReceiptError):
        store.load(A_TASK, name)


# --- what is there instead of a receipt ---


def test_a_folder_named_like_a_receipt_is_unreadable(store: FileStore, folder: Path) -> None:
    (folder / "bad.json").mkdir()
    is_listed(store, "bad", "it is not a regular file")


def test_a_pipe_named_like_a_receipt_is_unreadable_and_is_not_waited_for(
    store: FileStore, folder: Path
) -> None:
    os.mkfifo(folder / "bad.json")
    is_listed(store, "bad", "it is not a regular file")


def test_a_device_named_like_a_receipt_is_unreadable(store: FileStore, folder: Path) -> None:
    (folder / "bad.json").symlink_to("/dev/zero")
    is_listed(store, "bad", "it is not a regular file")


def test_a_link_to_nothing_is_unreadable_not_absent(store: FileStore, folder: Path) -> None:
    (folder / "bad.json").symlink_to(folder / "gone")
    is_listed(store, "bad", "it is a link to nothing")


def test_a_link_to_itself_is_unreadable(store: FileStore, folder: Path) -> None:
    (folder / "bad.json").symlink_to("bad.json")
    is_listed(store, "bad", "Too many levels of symbolic links")


def test_a_link_to_a_receipt_is_that_receipt(store: FileStore, folder: Path) -> None:
    elsewhere = store.root.parent / "elsewhere"
    elsewhere.write_bytes(encode(a_receipt(run_id="linked", started_at=at(1))))
    (folder / "linked.json").symlink_to(elsewhere)
    assert store.list_runs(A_TASK)[0].run_id == "linked"


def test_a_huge_file_is_unreadable_and_is_not_read(store: FileStore, folder: Path) -> None:
    with open(folder / "bad.json", "wb") as file:
        file.truncate(MAX_RECEIPT_BYTES + 1)
    is_listed(store, "bad", f"it has {MAX_RECEIPT_BYTES + 1} bytes")


def test_what_may_not_be_read_is_unreadable_and_is_not_written_over() -> None:
    with tempfile.TemporaryDirectory() as place:
        store = FileStore(Path(place))
        store.save(a_receipt())
        store.save(a_receipt(run_id="bad"))
        bad = store.root / A_TASK / "bad.json"
        for each in (store.root, *store.root.rglob("*")):
            each.chmod(0o777)
        bad.chmod(0)

        def ask() -> None:
            is_listed(store, "bad", "Permission denied")
            with pytest.raises(StoreUnavailableError, match="Permission denied"):
                store.save(a_receipt(run_id="bad", status=Status.ERROR))

        without_privileges(ask)
        bad.chmod(0o666)
        assert store.load(A_TASK, "bad").status is Status.SUCCESS


def test_a_folder_that_may_not_be_listed_is_unavailable() -> None:
    with tempfile.TemporaryDirectory() as place:
        store = FileStore(Path(place))
        store.save(a_receipt())
        store.root.chmod(0o777)
        (store.root / A_TASK).chmod(0)

        def ask() -> None:
            for question in (store.search, store.list_runs):
                with pytest.raises(StoreUnavailableError, match="Permission denied"):
                    question(A_TASK)
            with pytest.raises(StoreUnavailableError, match="Permission denied"):
                store.tasks()

        without_privileges(ask)


@pytest.mark.parametrize("mode", [0, 0o111, 0o444])
@pytest.mark.parametrize("at", ["", ".", "pay", "pay/monthly"])
def test_a_place_on_the_way_that_may_not_be_entered_or_listed_is_unavailable(
    at: str, mode: int
) -> None:
    """Else a pattern would be met by the tasks that happen to be seen."""
    with tempfile.TemporaryDirectory() as place:
        store = FileStore(Path(place) / "receipts")
        store.save(a_receipt())
        store.save(a_receipt(task="hr/daily/sync"))
        Path(place).chmod(0o777)
        closed = Path(place) if at == "" else store.root / at
        closed.chmod(mode)

        def ask() -> None:
            if at != "" or mode != 0o111:
                with pytest.raises(StoreUnavailableError, match=store.root.name):
                    store.tasks()
                answer = check_upstream(Requirement("*/*/*", []), store=store)
                assert answer.verdict is Verdict.UNKNOWN
            if mode != 0o111:
                for question in (store.search, store.list_runs):
                    with pytest.raises(StoreUnavailableError, match=store.root.name):
                        question(A_TASK)

        without_privileges(ask)
        closed.chmod(0o777)


def test_looking_at_what_is_no_file_leaves_no_file_open(store: FileStore, folder: Path) -> None:
    (folder / "bad.json").mkdir()
    store.search(A_TASK)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        store.search(A_TASK)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_copy_under_another_name_is_unreadable(store: FileStore, folder: Path) -> None:
    (folder / "copy.json").write_bytes((folder / "run-1.json").read_bytes())
    is_listed(store, "copy", "its name is not the run id that stands in it")


def test_a_copied_task_folder_is_unreadable(store: FileStore, folder: Path) -> None:
    copy = folder.with_name("calc2")
    copy.mkdir()
    (copy / "run-1.json").write_bytes((folder / "run-1.json").read_bytes())
    found = store.search("pay/monthly/calc2")
    assert list(found) == []
    assert [bad.why for bad in found.unreadable] == ["its folder is not the task that stands in it"]
    assert store.search(A_TASK).unreadable == ()


def test_a_name_that_is_not_text_is_shown_in_text(store: FileStore, folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.json")).write_bytes(b"")
    (bad,) = store.search(A_TASK).unreadable
    assert bad.where.endswith("caf\\xe9.json")
    json.dumps(bad.where).encode()
    bad.where.encode()
    with pytest.raises(BadReceiptError):
        store.load(A_TASK, "caf")


def test_a_name_that_breaks_the_grammar_is_unreadable(store: FileStore, folder: Path) -> None:
    (folder / "run 2.json").write_bytes((folder / "run-1.json").read_bytes())
    (bad,) = store.search(A_TASK).unreadable
    assert bad.where.endswith("run 2.json")
    with pytest.raises(AmbiguousRunError):
        store.load(A_TASK, "run")


# --- what is no receipt, and is left alone ---


@pytest.mark.parametrize(
    "name",
    [".run-2.json", ".json", "run-2.json.tmp", "run-2.json~", "run-2.JSON", "run-2", "notes.txt",
     "#run-2.json#", "run-2.json.7.a1b2.damaged", ".lock", ".nfs0001", ".DS_Store"],
)  # fmt: skip
def test_other_files_are_not_taken_for_receipts(store: FileStore, folder: Path, name: str) -> None:
    (folder / name).write_bytes(encode(a_receipt(run_id="run-2")))
    found = store.search(A_TASK)
    assert ([receipt.run_id for receipt in found], found.unreadable) == (["run-1"], ())
    with pytest.raises(ReceiptNotFoundError):
        store.load(A_TASK, "run-2")


def test_folders_that_cannot_be_tasks_are_not_listed(store: FileStore, folder: Path) -> None:
    for name in (".tmp", "my notes", "@eaDir", "lost+found"):
        (store.root / name / "monthly" / "calc").mkdir(parents=True)
        (store.root / "pay" / name / "calc").mkdir(parents=True)
        (folder / name).mkdir(exist_ok=True)
        for place in (store.root, store.root / "pay", folder):
            (place / name / "x.json").write_bytes(b"{")
    (store.root / "pay" / "monthly" / "empty").mkdir()
    (store.root / "README.txt").write_text("hello")
    (store.root / "pay" / "notes.json").write_text("hello")
    assert store.tasks() == [A_TASK]
    assert store.search().unreadable == ()


def test_a_longer_path_is_another_thing(store: FileStore, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "run-2.json").write_bytes(encode(a_receipt(run_id="run-2")))
    assert [receipt.run_id for receipt in store.search()] == ["run-1"]


def test_what_killed_writers_left_is_swept_after_an_hour(store: FileStore, folder: Path) -> None:
    names = ["run-9.json.1.0123456789ab", "run-9.json.2.0123456789ab", "notes.txt"]
    old, new, foreign = (folder / ".tmp" / name for name in names)
    an_hour_ago = time.time() - atomic.STRAY_AFTER_SECONDS - 60
    for stray in (old, new, foreign):
        stray.write_bytes(b'{"half')
        if stray != new:
            os.utime(stray, (an_hour_ago, an_hour_ago))
    store.save(a_receipt(run_id="run-2"))
    assert sorted(os.listdir(folder / ".tmp")) == sorted([new.name, foreign.name])
    assert store.search(A_TASK).unreadable == ()


def test_a_link_in_the_store_makes_no_writer_write_or_remove_elsewhere(
    store: FileStore, folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    precious = elsewhere / "run-9.json.1.0123456789ab"
    precious.write_text("precious")
    os.utime(precious, (0, 0))
    (folder / ".tmp").rmdir()
    (folder / ".tmp").symlink_to(elsewhere)
    with pytest.raises(StoreUnavailableError, match="is a link"):
        store.save(a_receipt(run_id="run-2"))
    (folder / ".tmp").unlink()
    shutil.rmtree(folder / ".locks")
    (folder / ".locks").symlink_to(elsewhere)
    with pytest.raises(StoreUnavailableError, match="is a link"):
        store.save(a_receipt(run_id="run-2"))
    (folder / ".locks").unlink()
    lock = lock_of(folder / "run-2.json")
    lock.parent.mkdir()
    lock.symlink_to(elsewhere / "lock")
    with pytest.raises(StoreUnavailableError):
        store.save(a_receipt(run_id="run-2"))
    assert os.listdir(elsewhere) == [precious.name]


def test_a_name_cannot_end_a_line_or_move_the_cursor(store: FileStore, folder: Path) -> None:
    (folder / "x\nPASS  all good\x1b[2J\u202e.json").write_text("{")
    (bad,) = store.search(A_TASK).unreadable
    assert bad.where == f"{folder}/x\\nPASS  all good\\x1b[2J\\u202e.json"
    answer = check_upstream(A_TASK, variables={"month": "1999-01"}, store=store)
    assert answer.reason.isprintable()


# --- the store itself ---


def ask_everything(store: FileStore) -> None:
    for ask in (
        lambda: store.search(),
        lambda: store.search(A_TASK),
        lambda: store.list_runs(A_TASK),
        lambda: store.load(A_TASK, "run-1"),
        lambda: store.tasks(),
    ):
        with pytest.raises(StoreUnavailableError) as refused:
            ask()
        assert str(store.root) in str(refused.value)


def test_a_store_whose_folder_is_missing_cannot_answer_and_is_made_by_a_writer(
    tmp_path: Path,
) -> None:
    store = FileStore(tmp_path / "not" / "mounted")
    ask_everything(store)
    assert not (tmp_path / "not").exists()
    store.save(a_receipt())
    assert list(store.search()) == [a_receipt()]


def test_a_store_that_is_a_file_can_neither_answer_nor_be_written(tmp_path: Path) -> None:
    (tmp_path / "receipts").write_text("not a folder")
    store = FileStore(tmp_path / "receipts")
    ask_everything(store)
    with pytest.raises(StoreUnavailableError):
        store.save(a_receipt())


def test_a_task_folder_that_leads_nowhere_is_not_an_unknown_task(store: FileStore) -> None:
    (store.root / "pay").symlink_to(store.root.parent / "unmounted")
    for ask in (store.search, store.list_runs):
        with pytest.raises(StoreUnavailableError):
            ask(A_TASK)
    assert list(store.search("etl/in/orders")) == []


def test_a_file_where_a_task_would_be_is_no_task_and_its_runs_cannot_be_listed(
    store: FileStore,
) -> None:
    (store.root / "pay").write_text("a file")
    assert store.tasks() == []
    assert list(store.search()) == []
    for ask in (store.search, store.list_runs):
        with pytest.raises(StoreUnavailableError, match="Not a directory"):
            ask(A_TASK)
    with pytest.raises(StoreUnavailableError):
        store.save(a_receipt())


def test_an_unwritable_place_is_unavailable_and_says_why(store: FileStore) -> None:
    (store.root / A_TASK).mkdir(parents=True)
    (store.root / A_TASK / ".locks").write_text("no folder")
    with pytest.raises(StoreUnavailableError, match="could not be written: File exists"):
        store.save(a_receipt())


def test_a_writer_that_is_stopped_with_the_lock_of_a_run_delays_only_writers_of_that_run(
    store: FileStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "LOCK_WITHIN_SECONDS", 0.2)
    with atomic.lock(lock_of(folder / "run-2.json")):
        with pytest.raises(StoreUnavailableError, match=r"has held its lock for 0\.2 s"):
            store.save(a_receipt(run_id="run-2"))
        store.save(a_receipt(run_id="run-3"))
    store.save(a_receipt(run_id="run-2"))
    assert len(store.search(A_TASK)) == 3


def test_a_child_forked_while_the_lock_is_held_does_not_keep_it(
    store: FileStore, folder: Path
) -> None:
    with atomic.lock(lock_of(folder / "run-2.json")), atomic.lock(lock_of_hints(folder)):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    try:
        began = time.monotonic()
        store.save(a_receipt(run_id="run-2"))
        assert time.monotonic() - began < 5
        assert Hints(folder).state().open_runs is not None
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


@pytest.mark.parametrize(
    "odd",
    [
        None, "01a229a0-6467-4f90-b2b7-9f8fe24487aa.json",
        "01a229a0-6467-7f90-c2b7-9f8fe24487aa.json",
        "01A229A0-6467-7f90-b2b7-9f8fe24487aa.json", "01a229a06467--7f90-b2b7-9f8fe24487a.json",
        "01a229a0-6467-7f90-b2b7-9f8fe24487aajson.", "x1a229a0-6467-7f90-b2b7-9f8fe24487aa.json",
        "01a229a0-6467-7f90-b2b7-9f8fe2448-aa.json", "01a229a0-6467-7f90-b2b7-9f8fe24487ж.json",
        "01a229a0-6467-7f90-b2b7-9f8fe2448.aa.json", "a.json",
        "01a229a0-6467-7f90-b2b7-9f8fe24487aa.jsoN",
    ],
)  # fmt: skip
def test_names_that_show_a_start_are_told_from_all_others(odd: str | None) -> None:
    good = [f"{new_run_id(at(minutes))}.json" for minutes in range(50)]
    names = [*good[:20], *([odd] if odd else []), *good[20:]]
    assert told_apart([os.fsencode(name) for name in names]).showing == list(map(str.encode, good))
    assert list(filter(shows_start, names)) == good
    assert told_apart([]).showing == []
