"""What only a ledger can do wrong."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from ubunye_core import (
    BadReceiptError,
    ConfigError,
    ReceiptConflictError,
    ReceiptNotFoundError,
    Requirement,
    Status,
    StoreUnavailableError,
    Verdict,
    check_upstream,
    job_health,
)
from ubunye_core.codec import decode, encode
from ubunye_core.runids import new_run_id
from ubunye_core.stores import ClaimKey, Held, atomic, open_store
from ubunye_core.stores.jsonl import JsonlStore, index
from ubunye_core.stores.jsonl.events import saved_line
from ubunye_core.testing import A_TASK, a_receipt, at

OCTOBER = ClaimKey.of(A_TASK, {"month": "2026-10"})
LONG = timedelta(minutes=15)


@pytest.fixture
def store(tmp_path: Path) -> JsonlStore:
    path = tmp_path / "ledger.jsonl"
    path.touch()
    return JsonlStore(path)


def add(store: JsonlStore, content: bytes) -> None:
    with open(store.path, "ab") as file:
        file.write(content)


def lines(store: JsonlStore) -> list[bytes]:
    return store.path.read_bytes().splitlines()


def test_a_save_adds_a_line_and_changes_none(store: JsonlStore) -> None:
    store.save(a_receipt(status=Status.RUNNING))
    before = store.path.read_bytes()
    store.save(a_receipt())
    store.save(a_receipt(run_id="run-2"))
    assert store.path.read_bytes().startswith(before)
    assert len(lines(store)) == 3


def test_a_line_holds_the_document_of_its_receipt(store: JsonlStore) -> None:
    receipt = a_receipt(extra={"llm_calls": [{"tokens": 3}]}, error="a\nb")
    store.save(receipt)
    (line,) = lines(store)
    document = json.loads(line)["receipt"]
    assert document == json.loads(encode(receipt))
    assert decode(json.dumps(document).encode(), where="here") == receipt


def test_a_save_that_changes_nothing_adds_no_line(store: JsonlStore) -> None:
    store.save(a_receipt())
    store.save(a_receipt())
    store.save(a_receipt(status=Status.RUNNING))
    with pytest.raises(ReceiptConflictError):
        store.save(a_receipt(status=Status.ERROR))
    assert len(lines(store)) == 1


def test_many_are_saved_in_one_write_and_one_refused_is_named(store: JsonlStore) -> None:
    store.save(a_receipt(run_id="old"))
    others = [a_receipt(run_id=f"r{number}", started_at=at(number)) for number in range(450)]
    running = a_receipt(run_id="twice", status=Status.RUNNING)
    wrong = [a_receipt(run_id="old", status=status) for status in (Status.ERROR, Status.SKIPPED)]
    with pytest.raises(ReceiptConflictError, match=r"2 of the receipts\. The first: Run old of"):
        store.save_many([running, wrong[0], *others, a_receipt(run_id="twice"), wrong[1]])
    assert len(store.search(A_TASK, Status.SUCCESS)) == 452
    assert len(lines(store)) == 453


# A last line that was cut short.


@pytest.mark.parametrize("kept", [1, 5, 40, 200, -2, -1])
@pytest.mark.parametrize("status", [Status.RUNNING, Status.SUCCESS])
def test_a_save_cut_short_leaves_the_record_of_before(
    store: JsonlStore, kept: int, status: Status
) -> None:
    running = a_receipt(status=Status.RUNNING)
    store.save(running)
    store.save(a_receipt(run_id="run-2", started_at=at(1)))
    add(store, saved_line(a_receipt(status=status, heartbeat_at=at(1)))[:kept])
    assert store.load(A_TASK, "run-1") == running
    assert [run.run_id for run in store.search(A_TASK)] == ["run-2", "run-1"]
    named = kept in (200, -2, -1)  # so much shows whose it was
    assert len(store.search(A_TASK).unreadable) == (0 if named else 1)
    (told,) = (finding for finding in store.examine() if finding.what == "lines")
    assert f"{store.path}:3 is cut short, and the next save marks it" in told.why
    store.save(a_receipt(run_id="run-3", started_at=at(2)))
    assert store.search(A_TASK).unreadable == ()
    stands = store.load(A_TASK, "run-1")
    assert stands.status is (status if kept == -1 else Status.RUNNING)  # only its end was lost
    store.save(a_receipt())
    assert JsonlStore(store.path).load(A_TASK, "run-1").status is Status.SUCCESS


def test_the_first_save_of_a_run_cut_short_is_told_until_the_next_save(store: JsonlStore) -> None:
    store.save(a_receipt(started_at=at(0)))
    torn = a_receipt(run_id=new_run_id(at(1)), started_at=at(1))
    add(store, saved_line(torn)[:-40])
    (bad,) = store.search(A_TASK).unreadable
    assert bad.where == f"{store.path}:2 (run {torn.run_id} of {A_TASK})"
    assert "cut short" in bad.why
    assert (bad.task, bad.started_at) == (A_TASK, at(1))
    assert store.search("pay/monthly/send").unreadable == ()
    assert store.search(A_TASK, since=at(2)).unreadable == ()
    assert job_health(A_TASK, store=store, now=at(30)).verdict is Verdict.UNKNOWN
    with pytest.raises(ReceiptNotFoundError):
        store.load(A_TASK, torn.run_id)
    store.save(a_receipt(run_id="run-3", started_at=at(2)))
    assert store.search().unreadable == ()
    assert lines(store)[1].endswith(b"#torn")
    (told,) = (finding for finding in store.examine() if finding.what == "lines")
    assert told.good
    assert f"cut short before the save returned: 1, the first is {store.path}:2" in told.why
    store.save(torn)
    assert store.load(A_TASK, torn.run_id) == torn


def test_a_line_that_is_being_written_is_not_there_yet(store: JsonlStore) -> None:
    store.save(a_receipt())
    line = saved_line(a_receipt(run_id="run-2", started_at=at(1)))
    with atomic.lock(store.path.with_name("ledger.jsonl.lock")):
        add(store, line[:300])
        assert [run.run_id for run in store.search(A_TASK)] == ["run-1"]
        assert store.search(A_TASK).unreadable == ()
        add(store, line[300:])
    assert [run.run_id for run in store.search(A_TASK)] == ["run-2", "run-1"]


def test_the_very_first_save_may_be_cut_short(store: JsonlStore) -> None:
    for kept in (3, 60):
        store.path.write_bytes(saved_line(a_receipt())[:kept])
        other = JsonlStore(store.path)
        assert len(other.search().unreadable) == 1
        other.save(a_receipt())
        other.save(a_receipt(run_id="run-2"))
        assert (len(other.search()), other.search().unreadable) == (2, ())


def test_a_claim_cut_short_was_not_taken(store: JsonlStore) -> None:
    store.save(a_receipt())
    assert store.claim(OCTOBER, run_id="run-1", lease=LONG)
    claimed = lines(store)[-1]
    store.path.write_bytes(lines(store)[0] + b"\n" + claimed[:-30])
    other = JsonlStore(store.path)
    assert other.holder(OCTOBER) is None
    assert other.claim(OCTOBER, run_id="run-2", lease=LONG)


# Lines that say nothing that can be believed.

FOREIGN = {
    "text": b"hello",
    "a list": b'[{"event":"save"}]',
    "another ledger": b'{"run_id": "r1", "pipeline": "calc", "actual_start": "2026-10-15T06:00"}',
    "a receipt alone": json.dumps(json.loads(encode(a_receipt()))).encode(),
    "binary": b"PAR1\x00\xff\xfe\x15\x04",
    "zeros": b"\0" * 5000,
    "an event to come": b'{"event":"merge","task":"a/b/c"}',
    "no checksum": saved_line(a_receipt()).partition(b',"crc32"')[0].replace(A_TASK.encode(), b"?"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_line_of_nobody_is_told_and_hides_nothing(store: JsonlStore, kind: str) -> None:
    store.save(a_receipt())
    add(store, FOREIGN[kind] + b"\n")
    store.save(a_receipt(run_id="run-2", started_at=at(1)))
    for task in (A_TASK, None):
        found = store.search(task)
        assert [run.run_id for run in found] == ["run-2", "run-1"]
        (bad,) = found.unreadable
        assert (bad.where, bad.task, bad.started_at) == (f"{store.path}:2", None, None)
        assert bad.why
    with pytest.raises(ReceiptNotFoundError, match=r"ledger\.jsonl:2 cannot be read, and could be"):
        store.load(A_TASK, "run-3")
    needed = [Requirement(A_TASK, variables=["month"])]
    gate = check_upstream(needed, variables={"month": "2026-10"}, store=store, now=at(60))
    assert gate.verdict is Verdict.PASS
    assert job_health(A_TASK, store=store, now=at(60)).verdict is Verdict.UNKNOWN


def test_a_changed_line_counts_as_the_damaged_record_of_its_run(store: JsonlStore) -> None:
    store.save(a_receipt(status=Status.RUNNING))
    store.save(a_receipt(error="said"))
    content = store.path.read_bytes()
    store.path.write_bytes(content.replace(b'"status":"success"', b'"status":"skipped"'))
    (bad,) = store.search(A_TASK).unreadable
    assert bad.where == f"{store.path}:2 (run run-1 of {A_TASK})"
    assert "changed" in bad.why
    assert list(store.search(A_TASK)) == []
    with pytest.raises(BadReceiptError):
        store.load(A_TASK, "run-1")


DAMAGE = {
    "a letter": b"x",
    "an end of line": b"\n",
    "a zero": b"\0",
    "zeros": b"\0" * 700,
    "another line": b'"}\n{"event":"',
}


def overwritten(content: bytes, at: int, patch: bytes) -> bytes:
    return (content[:at] + patch + content[at + len(patch) :])[: len(content)]


@pytest.mark.parametrize("patch", DAMAGE)
def test_damage_anywhere_is_told_to_all_whose_answer_it_changes(
    store: JsonlStore, patch: str
) -> None:
    other_task = "pay/monthly/send"
    store.save(a_receipt(status=Status.RUNNING))
    store.save(a_receipt(task=other_task, run_id="q"))
    add(store, saved_line(a_receipt(run_id="torn"))[:400])
    store.save(a_receipt())
    store.claim(OCTOBER, run_id="c", lease=LONG)
    store.save(a_receipt(task=other_task, run_id="r", started_at=at(3)))
    content, holder = store.path.read_bytes(), store.holder(OCTOBER)
    answers = {task: list(store.search(task)) for task in (A_TASK, other_task)}
    assert store.search().unreadable == ()
    damaged = store.path.with_name("damaged.jsonl")
    for position in range(0, len(content) - 1, 9):
        damaged.write_bytes(overwritten(content, position, DAMAGE[patch]))
        reader = JsonlStore(damaged)
        for task, answer in answers.items():
            found = reader.search(task)
            assert found.unreadable or list(found) == answer, position
        with contextlib.suppress(StoreUnavailableError):
            assert reader.holder(OCTOBER) == holder, position


def test_a_file_of_somebody_else_is_not_written_to(tmp_path: Path) -> None:
    for content in (b"PAR1\x00", b"name,price\n1,2\n", b"[\n]\n", b'{"run_id": "r1"}\n'):
        path = tmp_path / "data"
        path.write_bytes(content)
        store = JsonlStore(path)
        with pytest.raises(StoreUnavailableError, match="does not begin as a ledger does"):
            store.save(a_receipt())
        assert path.read_bytes() == content
        assert os.listdir(tmp_path) == ["data"]
        assert store.search().unreadable


def test_millions_of_foreign_lines_are_told_in_short(
    store: JsonlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "STRAYS_KEPT", 3)
    add(store, b"x\n" * 10)
    bad = store.search(A_TASK).unreadable
    assert [each.where for each in bad] == [f"{store.path}:{n}" for n in (1, 2, 3, 3)]
    assert bad[-1].why == "7 lines after this one cannot be read either"


def test_a_line_beyond_reason_is_told_and_passed(
    store: JsonlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(a_receipt())
    monkeypatch.setattr(index, "MAX_LINE_BYTES", 2000)
    for length in (2000, 2001, 3999, 4001, 9000):
        add(store, b"x" * length + b"\n")
    store.save(a_receipt(run_id="run-2", started_at=at(1)))
    found = JsonlStore(store.path).search(A_TASK)
    assert [run.run_id for run in found] == ["run-2", "run-1"]
    assert len(found.unreadable) == 5


def test_blank_lines_say_nothing(store: JsonlStore) -> None:
    store.save(a_receipt())
    add(store, b"\n  \n")
    store.save(a_receipt(run_id="run-2"))
    assert (len(store.search()), store.search().unreadable) == (2, ())


def test_nobody_claims_where_a_line_may_tell_of_another_claim(store: JsonlStore) -> None:
    won = store.claim(OCTOBER, run_id="run-1", lease=LONG)
    assert won
    november = ClaimKey.of(A_TASK, {"month": "2026-11"})
    content = store.path.read_bytes()
    time.sleep(0.02)  # the clock of a file system is coarse
    store.path.write_bytes(content.replace(b'"token":1', b'"token":7'))
    for ask in (
        lambda: store.claim(OCTOBER, run_id="run-2", lease=LONG),
        lambda: store.renew(won),
        lambda: store.holder(OCTOBER),
    ):
        with pytest.raises(StoreUnavailableError, match=r"ledger\.jsonl:1 cannot be read"):
            ask()
    assert store.claim(november, run_id="run-2", lease=LONG)
    add(store, b"anything\n")
    with pytest.raises(StoreUnavailableError, match=r"ledger\.jsonl:3 cannot be read"):
        store.claim(november, run_id="run-3", lease=LONG)
    store.path.write_bytes(content)
    held = store.claim(OCTOBER, run_id="run-2", lease=LONG)
    assert isinstance(held, Held)


# A file that is not what it was.


def replaced(path: Path, content: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(content)
    other.replace(path)


def cut(path: Path, content: bytes) -> None:
    path.write_bytes(content)


@pytest.mark.parametrize("change", [replaced, cut])
def test_a_file_that_was_replaced_is_read_anew(
    store: JsonlStore, change: Callable[[Path, bytes], None]
) -> None:
    for number in range(3):
        store.save(a_receipt(run_id=f"r{number}", started_at=at(number)))
    assert len(store.search()) == 3
    kept = lines(store)
    change(store.path, kept[1] + b"\n")
    assert [run.run_id for run in store.search()] == ["r1"]
    change(store.path, b"".join(line + b"\n" for line in kept * 2))
    assert [run.run_id for run in store.search()] == ["r2", "r1", "r0"]
    store.save(a_receipt(run_id="r3", started_at=at(3)))
    assert len(store.search()) == 4


@pytest.mark.parametrize("in_secret", [False, True])
def test_a_line_changed_where_it_stands_is_noticed(store: JsonlStore, in_secret: bool) -> None:
    store.save(a_receipt(run_id="a"))
    for number in range(3):
        store.save(a_receipt(run_id=f"r{number}", started_at=at(number + 1)))
    assert len(store.search()) == 4
    time.sleep(0.02)  # the clock of a file system is coarse
    known = os.stat(store.path)
    with open(store.path, "r+b") as file:
        file.seek(len(lines(store)[0]) - 5)
        file.write(b"x")
    if in_secret:
        os.utime(store.path, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert len(store.search()) == 3
    (bad,) = store.search().unreadable
    assert bad.where.startswith(f"{store.path}:1")


# Where the file is.


def test_a_ledger_that_is_not_there_is_unavailable_to_a_reader_and_made_by_a_writer(
    tmp_path: Path,
) -> None:
    store = open_store(f"jsonl://{tmp_path}/a/b/ledger.jsonl")
    assert store.url == f"jsonl://{tmp_path}/a/b/ledger.jsonl"
    for ask in (store.search, lambda: store.load(A_TASK, "run-1"), lambda: store.list_runs(A_TASK)):
        with pytest.raises(StoreUnavailableError, match="The first recorded run makes it"):
            ask()
    assert os.listdir(tmp_path) == []
    store.save(a_receipt())
    assert list(store.search()) == [a_receipt()]
    assert sorted(os.listdir(tmp_path / "a" / "b")) == ["ledger.jsonl", "ledger.jsonl.lock"]


def test_a_place_that_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        store = JsonlStore(tmp_path / name)
        for ask in (store.search, lambda store=store: store.save(a_receipt())):
            with pytest.raises(StoreUnavailableError, match="is not a file"):
                ask()
        assert [each.good for each in store.examine() if each.what == "write"] == [False]
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]
    (tmp_path / "file").touch()
    below = JsonlStore(tmp_path / "file" / "ledger.jsonl")
    for ask in (below.search, lambda: below.save(a_receipt())):
        with pytest.raises(StoreUnavailableError, match="Not a directory"):
            ask()


def test_a_link_to_nothing_is_no_missing_ledger(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    store = JsonlStore(tmp_path / "link")
    for ask in (store.search, lambda: store.save(a_receipt())):
        with pytest.raises(StoreUnavailableError, match="is a link to nothing"):
            ask()
    assert os.listdir(tmp_path) == ["link"]


def test_writers_by_a_link_and_by_the_file_meet_at_one_lock(
    store: JsonlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(store.path)
    other = JsonlStore(link)
    other.save(a_receipt())
    assert list(store.search()) == [a_receipt()]
    monkeypatch.setattr(atomic, "LOCK_WITHIN_SECONDS", 0.2)
    with (
        atomic.lock(store.path.with_name("ledger.jsonl.lock")),
        pytest.raises(StoreUnavailableError, match=r"another writer has held its lock for 0\.2 s"),
    ):
        other.save(a_receipt(run_id="run-2"))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("jsonl://ledger.jsonl", "three slashes"),
        ("jsonl://host/srv/ledger.jsonl", "three slashes"),
        ("jsonl:///srv/ledger.jsonl?mode=ro", "takes none"),
        ("jsonl:///srv/ledger.jsonl#1", "takes none"),
        ("jsonl:///srv/", "names no file"),
        ("jsonl:///", "names no file"),
        ("jsonl://", "names no file"),
        ("jsonl:///srv/%00", "names no file"),
    ],
)
def test_a_url_that_names_no_file_is_refused(url: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        open_store(url)


def test_a_name_with_spaces_and_letters_of_any_language_is_kept(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "Księga 1.jsonl")
    store.save(a_receipt())
    assert list(open_store(store.url).search()) == [a_receipt()]


def test_a_store_is_used_on_after_a_fork_while_a_thread_writes(store: JsonlStore) -> None:
    store.save(a_receipt())
    done = threading.Event()

    def write() -> None:
        for number in range(1000):
            if done.is_set():
                return
            store.save(a_receipt(run_id=f"r{number}"))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            child = os.fork()
            if child == 0:
                try:
                    store.save(a_receipt(run_id=f"child-{number}"))
                finally:
                    os._exit(0)
            until = time.monotonic() + 60
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                assert time.monotonic() < until
                time.sleep(0.01)
    finally:
        done.set()
        writer.join()
    assert {f"child-{number}" for number in range(5)} <= {run.run_id for run in store.search()}


def test_what_a_ledger_promises_is_told(store: JsonlStore) -> None:
    told = {finding.what: finding for finding in store.examine()}
    assert told["write"].good
    assert told["lines"].why == "0 in all; runs: 0"
    assert told["claim"].good
    assert "clocks" in told["clock"].why
    assert os.listdir(store.path.parent) == ["ledger.jsonl"]
    assert store.heartbeat_every == timedelta(minutes=10)
    missing = JsonlStore(store.path.parent / "no" / "such" / "ledger")
    assert next(each for each in missing.examine() if each.what == "write").good
    assert next(each for each in missing.examine() if each.what == "lines").good is None
