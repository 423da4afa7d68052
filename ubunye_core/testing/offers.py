"""What a store offers beyond its four methods says what a search would say."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ubunye_core.batch import Batch
from ubunye_core.errors import ReceiptConflictError
from ubunye_core.receipt import Orchestrator, Receipt, Status, Window
from ubunye_core.runids import new_run_id
from ubunye_core.stores import Found, ReceiptStore, Success, Summaries, Summed, in_short
from ubunye_core.testing.builders import A_TASK, a_receipt, a_step, at

BATCHES: tuple[dict[str, str], ...] = (
    {"month": "2026-10"},
    {"month": "2026-10", "region": "eu"},
    {"month": "2026-10", "mode": "PROD"},
    {"month": "2026-09", "region": "eu", "mode": "DEV"},
    {"month": "***"},
    {},
)
ASKED: tuple[dict[str, str], ...] = (
    *BATCHES,
    {"region": "eu"},
    {"mode": "PROD"},
    {"month": "2026-08"},
    {"Month": "2026-10"},
)


def some_history(seed: int, runs: int = 14) -> list[Receipt]:
    """Runs of one task: their ids show their start or not, they tie, and a few say running."""
    chance = random.Random(seed)
    history = []
    for number in range(runs):
        start = at(chance.choice([number, number // 3]))
        status = chance.choice([*Status, Status.SUCCESS, Status.SUCCESS])
        attempt = Orchestrator(
            name="airflow", ids={"run": f"s-{number // 3}"}, attempt=1, max_attempts=2
        )
        history.append(
            a_receipt(
                run_id=new_run_id(start) if chance.random() < 0.7 else f"own-{seed}-{number}",
                started_at=start,
                status=status,
                variables=chance.choice(BATCHES),
                orchestrator=attempt if chance.random() < 0.5 else None,
                window=Window(start=at(0), end=at(60 + number)) if chance.random() < 0.4 else None,
            )
        )
    chance.shuffle(history)
    return history


def _told(run: Success, rows: bool) -> tuple[object, ...]:
    """What must be told of a success: which variables it has only where it has no window."""
    named = () if run.window is not None else tuple(sorted(run.named))
    return (run.order, run.ended_at, run.window, named, run.rows if rows else None)


class Offers:
    """Tests of the capabilities that a store has; one that it has not is passed over."""

    def test_the_success_of_a_batch_is_the_one_that_a_search_finds(
        self, store: ReceiptStore
    ) -> None:
        tell: Callable[..., Found | None] | None = getattr(store, "success_by_batch", None)
        if tell is None:
            return
        for receipt in some_history(1):
            store.save(receipt)
        for asked in ASKED:
            for whole in (False, True):
                found = list(store.search(A_TASK, batch=asked))
                if whole:
                    found = [run for run in found if run.batch.is_same(Batch.of(asked))]
                successes = [run for run in found if run.status is Status.SUCCESS]
                known = tell(A_TASK, asked, whole=whole)
                if known is not None:  # None sends the question to a search
                    assert successes, (asked, whole)
                    told = {run.run_id: run for run in (found[0], successes[0])}
                    assert list(known) == list(told.values()), asked
        assert tell("pay/monthly/send", {"month": "2026-10"}, whole=False) is None

    def test_a_success_of_a_batch_is_known_as_soon_as_it_is_saved(
        self, store: ReceiptStore
    ) -> None:
        tell: Callable[..., Found | None] | None = getattr(store, "success_by_batch", None)
        if tell is None:
            return
        running = a_receipt(run_id=new_run_id(at(0)), status=Status.RUNNING)
        store.save(running)
        assert tell(A_TASK, {"month": "2026-10"}, whole=True) is None
        store.save(replace(running, status=Status.SUCCESS, ended_at=at(5)))
        store.save(a_receipt(run_id="b", started_at=at(6), status=Status.RUNNING))
        known = tell(A_TASK, {"month": "2026-10"}, whole=True)
        if known is not None:
            assert [run.run_id for run in known] == ["b", running.run_id]

    @pytest.mark.parametrize("seed", range(4))
    def test_of_a_settled_task_the_newest_run_and_the_open_ones_are_told(
        self, store: ReceiptStore, seed: int
    ) -> None:
        tell: Callable[[Sequence[str]], Mapping[str, Any]] | None = getattr(store, "settled", None)
        if tell is None:
            return
        tasks = [f"pay/monthly/t{number}" for number in range(6)]
        for number, task in enumerate(tasks):
            for receipt in some_history(seed * 10 + number, runs=5):
                if number % 2:  # else nearly every task has a run that says running
                    receipt = replace(
                        receipt, status=Status.SUCCESS, ended_at=receipt.started_at, error=None
                    )
                store.save(replace(receipt, task=task))
        told = tell([*tasks, "pay/monthly/nobody"])
        assert set(told) <= set(tasks)
        for task in tasks:
            runs = store.list_runs(task, 50)
            if task not in told:
                continue
            last, newest = told[task], runs[0]
            assert last.open_runs == {run.run_id for run in runs if not run.status.is_final}, task
            assert last.status is newest.status
            assert (last.run_id, last.started_at) == (newest.run_id, newest.started_at)
            assert last.finished_at == newest.finished_at
            assert last.window_end == (None if newest.window is None else newest.window.end)
        assert set(tasks[1::2]) <= set(told)

    @pytest.mark.parametrize("rows", [False, True])
    def test_what_is_told_in_short_is_what_a_search_finds(
        self, store: ReceiptStore, rows: bool
    ) -> None:
        tell: Callable[[str, Summed], Summaries] | None = getattr(store, "summaries", None)
        if tell is None:
            return
        for seed in range(3):
            for receipt in some_history(100 + seed):
                wrote = (a_step(direction="output", row_count=seed),) if seed else ()
                ended_at = receipt.started_at + (seed % 2) * (at(2) - at(0))
                receipt = replace(receipt, outputs=wrote)
                if receipt.status.is_final:
                    receipt = replace(receipt, ended_at=ended_at if seed != 2 else None)
                store.save(receipt)
        store.save(a_receipt(task="pay/monthly/send"))
        names = {("month", "2026-10"): 1, ("region", "eu"): 2, ("month", "***"): 3}
        for since in (at(-60), at(4), at(9)):
            for until in (at(-60), at(6), at(1000)):
                asked = Summed(since=since, until=until, variables=names, rows=rows)
                found = store.search(A_TASK, since=since)
                told, expected = tell(A_TASK, asked), in_short(found, asked)
                short = {run.run_id: run for run in expected.successes}
                whole = {run.run_id: run for run in found}
                for run in told.successes:
                    assert _told(run, rows) == _told(short[run.run_id], rows)
                for other in told.others:  # a success may always be told whole
                    assert other == whole[other.run_id]
                ids = [run.run_id for run in (*told.successes, *told.others)]
                assert sorted(ids) == sorted(whole)
        nobody = tell("pay/monthly/nobody", asked)
        assert not nobody.successes
        assert not nobody.others
        assert not nobody.others.unreadable

    def test_a_run_is_told_in_short_as_soon_as_it_has_succeeded(self, store: ReceiptStore) -> None:
        tell: Callable[[str, Summed], Summaries] | None = getattr(store, "summaries", None)
        if tell is None:
            return
        asked = Summed(since=at(-60), until=at(60))
        running = a_receipt(run_id=new_run_id(at(0)), status=Status.RUNNING)
        store.save(running)
        assert list(tell(A_TASK, asked).others) == [running]
        store.save(replace(running, status=Status.SUCCESS, ended_at=at(5)))
        told = tell(A_TASK, asked)
        ends = [run.finished_at for run in (*told.successes, *told.others)]
        assert ends == [at(5)]

    def test_the_receipts_of_an_attempt_are_found(self, store: ReceiptStore) -> None:
        find: Callable[[str, Orchestrator], Found] | None = getattr(store, "of_attempt", None)
        if find is None:
            return
        history = some_history(5)
        for receipt in history:
            store.save(receipt)
        attempts = {
            run.orchestrator.scheduled_run: run.orchestrator
            for run in history
            if run.orchestrator is not None
        }
        for attempt in attempts.values():
            expected = [
                run for run in store.search(A_TASK) if attempt.is_same_attempt(run.orchestrator)
            ]
            assert list(find(A_TASK, attempt)) == expected
            assert list(find(A_TASK, replace(attempt, attempt=2))) == []
            assert list(find("pay/monthly/send", attempt)) == []

    def test_a_scan_gives_out_every_receipt_once(self, store: ReceiptStore) -> None:
        scan: Callable[[str], Iterator[Receipt]] | None = getattr(store, "scan", None)
        if scan is None:
            return
        for receipt in some_history(6):
            store.save(receipt)
        store.save(a_receipt(task="pay/monthly/send"))
        found = sorted(scan(A_TASK), key=lambda run: run.order, reverse=True)
        assert found == list(store.search(A_TASK))
        assert list(scan("pay/monthly/nobody")) == []

    def test_many_receipts_are_saved_like_one(self, store: ReceiptStore) -> None:
        save_many: Callable[[Sequence[Receipt]], None] | None = getattr(store, "save_many", None)
        if save_many is None:
            return
        history = some_history(7)
        other = a_receipt(task="pay/monthly/send", inputs=(a_step(),))
        save_many([*history, other])
        save_many([*history, other])
        save_many([])
        assert {run.run_id: run for run in store.search(A_TASK)} == {
            run.run_id: run for run in history
        }
        assert list(store.search("pay/monthly/send")) == [other]

    def test_one_of_many_that_is_refused_does_not_lose_the_others(
        self, store: ReceiptStore
    ) -> None:
        save_many: Callable[[Sequence[Receipt]], None] | None = getattr(store, "save_many", None)
        if save_many is None:
            return
        first = a_receipt(run_id="b")
        store.save(first)
        refused = a_receipt(run_id="b", status=Status.ERROR)
        with pytest.raises(ReceiptConflictError, match=r"\bb\b"):
            save_many([a_receipt(run_id="a"), refused, a_receipt(run_id="c")])
        assert [run.run_id for run in store.search(A_TASK)] == ["c", "b", "a"]
        assert store.load(A_TASK, "b") == first

    def test_what_is_removed_is_gone_and_the_rest_is_not(self, store: ReceiptStore) -> None:
        remove: Callable[[str, Sequence[str]], int] | None = getattr(store, "remove", None)
        if remove is None:
            return
        for run_id in ("a", "b", "c"):
            store.save(a_receipt(run_id=run_id))
        store.save(a_receipt(task="pay/monthly/send", run_id="b"))
        assert remove(A_TASK, ["b", "nobody"]) == 1
        assert [run.run_id for run in store.search(A_TASK)] == ["c", "a"]
        assert len(store.list_runs("pay/monthly/send")) == 1
        assert remove(A_TASK, ["a", "c"]) == 2
        tell: Callable[..., Found | None] | None = getattr(store, "success_by_batch", None)
        assert tell is None or tell(A_TASK, {"month": "2026-10"}, whole=True) is None
        assert list(store.search(A_TASK)) == []

    def test_an_examination_says_whether_it_may_be_written(self, store: ReceiptStore) -> None:
        examine: Callable[[], Iterator[Any]] | None = getattr(store, "examine", None)
        if examine is None:
            return
        store.save(a_receipt())
        findings = list(examine())
        assert all(finding.what and finding.why for finding in findings)
        assert {finding.what: finding.good for finding in findings}["write"] is True
        assert list(store.search()) == [a_receipt()]
