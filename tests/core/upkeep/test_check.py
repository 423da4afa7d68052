"""``check_store``: what can be told of a store without leaving a trace in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.questions.builders import CALC, SEND, FourMethods, a_run, put
from ubunye_core import ReceiptNotFoundError, StoreUnavailableError, Verdict, open_store
from ubunye_core.stores import Finding, MemoryStore
from ubunye_core.upkeep import StoreCheck, check_store


class Examined(MemoryStore):
    """A store that finds of itself what a test says."""

    findings: tuple[Finding, ...] = (Finding(what="write", good=True, why="it may"),)

    def examine(self) -> Iterator[Finding]:
        yield from self.findings


def found(check: StoreCheck, what: str) -> Finding:
    (finding,) = (each for each in check.findings if each.what == what)
    return finding


def test_a_good_store_is_read_whole_and_counted() -> None:
    store = Examined()
    put(store, a_run(), a_run("error"), a_run("running", task=SEND))
    seen: list[tuple[str, int]] = []
    check = check_store(store, told=lambda task, receipts: seen.append((task, receipts)))
    assert check
    assert (check.tasks, check.receipts) == (2, 3)
    assert check.by_status == {"error": 1, "running": 1, "success": 1}
    assert check.reason == "All is good: 3 receipts of 2 tasks (1 error, 1 running, 1 success)."
    assert seen[0] == (CALC, 0)
    assert seen[-1] == (SEND, 3)


def test_what_a_store_finds_bad_of_itself_is_bad() -> None:
    check = check_store(MemoryStore())
    assert check.verdict is Verdict.FAIL
    assert "durability: it is gone when this process ends" in check.reason


def test_damage_is_bad_and_named_and_the_rest_is_counted() -> None:
    store = Examined()
    put(store, a_run(), a_run())
    store.put_document(CALC, "broken", b"{")
    check = check_store(store)
    assert check.verdict is Verdict.FAIL
    assert [bad.where for bad in check.unreadable] == [f"memory:///{CALC}/broken"]
    assert "1 receipt cannot be read" in check.reason
    assert check.receipts == 2


def test_a_store_of_four_methods_is_read_and_does_not_tell_whether_it_can_be_written() -> None:
    inner = MemoryStore()
    put(inner, a_run(), a_run(task=SEND))
    check = check_store(FourMethods(inner))
    assert check.verdict is Verdict.UNKNOWN
    assert (check.tasks, check.receipts) == (2, 2)
    assert "offers no 'tasks'" in found(check, "list").why
    assert (found(check, "write").good, found(check, "claim").good) == (None, None)
    assert "'examine'" in check.reason


def test_what_is_not_offered_is_no_fault() -> None:
    class WithoutClaims(FourMethods):
        examine = Examined.examine
        findings = Examined.findings

    check = check_store(WithoutClaims(MemoryStore()))
    assert check
    assert found(check, "claim").good is None


def test_a_task_or_pattern_narrows_it() -> None:
    store = Examined()
    put(store, a_run(), a_run(task=SEND))
    for named in (SEND, "pay/*/send"):
        for kind in (store, FourMethods(store)):
            check = check_store(kind, task=named)
            assert (check.tasks, check.receipts) == (1, 1)
    with pytest.raises(ReceiptNotFoundError, match="Did you mean pay/monthly/calc"):
        check_store(store, task="pay/monthly/calk")


def test_damage_that_shows_no_task_is_counted_once() -> None:
    store = Examined()
    put(store, a_run(), a_run(task=SEND))
    store.put_document(CALC, "broken", b"{")
    check = check_store(FourMethods(store))
    assert len(check.unreadable) == 1


def test_a_store_that_is_not_there_is_bad_and_no_error(tmp_path: Path) -> None:
    check = check_store(tmp_path / "gone")
    assert check.verdict is Verdict.FAIL
    assert "does not exist" in found(check, "list").why
    assert not (tmp_path / "gone").exists()


def test_a_store_that_vanishes_midway_is_bad_and_says_how_far_it_was_read() -> None:
    class Vanishing(Examined):
        def scan(self, task: str):
            if task == SEND:
                raise StoreUnavailableError("the link is down")
            return super().scan(task)

    store = Vanishing()
    put(store, a_run(), a_run(), a_run(task=SEND))
    check = check_store(store)
    assert check.verdict is Verdict.FAIL
    assert found(check, "read").why == "after 2 receipts: the link is down"
    assert check.receipts == 2


def test_a_store_that_cannot_examine_itself_now_does_not_tell() -> None:
    class Dumb(Examined):
        def examine(self) -> Iterator[Finding]:
            yield Finding(what="durability", good=True, why="it is")
            raise StoreUnavailableError("postgresql://ann:s3cret@db/x does not answer")

    check = check_store(Dumb())
    assert check.verdict is Verdict.UNKNOWN
    assert "does not answer" in check.reason
    assert "s3cret" not in repr(check)


def test_what_reading_has_told_is_not_told_again_of_writing(tmp_path: Path) -> None:
    check = check_store(f"sqlite:///{tmp_path}/none.db")
    assert "has no tables of receipts yet" in found(check, "list").why
    assert found(check, "write") == Finding(what="write", good=None, why="see 'list'")
    assert check.verdict is Verdict.FAIL


def test_it_leaves_no_trace(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, a_run(), a_run(task=SEND))
    (tmp_path / CALC / "broken.json").write_text("{")

    def all_of_it() -> dict[str, object]:
        places = sorted(tmp_path.rglob("*"))
        return {str(each): (each.stat().st_mtime_ns, each.stat().st_size) for each in places}

    before = all_of_it()
    check_store(store)
    assert all_of_it() == before
