"""One look at the runs of tasks, which several questions share."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.core.questions.builders import CALC, DAY, HOUR, NOW, SEND, FourMethods, a_run, put
from ubunye_core import ReceiptStore, Status
from ubunye_core.questions.sharedlook import SharedLook

WEEK = 7 * DAY


def looked(store: ReceiptStore) -> SharedLook:
    return SharedLook(store, {CALC: NOW - WEEK})


@pytest.mark.parametrize("more", [1, 44, 60])
def test_it_answers_as_the_store_does(store: ReceiptStore, more: int) -> None:
    put(store, *(a_run(ago=4 * DAY + n * HOUR, run_id=f"m-{n}") for n in range(more)))
    put(
        store, *(a_run(ago=n * HOUR, run_id=f"r-{n}") for n in range(1, 6)),
        a_run("error", ago=3 * DAY, run_id="e-1"), a_run(ago=8 * DAY, run_id="old"),
        a_run(task=SEND, run_id="s-1"),
    )  # fmt: skip
    look = looked(store)
    asked = [
        {}, {"status": Status.ERROR}, {"limit": 2}, {"since": NOW - 2 * HOUR},
        {"since": NOW - WEEK, "status": Status.ERROR}, {"since": NOW - WEEK, "limit": 3},
        {"since": NOW - 9 * DAY}, {"since": NOW - WEEK, "batch": {"month": "2026-09"}},
    ]  # fmt: skip
    for task in (CALC, SEND, None):
        for each in asked:
            assert list(look.search(task, **each)) == list(store.search(task, **each))  # type: ignore[arg-type]
    for n in (1, 5, 6, 7, 8, 50):
        assert list(look.list_runs(CALC, n)) == list(store.list_runs(CALC, n))
    assert list(look.list_runs(SEND)) == list(store.list_runs(SEND))
    assert look.load(CALC, "old") == store.load(CALC, "old")
    assert look.url == store.url


def test_what_comes_in_after_the_look_is_not_seen_in_any_part(store: ReceiptStore) -> None:
    put(store, a_run(ago=DAY, run_id="r-1"), a_run(ago=9 * DAY, run_id="old"))
    look = looked(store)
    assert [run.run_id for run in look.search(CALC, since=NOW - WEEK)] == ["r-1"]
    look.save(a_run("error", ago=HOUR, run_id="new"))
    assert [run.run_id for run in look.search(CALC, since=NOW - DAY)] == ["r-1"]
    assert [run.run_id for run in look.list_runs(CALC)] == ["r-1", "old"]
    assert [run.run_id for run in looked(store).list_runs(CALC)] == ["new", "r-1", "old"]


def test_the_store_is_asked_once_for_few_runs_and_twice_for_many(store: ReceiptStore) -> None:
    minute = timedelta(minutes=1)
    put(store, *(a_run(ago=n * minute, run_id=f"r-{n}") for n in range(5)))
    counting = FourMethods(store)

    def ask(look: SharedLook, runs: int) -> None:
        counting.calls.clear()
        for _ in range(3):
            assert len(look.search(CALC, since=NOW - DAY)) == runs
            assert len(look.list_runs(CALC, 5)) == 5

    ask(looked(counting), 5)  # type: ignore[arg-type]
    assert counting.calls == ["list_runs 50"]
    put(store, *(a_run(ago=8 * DAY + n * minute, run_id=f"o-{n}") for n in range(60)))
    ask(looked(counting), 5)  # type: ignore[arg-type]
    assert counting.calls == ["list_runs 50"]
    put(store, *(a_run(ago=n * minute, run_id=f"n-{n}") for n in range(60)))
    ask(looked(counting), 65)  # type: ignore[arg-type]
    assert counting.calls == ["list_runs 50", "search any"]


def test_it_offers_what_the_store_offers_but_what_it_tells_itself(store: ReceiptStore) -> None:
    put(store, a_run())
    assert looked(store).tasks() == [CALC]
    assert not hasattr(looked(store), "summaries")
    assert not hasattr(looked(FourMethods(store)), "tasks")  # type: ignore[arg-type]


@pytest.mark.parametrize("more", [1, 49, 60])
@pytest.mark.parametrize("run_id", ["broken", "00000000-0000-7000-8000-000000000000"])
def test_damage_is_told_as_the_store_tells_it(files: ReceiptStore, run_id: str, more: int) -> None:
    put(files, *(a_run(ago=n * HOUR, run_id=f"m-{n}") for n in range(more)))
    put(files, a_run(), a_run(ago=9 * DAY))
    (files.root / CALC / f"{run_id}.json").write_text("{")  # type: ignore[attr-defined]
    look = looked(files)
    for n in (1, 2, 9):
        assert look.list_runs(CALC, n).unreadable == files.list_runs(CALC, n).unreadable
    for since in (NOW - DAY, NOW - 9 * DAY, None):
        mine, its = (each.search(CALC, since=since).unreadable for each in (look, files))
        assert mine == its
