"""``copy_store``: everything arrives, nothing is doubled, nothing that has ended is overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.core.questions.builders import CALC, DAY, HOUR, NOW, SEND, FourMethods, a_run, put
from ubunye_core import (
    ConfigError,
    Receipt,
    ReceiptNotFoundError,
    ReceiptStore,
    Status,
    StoreUnavailableError,
    open_store,
)
from ubunye_core.codec import as_json, decode
from ubunye_core.stores import MemoryStore
from ubunye_core.upkeep import copy, copy_store
from ubunye_core.upkeep.identity import is_same_place

CORPUS = Path(__file__).parents[2] / "data" / "receipts-corpus"


def all_in(store: ReceiptStore) -> dict[str, object]:
    return {receipt.run_id: as_json(receipt) for receipt in store.search()}


def a_full_store() -> MemoryStore:
    store = MemoryStore("full")
    put(
        store,
        a_run(extra={"from_elsewhere": {"a": [1, None, 2.5]}}),
        a_run("error", error="no\nIBAN", ago=2 * HOUR),
        a_run("running", task=SEND),
        a_run("interrupted", task=SEND, run_id="841", ended_by="close"),
    )
    return store


@pytest.mark.parametrize("source", [lambda s: s, FourMethods])
@pytest.mark.parametrize("target", [lambda s: s, FourMethods])
def test_every_receipt_arrives_with_all_its_fields(
    source: Callable[..., ReceiptStore], target: Callable[..., ReceiptStore]
) -> None:
    full, empty = a_full_store(), MemoryStore()
    done = copy_store(source(full), target(empty))
    assert done
    assert (done.tasks, done.copied, done.running) == (2, 4, 1)
    assert all_in(empty) == all_in(full)


def test_a_second_copy_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    full, other = a_full_store(), MemoryStore()
    copy_store(full, other)
    monkeypatch.setattr(other, "save", None)
    monkeypatch.setattr(other, "save_many", None, raising=False)
    done = copy_store(full, other)
    assert done
    assert (done.copied, done.same) == (0, 4)


def test_receipts_of_the_published_engine_arrive_as_they_are(tmp_path: Path) -> None:
    source = MemoryStore()
    for file in sorted(CORPUS.rglob("*.json")):
        try:
            receipt = decode(file.read_bytes(), where=file.name)
        except ValueError:
            continue
        source.put_document(receipt.task, receipt.run_id, file.read_bytes())
    target = open_store(tmp_path / "new")
    done = copy_store(source, target)
    assert done.copied + len(done.refused) == len(all_in(source)) > 3
    refused = {each.run_id for each in done.refused}
    assert all_in(target) == {
        run_id: held for run_id, held in all_in(source).items() if run_id not in refused
    }


def test_a_dry_run_writes_nothing_and_says_what_would_be(tmp_path: Path) -> None:
    full = a_full_store()
    done = copy_store(full, tmp_path / "new", dry_run=True)
    assert (done.copied, done.running, done.dry_run) == (4, 1, True)
    assert "taken as empty" in done.remark
    assert not (tmp_path / "new").exists()


def test_a_store_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    done = copy_store(a_full_store(), tmp_path / "new")
    assert done
    assert len(all_in(open_store(tmp_path / "new"))) == 4


def test_a_task_and_a_time_narrow_it() -> None:
    full, other = a_full_store(), MemoryStore()
    assert copy_store(full, other, task="pay/*/calc", since=NOW - 1.5 * HOUR).copied == 1
    assert copy_store(full, other, task=SEND).copied == 2
    with pytest.raises(ReceiptNotFoundError, match="pay/monthly/calc"):
        copy_store(full, other, task="pay/monthly/calx")
    with pytest.raises(ConfigError):
        copy_store(full, other, task="../../etc/passwd/x")


def test_damage_is_named_and_all_else_is_copied() -> None:
    full, other = a_full_store(), MemoryStore()
    full.put_document(CALC, "broken", b"{")
    done = copy_store(full, other)
    assert not done
    assert (done.copied, len(done.unreadable)) == (4, 1)
    assert done.unreadable[0].where.endswith("broken")
    assert "broken" not in all_in(other)


def test_another_end_is_named_and_never_overwritten() -> None:
    full, other = MemoryStore(), MemoryStore()
    success = put(full, a_run(), a_run())
    put(other, replace(success, status=Status.ERROR))
    before = all_in(other)
    done = copy_store(full, other)
    assert not done
    assert done.copied == 1
    assert [(each.task, each.run_id) for each in done.refused] == [(CALC, success.run_id)]
    assert "has ended as error" in done.refused[0].why
    assert all_in(other)[success.run_id] == before[success.run_id]


def test_the_same_end_with_other_content_is_named_too() -> None:
    full, other = MemoryStore(), MemoryStore()
    success = put(full, a_run())
    put(other, replace(success, host="elsewhere"))
    done = copy_store(full, other)
    assert "another receipt there says success" in done.refused[0].why
    assert all_in(other) == {success.run_id: as_json(replace(success, host="elsewhere"))}


def test_a_run_that_has_ended_since_the_last_copy_gets_its_end() -> None:
    full, other = MemoryStore(), MemoryStore()
    running = put(full, a_run("running"))
    assert copy_store(full, other).running == 1
    put(full, replace(running, status=Status.SUCCESS, ended_at=NOW))
    done = copy_store(full, other)
    assert done
    assert (done.copied, done.running) == (1, 0)
    assert all_in(other) == all_in(full)


def test_a_later_word_in_the_other_store_stands() -> None:
    full, other = MemoryStore(), MemoryStore()
    ended = put(full, a_run("running"), a_run("running"))
    alive = next(each for each in full.search() if each.run_id != ended.run_id)
    put(other, replace(ended, status=Status.SUCCESS, ended_at=NOW))
    put(other, replace(alive, heartbeat_at=NOW))
    before = all_in(other)
    done = copy_store(full, other)
    assert done
    assert (done.copied, done.ahead) == (0, 2)
    assert all_in(other) == before


def test_a_word_of_a_third_party_yields_to_the_runs_own() -> None:
    full, other = MemoryStore(), MemoryStore()
    success = put(full, a_run())
    put(other, replace(success, status=Status.INTERRUPTED, ended_by="close"))
    done = copy_store(full, other)
    assert done
    assert all_in(other) == all_in(full)


def test_a_damaged_record_in_the_other_store_is_healed_by_an_end_only() -> None:
    full, other = MemoryStore(), MemoryStore()
    running = put(full, a_run(run_id="ended"), a_run("running", run_id="goes-on"))
    for run_id in ("ended", "goes-on"):
        other.put_document(CALC, run_id, b"{")
    done = copy_store(full, other)
    assert [each.run_id for each in done.refused] == [running.run_id]
    assert done.copied == 1
    assert other.load(CALC, "ended").status is Status.SUCCESS


def test_one_refused_of_many_is_found_out() -> None:
    class SavesMany(MemoryStore):
        def save_many(self, receipts: Iterable[Receipt]) -> None:
            error = None
            for each in receipts:
                try:
                    self.save(each)
                except Exception as refused:
                    error = refused
            if error is not None:
                raise error

    class Late(SavesMany):
        """Another writer ends a run between our look and our save."""

        def save(self, receipt: Receipt) -> None:
            if receipt.run_id == "r-2" and not self.search(task=CALC, batch={"late": "1"}):
                held = replace(receipt, status=Status.ERROR, variables={"late": "1"})
                super().save(held)
            super().save(receipt)

    full, other = MemoryStore(), Late()
    put(full, *(a_run(run_id=f"r-{n}") for n in range(4)))
    done = copy_store(full, other)
    assert [each.run_id for each in done.refused] == ["r-2"]
    assert done.copied == 3


def test_what_the_other_store_loses_is_found_when_it_is_read_back() -> None:
    class Forgetful(MemoryStore):
        def save(self, receipt: Receipt) -> None:
            if receipt.run_id == "r-1":
                return
            super().save(replace(receipt, host=None) if receipt.run_id == "r-2" else receipt)

    full = MemoryStore()
    put(full, *(a_run(run_id=f"r-{n}", host="h") for n in range(4)))
    done = copy_store(full, Forgetful())
    assert not done
    assert {each.run_id for each in done.missing} == {"r-1", "r-2"}


def test_a_store_that_vanishes_midway_leaves_a_copy_that_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Vanishing(MemoryStore):
        saves = 0

        def save(self, receipt: Receipt) -> None:
            self.saves += 1
            if self.saves == 8:
                raise StoreUnavailableError("the link is down")
            super().save(receipt)

    monkeypatch.setattr(copy, "CHUNK_RECEIPTS", 5)
    full, other = MemoryStore(), Vanishing()
    put(full, *(a_run(run_id=f"r-{n}") for n in range(12)))
    with pytest.raises(StoreUnavailableError, match="after 5 receipts: the link is down"):
        copy_store(full, other)
    done = copy_store(full, other)
    assert (done.copied, done.same) == (5, 7)
    assert all_in(other) == all_in(full)


def test_a_source_that_vanishes_is_no_empty_source(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError):
        copy_store(tmp_path / "gone", MemoryStore())


def test_large_receipts_are_not_held_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy, "CHUNK_BYTES", 100_000)
    full, sizes = MemoryStore(), []

    class Counting(MemoryStore):
        def save_many(self, receipts: Iterable[Receipt]) -> None:
            held = list(receipts)
            sizes.append(len(held))
            for each in held:
                self.save(each)

    put(full, *(a_run(run_id=f"r-{n}", extra={"x": "y" * 60_000}) for n in range(5)))
    assert copy_store(full, Counting())
    assert sizes == [2, 2, 1]


def test_a_store_is_not_copied_onto_itself(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for one, other in (
        ("memory://x", "memory://x"),
        (tmp_path / "a", tmp_path / "link"),
        (f"{tmp_path}/a", f"file://{tmp_path}/b/../a"),
    ):
        with pytest.raises(ConfigError, match="onto itself"):
            copy_store(open_store(one), open_store(other))


class At:
    def __init__(self, url: str) -> None:
        self.url = url


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("s3://b/p", "s3://b/p/", True),
        ("s3://b/p", "s3://b/q", False),
        ("s3://b/p", "delta+s3://b/p", False),
        ("postgresql://ann:***@DB/x", "postgresql+psycopg://bob@db:5432/x", True),
        ("postgresql://db/x", "postgresql://db:5433/x", False),
        ("postgresql://db/x", "postgresql://db/y", False),
        ("sqlite:///r.db", "sqlite:////r.db", False),
        ("sqlite:////srv/./r.db", "sqlite:////srv/r.db", True),
        ("jsonl:///srv/a.jsonl", "jsonl:///srv/x/../a.jsonl", True),
    ],
)
def test_two_urls_are_one_store_whoever_asks(
    one: str, other: str, same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_same_place(At(one), At(other)) is same  # type: ignore[arg-type]


def test_receipts_from_the_future_and_of_old_times_are_copied_like_others() -> None:
    full, other = MemoryStore(), MemoryStore()
    put(full, a_run(ago=-400 * DAY, run_id="late"), a_run(ago=9000 * DAY, run_id="early"))
    assert copy_store(full, other).copied == 2
