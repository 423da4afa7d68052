"""What every store owes those who write at the same time, and those who write nonsense."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from ubunye_core.errors import InvalidNameError, ReceiptConflictError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores import ReceiptStore
from ubunye_core.testing.builders import A_TASK, a_receipt, a_step, at
from ubunye_core.testing.handles import Handles

HOSTILE_SEGMENTS = [
    "", ".", "..", "../x", "a/b", "/etc", "a\\b", "-rf", ".hidden", "a\0b", "a\nb", "a b", "a\n",
    "x" * 129, "x" * 10_000, "pаy", "calc\u200b", "ｐay", "é", "a;b", "a'b", "%2e%2e", "*", "a?",
]  # fmt: skip
"""None of these may name anything. Some look like ``pay`` and hold other letters."""
WRITERS = 8


class Writes(Handles):
    """Tests of writers that meet, and of names that must not reach a place."""

    def test_another_handle_sees_a_save_at_once(self, store: ReceiptStore) -> None:
        other = self.reopened(store)
        store.save(a_receipt(status=Status.RUNNING))
        assert other.load(A_TASK, "run-1").status is Status.RUNNING
        assert len(other.search(A_TASK, Status.SUCCESS)) == 0
        store.save(a_receipt())
        assert other.load(A_TASK, "run-1").status is Status.SUCCESS
        assert other.list_runs(A_TASK)[0].status is Status.SUCCESS
        assert len(other.search(A_TASK, Status.SUCCESS)) == 1
        assert len(other.search(A_TASK, Status.RUNNING)) == 0

    def test_another_handle_keeps_the_rules_about_ends(self, store: ReceiptStore) -> None:
        store.save(a_receipt())
        with pytest.raises(ReceiptConflictError):
            self.reopened(store).save(a_receipt(status=Status.ERROR))

    def test_writers_at_the_same_time_lose_nothing(self, store: ReceiptStore) -> None:
        handles = [store, *(self.reopened(store) for _ in range(WRITERS - 1))]
        ready = threading.Barrier(WRITERS)

        def write(number: int) -> None:
            ready.wait()
            for run in range(5):
                receipt = a_receipt(run_id=f"w{number}-{run}", status=Status.RUNNING)
                handles[number].save(receipt)
                handles[number].save(replace(receipt, status=Status.SUCCESS, ended_at=at(9)))

        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(write, range(WRITERS)))
        assert len(store.search(A_TASK, Status.SUCCESS)) == WRITERS * 5
        assert store.search(A_TASK).unreadable == ()

    def test_one_of_several_ends_at_the_same_time_wins(self, store: ReceiptStore) -> None:
        handles = [store, *(self.reopened(store) for _ in range(WRITERS - 1))]
        for round_ in range(5):
            ready, conflicts = threading.Barrier(WRITERS), []
            store.save(a_receipt(run_id=f"r{round_}", status=Status.RUNNING))

            def end(
                number: int, ready: threading.Barrier = ready, run_id: str = f"r{round_}"
            ) -> bool:
                status = Status.SUCCESS if number % 2 else Status.ERROR
                ready.wait()
                try:
                    handles[number].save(a_receipt(run_id=run_id, status=status, pid=number))
                except ReceiptConflictError:
                    return False
                return True

            with ThreadPoolExecutor(WRITERS) as pool:
                conflicts = list(pool.map(end, range(WRITERS)))
            stands = store.load(A_TASK, f"r{round_}")
            winners = [number for number, won in enumerate(conflicts) if won]
            assert {number % 2 for number in winners} == {int(stands.status is Status.SUCCESS)}
            assert stands.pid in winners

    def test_a_reader_never_misses_a_run_that_is_being_written(self, store: ReceiptStore) -> None:
        other, done = self.reopened(store), threading.Event()
        receipt = a_receipt(status=Status.RUNNING, inputs=tuple(_many_steps(200)))
        store.save(receipt)

        def rewrite() -> None:
            for minutes in range(40):
                store.save(replace(receipt, heartbeat_at=at(minutes)))
            done.set()

        writer = threading.Thread(target=rewrite)
        writer.start()
        while not done.is_set():
            found = other.search(A_TASK)
            assert (len(found), found.unreadable) == (1, ())
            assert len(found[0].inputs) == 200
        writer.join()

    @pytest.mark.parametrize("name", HOSTILE_SEGMENTS, ids=lambda name: ascii(name)[:20])
    def test_a_hostile_name_is_refused_before_it_touches_a_place(
        self, store: ReceiptStore, name: str
    ) -> None:
        store.save(a_receipt())
        for task in (f"{name}/monthly/calc", f"pay/{name}/calc", f"pay/monthly/{name}", name):
            for ask in (store.list_runs, store.search):
                with pytest.raises(InvalidNameError):
                    ask(task)
            with pytest.raises(InvalidNameError):
                store.load(task, "run-1")
            with pytest.raises(InvalidNameError):
                store.save(_forged(task=task))
        with pytest.raises(InvalidNameError):
            store.load(A_TASK, name)
        with pytest.raises(InvalidNameError):
            store.save(_forged(run_id=name))
        assert list(store.search()) == [a_receipt()]
        assert store.search().unreadable == ()

    def test_the_longest_name_allowed_is_kept(self, store: ReceiptStore) -> None:
        task, run_id = f"a/b/{'c' * 124}", "r" * 128
        store.save(a_receipt(task=task, run_id=run_id))
        assert store.load(task, run_id).run_id == run_id


def _many_steps(count: int) -> list[object]:
    return [a_step(name=f"part-{number}") for number in range(count)]


def _forged(**changes: str) -> Receipt:
    """A receipt that got around its own check of names."""
    receipt = a_receipt()
    for name, text in changes.items():
        object.__setattr__(receipt, name, text)
    return receipt
