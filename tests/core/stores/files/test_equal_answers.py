"""Whatever happens to a folder and its hints, every answer is that of a plain full read."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ubunye_core import BadReceiptError, Receipt, ReceiptConflictError, Status
from ubunye_core.batch import Batch
from ubunye_core.codec import decode, encode
from ubunye_core.receipt import Orchestrator, Recorder
from ubunye_core.runids import new_run_id, time_in
from ubunye_core.stores import FileStore, Found, Unreadable, select
from ubunye_core.testing import A_TASK, a_receipt, at

BATCHES: list[dict[str, str]] = [
    {"month": "2026-10"},
    {"month": "2026-10", "region": "eu"},
    {"month": "2026-09", "region": "eu", "mode": "DEV"},
    {"month": "***"},
    {},
]
ASKED = [*BATCHES, {"region": "eu"}, {"mode": "DEV"}, {"month": "2026-08"}]
SEARCHES = [
    (status, since, batch, limit)
    for status in (None, Status.SUCCESS, Status.RUNNING)
    for since in (None, at(8))
    for batch in (None, {"month": "2026-10"}, {"region": "eu"}, {"month": "***"})
    for limit in (None, 1, 4)
]
OURS = Recorder(name="ubunye-receipts", version="1")


def everything(root: Path) -> tuple[list[Receipt], list[Unreadable]]:
    """All receipts of the task, each file read."""
    receipts, unreadable = [], []
    folder = root / A_TASK
    for path in folder.glob("*.json") if folder.is_dir() else ():
        try:
            receipt = decode(path.read_bytes(), where=str(path))
            assert receipt.run_id == path.stem
            receipts.append(receipt)
        except BadReceiptError as error:
            shown = time_in(path.stem)
            unreadable.append(
                Unreadable(where=error.where, why=error.why, task=A_TASK, started_at=shown)
            )
    return receipts, unreadable


class History:
    """What happens to a folder, by chance."""

    def __init__(self, root: Path, seed: int) -> None:
        self.chance, self.root, self.folder = random.Random(seed), root, root / A_TASK
        self.stores = [FileStore(root), FileStore(root)]
        self.running: list[Receipt] = []
        self.foreign: list[Receipt] = []
        self.number = 0
        self.done: list[str] = []

    def step(self) -> None:
        kinds: list[tuple[int, Callable[[], object]]] = [
            (8, self.we_begin), (8, self.we_end), (3, self.we_beat), (2, self.we_save_many),
            (4, self.others_write), (3, self.others_end_in_place), (1, self.others_write_half),
            (2, self.somebody_removes), (1, self.we_remove), (1, self.we_repair),
            (2, self.hints_go), (2, self.a_hint_goes), (2, self.a_hint_is_torn),
            (2, self.a_hint_is_spoilt), (1, self.hints_are_old), (1, self.dates_change),
            (1, self.the_turn_cannot_be_had),
        ]  # fmt: skip
        what = self.chance.choices([each for _, each in kinds], [w for w, _ in kinds])[0]
        self.done.append(what.__name__)
        if self.folder.is_dir() or what in (self.we_begin, self.others_write):
            what()

    def a_run(self, *, ours: bool) -> Receipt:
        self.number += 1
        start = at(self.chance.choice([self.number, self.number // 4, -self.number]))
        start += timedelta(microseconds=self.chance.choice([0, 0, 300, 999]))
        shows = self.chance.random() < (0.8 if ours else 0.3)
        attempt = Orchestrator(name="airflow", ids={"run": f"s{self.number // 3}"}, attempt=1)
        a_uuid = uuid.UUID(int=self.chance.getrandbits(128), version=4)
        return a_receipt(
            run_id=new_run_id(start) if shows else str(a_uuid),
            started_at=start,
            status=Status.RUNNING,
            variables=self.chance.choice(BATCHES),
            orchestrator=attempt if self.chance.random() < 0.5 else None,
            recorder=OURS if ours and self.chance.random() < 0.7 else None,
        )

    def ended(self, run: Receipt) -> Receipt:
        statuses = [*Status, Status.SUCCESS, Status.SUCCESS]
        final = self.chance.choice([status for status in statuses if status.is_final])
        return replace(run, status=final, ended_at=run.started_at + timedelta(minutes=3))

    def save(self, receipt: Receipt) -> None:
        with contextlib.suppress(ReceiptConflictError, BadReceiptError):
            self.chance.choice(self.stores).save(receipt)

    def we_begin(self) -> None:
        run = self.a_run(ours=True)
        self.running.append(run)
        self.save(run if self.chance.random() < 0.8 else self.ended(run))

    def we_end(self) -> None:
        if self.running:
            self.save(self.ended(self.chance.choice(self.running)))

    def we_beat(self) -> None:
        if self.running:
            self.save(replace(self.chance.choice(self.running), heartbeat_at=at(self.number)))

    def we_save_many(self) -> None:
        self.chance.choice(self.stores).save_many(
            [self.ended(self.a_run(ours=True)) for _ in range(self.chance.choice([1, 3, 40]))]
        )

    def others_write(self) -> None:
        run = self.a_run(ours=False)
        self.foreign.append(run)
        self.folder.mkdir(parents=True, exist_ok=True)
        written = run if self.chance.random() < 0.5 else self.ended(run)
        (self.folder / f"{run.run_id}.json").write_bytes(encode(written))

    def others_end_in_place(self) -> None:
        if self.foreign:
            run = self.chance.choice(self.foreign)
            path = self.folder / f"{run.run_id}.json"
            if path.exists():
                path.write_bytes(encode(self.ended(run)))

    def others_write_half(self) -> None:
        run = self.a_run(ours=False)
        self.foreign.append(run)
        document = encode(run)
        (self.folder / f"{run.run_id}.json").write_bytes(
            document[: self.chance.randrange(len(document))]
        )

    def somebody_removes(self) -> None:
        for path in self.some(self.folder.glob("*.json")):
            path.unlink()

    def we_remove(self) -> None:
        for path in self.some(self.folder.glob("*.json")):
            assert self.chance.choice(self.stores).remove(A_TASK, [path.stem]) == 1

    def we_repair(self) -> None:
        self.stores[0].repair()

    def some(self, paths: object) -> list[Path]:
        known = sorted(paths)  # type: ignore[call-overload]
        return [self.chance.choice(known)] if known else []

    def hints_go(self) -> None:
        shutil.rmtree(self.folder / ".hints", ignore_errors=True)

    def hint_files(self) -> list[Path]:
        found = [*(self.folder / ".hints").rglob("*"), self.folder / ".locks" / "seen"]
        return self.some(path for path in found if path.is_file())

    def a_hint_goes(self) -> None:
        for path in self.hint_files():
            path.unlink()

    def a_hint_is_torn(self) -> None:
        for path in self.hint_files():
            data = path.read_bytes()
            inside = [n for n in range(1, len(data)) if b"\n" not in data[n - 1 : n + 1]]
            if inside:
                os.truncate(path, self.chance.choice(inside))

    def a_hint_is_spoilt(self) -> None:
        for path in self.hint_files():
            data = bytearray(path.read_bytes())
            for _ in range(3 if data else 0):
                data[self.chance.randrange(len(data))] = self.chance.choice(b"\n TRN\0\xff9a-")
            with open(path, "r+b") as file:
                file.write(bytes(data))

    def hints_are_old(self) -> None:
        """Of a copy that was made a while ago."""
        hints, copy = self.folder / ".hints", self.root.with_name("copy")
        if copy.exists():
            shutil.rmtree(hints, ignore_errors=True)
            shutil.copytree(copy, hints)
            shutil.rmtree(copy)
        elif hints.exists():
            shutil.copytree(hints, copy)

    def dates_change(self) -> None:
        for path in self.some(self.folder.glob("*.json")):
            os.utime(path)

    def the_turn_cannot_be_had(self) -> None:
        from ubunye_core.stores.atomic import lock
        from ubunye_core.stores.files.noting import lock_of_hints

        (self.folder / ".locks").mkdir(exist_ok=True)
        with lock(lock_of_hints(self.folder)):
            self.we_begin()


def same(found: Found, expected: Found) -> bool:
    return list(found) == list(expected) and {bad.where for bad in found.unreadable} == {
        bad.where for bad in expected.unreadable
    }


def check(store: FileStore, root: Path, chance: random.Random) -> int:
    """Compare every answer; how many quick ones there were."""
    receipts, unreadable = everything(root)
    for n in (1, 3, 50):
        assert same(store.list_runs(A_TASK, n), select(receipts, unreadable, limit=n))
    for status, since, batch, limit in chance.sample(SEARCHES, 20):
        found = store.search(A_TASK, status, since, batch=batch, limit=limit)
        expected = select(
            receipts, unreadable, status=status, since=since, batch=batch, limit=limit
        )
        assert same(found, expected), (status, since, batch, limit)
    return _check_offers(store, receipts, unreadable)


def _check_offers(store: FileStore, receipts: list[Receipt], unreadable: list[Unreadable]) -> int:
    quick = 0
    for asked in ASKED:
        for whole in (True, False):
            runs = list(select(receipts, (), batch=asked))
            if whole:
                runs = [run for run in runs if run.batch.is_same(Batch.of(asked))]
            successes = [run for run in runs if run.status is Status.SUCCESS]
            told = store.success_by_batch(A_TASK, asked, whole=whole)
            if told is not None:
                quick += 1
                assert successes, (asked, whole)
                assert list(told) == list({r.run_id: r for r in (runs[0], successes[0])}.values())
    newest = select(receipts, unreadable, limit=50)
    last = store.settled([A_TASK]).get(A_TASK)
    if last is not None:
        quick += 1
        assert not newest.unreadable
        assert last.open_runs == {run.run_id for run in receipts if not run.status.is_final}
        assert (last.run_id, last.started_at) == (newest[0].run_id, newest[0].started_at)
        assert (last.status, last.finished_at) == (newest[0].status, newest[0].finished_at)
    for number in range(0, 20, 5):
        attempt = Orchestrator(name="airflow", ids={"run": f"s{number}"}, attempt=1)
        expected = [run for run in receipts if attempt.is_same_attempt(run.orchestrator)]
        assert list(store.of_attempt(A_TASK, attempt)) == list(Found(expected))
    scanned = list(store.scan(A_TASK))
    assert len(scanned) == len(receipts) + len(unreadable)
    return quick


def check_history(tmp_path: Path, seed: int, steps: int) -> int:
    history, quick = History(tmp_path / "receipts", seed), 0
    history.root.mkdir(parents=True)
    for number in range(steps):
        history.step()
        if number % 3 == 0:
            stores = [history.chance.choice(history.stores), FileStore(history.root)]
            for store in stores:
                try:
                    quick += check(store, history.root, history.chance)
                except AssertionError:
                    print(seed, number, history.done)
                    raise
    return quick


@pytest.mark.slow
def test_answers_are_those_of_a_full_read(tmp_path: Path) -> None:
    assert sum(check_history(tmp_path / str(seed), seed, 24) for seed in range(2)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_many_more_answers_are_those_of_a_full_read(tmp_path: Path, seed: int) -> None:
    check_history(tmp_path, seed, 60)


def test_what_is_known_of_a_run_is_no_secret_and_holds_no_path(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    store.save(a_receipt(variables={"month": "2026-10", "db_password": "hunter2-hunter2"}))
    for path in (tmp_path / A_TASK / ".hints").rglob("*"):
        if path.is_file():
            assert b"hunter2" not in path.read_bytes()
            assert b"/" not in path.read_bytes()
            assert json.dumps(path.read_bytes().decode("ascii"))
