"""What only a Delta table can do wrong, and what it must not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.core.stores.delta.rows import NOW, append
from ubunye_core import (
    ConfigError,
    MissingExtraError,
    ReceiptConflictError,
    Status,
    StoreUnavailableError,
    open_store,
)
from ubunye_core.receipt import Orchestrator, Receipt, Window
from ubunye_core.runids import new_run_id
from ubunye_core.stores import ClaimKey
from ubunye_core.stores.delta import DeltaStore, open_delta, upkeep
from ubunye_core.stores.events import event_of
from ubunye_core.testing import A_TASK, a_receipt, at

SEND = "pay/monthly/send"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "the receipts"


@pytest.fixture
def store(root: Path) -> DeltaStore:
    made = open_delta(f"delta+{root.as_uri()}")
    made.save_many([])
    return made


def every_question(store: DeltaStore) -> list[Callable[[], object]]:
    return [
        store.search,
        store.tasks,
        lambda: store.list_runs(A_TASK),
        lambda: store.load(A_TASK, "run-1"),
        lambda: store.settled([A_TASK]),
        lambda: list(store.scan(A_TASK)),
        lambda: store.success_by_batch(A_TASK, {"month": "2026-10"}, whole=True),
    ]


def is_unavailable(store: DeltaStore, match: str | None = None) -> None:
    for question in every_question(store):
        with pytest.raises(StoreUnavailableError, match=match) as refused:
            question()
        assert len(str(refused.value)) < 800


# --- places ---


def test_a_table_that_is_not_there_is_unavailable_and_is_not_made_by_a_reader(root: Path) -> None:
    is_unavailable(open_delta(f"delta+{root.as_uri()}"), "There is no Delta table")
    assert not root.exists()


def test_a_writer_makes_the_table(root: Path) -> None:
    open_store(f"delta+{root.as_uri()}").save(a_receipt())
    assert list(open_store(f"delta+{root.as_uri()}").search()) == [a_receipt()]


@pytest.mark.parametrize(
    "url",
    [
        "delta+file://", "delta+file:///", "delta+file://host/table", "delta+file:///t?region=x",
        "delta+file:///t#x", "delta+s3://", "delta+s3://bucket", "delta+s3://bucket/",
        "delta+s3:///table", "delta+s3://key:Geheim-8123@bucket/table",
        "delta+s3://bucket/t?aws_secret_access_key=Geheim-8123", "delta+s3://bucket/t?access_key=a",
        "delta+s3://bucket/t?speed=high",
    ],
)  # fmt: skip
def test_a_url_that_names_no_table_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_store(url)
    assert "Geheim-8123" not in str(refused.value)


def test_a_table_of_other_columns_is_refused(root: Path) -> None:
    write_deltalake(str(root), pa.table({"task": ["a/b/c"], "run_id": ["x"]}))
    store = open_delta(f"delta+{root.as_uri()}")
    for question in (*every_question(store), lambda: store.save(a_receipt())):
        with pytest.raises(ConfigError, match="is not a table of receipts"):
            question()


def test_the_lineage_table_of_ubunye_engine_is_refused_by_name(root: Path) -> None:
    names = ("run_id", "recorded_at", "engine_version", "task", "usecase", "pipeline", "target")
    write_deltalake(str(root), pa.table({name: ["x"] for name in (*names, "status")}))
    with pytest.raises(ConfigError, match="ubunye-engine"):
        open_delta(f"delta+{root.as_uri()}").search()


def test_columns_of_others_do_no_harm(store: DeltaStore, root: Path) -> None:
    store.save(a_receipt())
    table = DeltaTable(str(root))
    more = table.to_pyarrow_table().slice(0, 0).append_column("more", pa.array([], pa.int64()))
    write_deltalake(table, more, mode="append", schema_mode="merge")
    store.save(a_receipt(run_id="run-2"))
    assert len(open_delta(store.url).search(A_TASK)) == 2


def test_any_reader_of_delta_can_read_the_table(store: DeltaStore, root: Path) -> None:
    store.save(a_receipt())
    protocol = DeltaTable(str(root)).protocol()
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)


# --- damage ---


def test_a_log_that_is_gone_is_not_an_empty_store(store: DeltaStore, root: Path) -> None:
    store.save(a_receipt())
    shutil.rmtree(root / "_delta_log")
    for handle in (store, open_delta(store.url)):
        is_unavailable(handle)
        with pytest.raises(StoreUnavailableError, match="no log"):
            handle.save(a_receipt(run_id="run-2"))


@pytest.mark.parametrize("damage", ["{", "", "\0" * 500, '{"commitInfo":{}}\n{"add":'])
def test_a_commit_that_cannot_be_read_is_unavailable(
    store: DeltaStore, root: Path, damage: str
) -> None:
    store.save(a_receipt())
    last = max((root / "_delta_log").glob("*.json"))
    last.write_text(damage)
    is_unavailable(open_delta(store.url))


def test_a_commit_that_is_gone_is_unavailable(store: DeltaStore, root: Path) -> None:
    for number in range(4):
        store.save(a_receipt(run_id=f"run-{number}"))
    (root / "_delta_log" / f"{2:020}.json").unlink()
    is_unavailable(open_delta(store.url))


def test_a_file_that_is_gone_or_damaged_is_unavailable(store: DeltaStore, root: Path) -> None:
    store.save(a_receipt())
    (file,) = root.rglob("task=*/*.parquet")
    whole = file.read_bytes()
    for left in (None, b"", whole[:100], b"\0" * len(whole)):
        file.unlink() if left is None else file.write_bytes(left)
        for handle in (store, open_delta(store.url)):
            for question in (handle.search, lambda handle=handle: handle.load(A_TASK, "run-1")):
                with pytest.raises(StoreUnavailableError):
                    question()
            with pytest.raises(StoreUnavailableError):
                handle.save(a_receipt(status=Status.ERROR))


def test_an_open_store_notices_that_its_table_was_replaced(store: DeltaStore, root: Path) -> None:
    for number in range(3):
        store.save(a_receipt(run_id=f"run-{number}"))
    shutil.rmtree(root)
    is_unavailable(store, "There is no Delta table")
    open_delta(store.url).save(a_receipt(run_id="new"))
    assert [receipt.run_id for receipt in store.search()] == ["new"]


@pytest.mark.slow
def test_a_reader_that_slept_while_the_log_was_cleaned_up_sees_what_is_new(
    store: DeltaStore, root: Path
) -> None:
    store.save(a_receipt())
    sleeper = open_delta(store.url)
    assert len(sleeper.search()) == 1
    for number in range(105):
        store.save(a_receipt(run_id=f"run-{number}", status=Status.RUNNING))
    for commit in (root / "_delta_log").glob("*.json"):
        if int(commit.stem) < 99:
            commit.unlink()
    for handle in (sleeper, store, open_delta(store.url)):
        assert len(handle.search()) == 105


def test_a_row_that_disagrees_with_its_document_is_unreadable_and_hides_nothing(
    store: DeltaStore,
) -> None:
    store.save(a_receipt(run_id="good"))
    row = event_of(a_receipt(run_id="bad"), replaces=None, saved_at=NOW)
    append(store, replace(row, started_at=at(5)))
    found = store.search(A_TASK)
    assert [receipt.run_id for receipt in found] == ["good"]
    (bad,) = found.unreadable
    assert "bad" in bad.where
    assert "another status or start" in bad.why
    store.save(a_receipt(run_id="bad"))
    assert store.search(A_TASK).unreadable == ()


def test_a_row_without_names_is_unreadable_and_hides_nothing(store: DeltaStore) -> None:
    store.save(a_receipt())
    row = event_of(a_receipt(), replaces=None, saved_at=NOW)
    append(store, replace(row, task=None, run_id=None))  # type: ignore[arg-type]
    assert len(store.search().unreadable) == 1
    assert list(store.search(A_TASK)) == [a_receipt()]
    assert store.tasks() == [A_TASK]


# --- many files ---


def files_of(root: Path) -> int:
    return len(DeltaTable(str(root)).file_uris())


def test_many_saves_are_joined_by_themselves(store: DeltaStore, root: Path) -> None:
    for number in range(upkeep.DUE_AT + 5):
        store.save(a_receipt(run_id=f"run-{number}", started_at=at(number)))
    assert files_of(root) <= 6
    assert len(store.search(A_TASK)) == upkeep.DUE_AT + 5


def test_the_files_of_claims_are_joined_too(store: DeltaStore, root: Path) -> None:
    keys = [ClaimKey.of(A_TASK, {"n": number}) for number in range(4)]
    store.save(a_receipt())
    claims = [store.claim(key, run_id="run-1", lease=timedelta(minutes=15)) for key in keys]
    beside = DeltaTable(f"{root}_claims")
    store.compact()
    assert len(DeltaTable(f"{root}_claims").file_uris()) <= len(beside.partitions())
    for key, claim in zip(keys, claims, strict=True):
        held = store.holder(key)
        assert held is not None
        assert (held.run_id, held.token) == ("run-1", claim.token)


def test_answers_stay_the_same_when_files_are_joined(store: DeltaStore, root: Path) -> None:
    for number in range(5):
        store.save(a_receipt(run_id=f"run-{number}", status=Status.RUNNING))
        store.save(a_receipt(run_id=f"run-{number}"))
    before, files = store.search(), files_of(root)
    reading = store.scan(A_TASK)
    next(reading)
    store.compact()
    assert files_of(root) < files
    for handle in (store, open_delta(store.url)):
        assert list(handle.search()) == list(before)
    assert len(list(reading)) == 4  # a reader that was under way is not disturbed


def test_nothing_is_lost_when_files_are_joined_while_others_write(store: DeltaStore) -> None:
    done = threading.Event()

    def join() -> int:
        times = 0
        handle = open_delta(store.url)
        while not done.is_set():
            handle.compact()
            times += 1
        return times

    def write(number: int) -> None:
        handle = open_delta(store.url)
        for run in range(10):
            receipt = a_receipt(run_id=f"w{number}-{run}", status=Status.RUNNING)
            handle.save(receipt)
            handle.save(replace(receipt, status=Status.SUCCESS, ended_at=at(9)))

    with ThreadPoolExecutor(5) as pool:
        joined = pool.submit(join)
        list(pool.map(write, range(4)))
        done.set()
        assert joined.result() > 1
    assert len(store.search(A_TASK, Status.SUCCESS)) == 40


def test_of_several_creators_at_once_one_makes_the_table(root: Path) -> None:
    ready = threading.Barrier(6)

    def create(number: int) -> None:
        handle = open_delta(f"delta+{root.as_uri()}")
        ready.wait()
        handle.save(a_receipt(run_id=f"run-{number}"))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(create, range(6)))
    assert len(open_delta(f"delta+{root.as_uri()}").search()) == 6
    log = "".join(path.read_text() for path in (root / "_delta_log").glob("*.json"))
    assert log.count('"metaData"') == 1


def test_the_log_forgets_its_elections(store: DeltaStore, root: Path) -> None:
    assert DeltaTable(str(root)).metadata().configuration["delta.checkpointInterval"] == "100"
    store.save(a_receipt())
    last = max((root / "_delta_log").glob("*.json")).read_text()
    assert '"lastUpdated"' in last


# --- what it offers ---


def test_save_many_is_one_commit_and_keeps_the_rules_about_ends(
    store: DeltaStore, root: Path
) -> None:
    store.save(a_receipt(run_id="ended", status=Status.ERROR))
    version = DeltaTable(str(root)).version()
    running = a_receipt(run_id="both", status=Status.RUNNING)
    given = [
        a_receipt(run_id="ended"), running, a_receipt(run_id="both"), a_receipt(task=SEND),
        a_receipt(run_id="both", status=Status.ERROR),
    ]  # fmt: skip
    with pytest.raises(ReceiptConflictError, match=r"2 of the receipts.*Run ended of"):
        store.save_many(iter(given))
    assert DeltaTable(str(root)).version() == version + 1
    assert store.load(A_TASK, "ended").status is Status.ERROR
    assert store.load(A_TASK, "both") == a_receipt(run_id="both")
    assert store.tasks() == [A_TASK, SEND]


def test_many_receipts_are_found_like_one(store: DeltaStore) -> None:
    many = [a_receipt(run_id=new_run_id(at(n)), started_at=at(n)) for n in range(1200)]
    store.save_many(many)
    assert list(store.search(A_TASK)) == many[::-1]
    assert list(store.list_runs(A_TASK, 700)) == many[:-701:-1]
    assert {each.run_id for each in store.scan(A_TASK) if isinstance(each, Receipt)} == {
        each.run_id for each in many
    }
    store.save_many(many)  # again: nothing changes
    assert len(store.search(A_TASK)) == 1200


def test_removed_runs_are_gone_and_others_stay(store: DeltaStore, root: Path) -> None:
    for task in (A_TASK, SEND):
        for number in range(3):
            store.save(a_receipt(task=task, run_id=f"run-{number}", status=Status.RUNNING))
            store.save(a_receipt(task=task, run_id=f"run-{number}"))
    version = DeltaTable(str(root)).version()
    assert store.remove(A_TASK, ["run-0", "run-2", "nothing"]) == 2
    assert DeltaTable(str(root)).version() == version + 1
    assert [receipt.run_id for receipt in store.search(A_TASK)] == ["run-1"]
    assert len(store.search(SEND)) == 3
    assert store.remove(A_TASK, ["run-1"]) == 1
    assert store.tasks() == [SEND]
    assert store.remove(A_TASK, ["run-1"]) == 0


def test_the_success_of_a_batch_and_its_newest_run(store: DeltaStore) -> None:
    eu = {"month": "2026-10", "region": "eu"}
    assert store.success_by_batch(A_TASK, eu, whole=True) is None
    store.save(a_receipt(run_id="a", variables=eu))
    store.save(a_receipt(run_id="b", variables=eu, started_at=at(1), status=Status.ERROR))
    store.save(a_receipt(run_id="c", started_at=at(2)))

    def found(batch: dict[str, str], *, whole: bool) -> list[str] | None:
        answer = store.success_by_batch(A_TASK, batch, whole=whole)
        return None if answer is None else [receipt.run_id for receipt in answer]

    assert found(eu, whole=True) == ["b", "a"]
    assert found({"month": "2026-10"}, whole=True) == ["c"]
    assert found({"month": "2026-10"}, whole=False) == ["c"]
    assert found({"region": "eu"}, whole=False) == ["b", "a"]
    assert found({"region": "us"}, whole=False) is None
    append(store, replace(event_of(a_receipt(run_id="x"), replaces=None, saved_at=NOW),
                          batch_key=None))  # fmt: skip
    assert found({"month": "2026-10"}, whole=True) is None


def test_the_receipts_of_an_attempt(store: DeltaStore) -> None:
    first = Orchestrator(name="airflow", ids={"run_id": "r"}, attempt=1, max_attempts=2)
    second = replace(first, attempt=2)
    store.save(a_receipt(run_id="a", orchestrator=first, status=Status.RUNNING))
    store.save(a_receipt(run_id="a", orchestrator=first, status=Status.ERROR))
    store.save(a_receipt(run_id="b", orchestrator=second))
    store.save(a_receipt(run_id="c"))
    assert [receipt.run_id for receipt in store.of_attempt(A_TASK, first)] == ["a"]
    assert [receipt.run_id for receipt in store.of_attempt(A_TASK, second)] == ["b"]
    assert list(store.of_attempt(SEND, second)) == []


def test_settled_tasks(store: DeltaStore) -> None:
    window = Window(start=at(-60), end=at(0))
    store.save(a_receipt(run_id="old", status=Status.ERROR, started_at=at(-9)))
    store.save(a_receipt(window=window, status=Status.RUNNING))
    assert store.settled([A_TASK]) == {}
    store.save(a_receipt(window=window))
    settled = store.settled([A_TASK, SEND])
    assert set(settled) == {A_TASK}
    well = settled[A_TASK]
    assert (well.run_id, well.started_at, well.finished_at) == ("run-1", at(0), at(10))
    assert well.window_end == at(0)
    store.save(a_receipt(run_id="other", status=Status.RUNNING, started_at=at(-20)))
    assert store.settled([A_TASK]) == {}
    store.save(a_receipt(run_id="other", status=Status.ERROR, started_at=at(-20)))
    assert set(store.settled([A_TASK])) == {A_TASK}
    append(store, replace(event_of(a_receipt(run_id="x"), replaces=None, saved_at=NOW),
                          status=None))  # fmt: skip
    assert store.settled([A_TASK]) == {}


def test_variables_that_sql_could_misread_are_found(store: DeltaStore) -> None:
    odd = {"it's": "o'clock\\", 'a"b': "x; DROP TABLE events --", "line": "a\nb\0c", "é": "\ud800"}
    store.save(a_receipt(variables=odd))
    store.save(a_receipt(run_id="other", variables={"it's": "o", "é": "?"}))
    for name, text in odd.items():
        found = store.search(A_TASK, batch={name: text})
        assert [receipt.run_id for receipt in found] == ["run-1"], name
    assert store.success_by_batch(A_TASK, odd, whole=True) is not None


def test_it_can_be_examined(store: DeltaStore, root: Path) -> None:
    store.save(a_receipt())
    findings = {finding.what: finding for finding in store.examine()}
    assert findings["write"].good
    assert findings["claim"].good
    assert findings["durability"].good
    assert findings["files"].good
    missing = open_delta(f"{store.url}-not")
    assert next(missing.examine()).good
    assert not Path(f"{root}-not").exists()
    rows = [
        event_of(a_receipt(run_id=f"r{number}"), replaces=None, saved_at=NOW)
        for number in range(upkeep.DUE_AT)
    ]
    for row in rows:
        append(store, row)
    found = {finding.what: finding for finding in store.examine()}
    assert (found["files"].good, "compact" in found["files"].why) == (False, True)


# --- processes ---

_FORKED = """
import os, sys, threading, time
from ubunye_core import open_store, StoreUnavailableError
store = open_store(sys.argv[1])
store.search()
held = threading.Event()
def hold():
    with store._reads.lock:
        held.set()
        time.sleep(60)
if sys.argv[2] == "asked by a thread":
    threading.Thread(target=hold, daemon=True).start()
    held.wait()
if os.fork() == 0:
    try:
        store.search()
    except StoreUnavailableError as error:
        os.write(1, str(error).encode())
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize("meanwhile", ["at rest", "asked by a thread"])
def test_a_forked_process_is_told_what_to_do(store: DeltaStore, meanwhile: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FORKED, store.url, meanwhile],
        capture_output=True, text=True, timeout=60, env=os.environ | {"RUST_BACKTRACE": "0"},
    )  # fmt: skip
    assert "the method 'spawn'" in done.stdout, done.stderr


def test_without_deltalake_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("ubunye_core.stores.delta")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(MissingExtraError, match=r"ubunye-receipts\[delta\]"):
        open_store("delta+file:///srv/receipts")
