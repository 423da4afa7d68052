"""One look at a store by many gates: the same answers, for fewer questions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.questions.builders import CALC, HOUR, NOW, SEND, FourMethods, a_run, put
from ubunye_core import (
    OneLook,
    ReceiptStore,
    Requirement,
    StoreUnavailableError,
    Verdict,
    check_upstream,
)
from ubunye_core.questions.onelook import MOST_HELD, MOST_RUNS, RUNS_FOR_A_BATCH
from ubunye_core.stores import MemoryStore

MONTHS = ["2026-08", "2026-09", "2026-10", "2026-11"]


def month(text: str) -> dict[str, str]:
    return {"month": text}


def asked(look: Any, text: str, task: str = CALC, **how: Any) -> Any:
    requirement = Requirement(task, how.pop("names", ["month"]), **how)
    return check_upstream(requirement, variables=month(text), store=look, now=NOW)


def test_a_thousand_batches_of_a_task_are_one_question(store: ReceiptStore) -> None:
    put(store, *(a_run(variables=month(text)) for text in MONTHS[:2]))
    counting = FourMethods(store)
    look = OneLook(counting, {CALC: 1000})
    verdicts = [asked(look, f"m{number}").verdict for number in range(998)]
    verdicts += [asked(look, text).verdict for text in MONTHS[:2]]
    assert verdicts == [Verdict.FAIL] * 998 + [Verdict.PASS] * 2
    assert len(counting.calls) == 1


def test_one_batch_is_looked_for_as_ever_and_its_sharers_hear_the_same(
    store: ReceiptStore,
) -> None:
    put(store, a_run(variables=month("2026-09")))
    counting = FourMethods(store)
    look = OneLook(counting, {CALC: 1})
    assert [asked(look, "2026-10").verdict for _ in range(100)] == [Verdict.FAIL] * 100
    assert len(counting.calls) == 2  # those of the batch, and the newest of any


def test_a_task_with_very_many_runs_is_asked_once_for_each_batch() -> None:
    store = MemoryStore("memory://many")
    many = 2 * RUNS_FOR_A_BATCH + 1
    put(
        store,
        *(a_run(ago=n * HOUR, run_id=f"r-{n}", variables=month(f"m{n}")) for n in range(many)),
    )
    counting, too_many = FourMethods(store), dict[str, int]()
    look = OneLook(counting, {CALC: 2}, too_many=too_many)
    found = [asked(look, text) for text in (f"m{many - 1}", "2026-10") * 50]
    assert [each.verdict for each in found] == [Verdict.PASS, Verdict.FAIL] * 50
    assert len(counting.calls) == 4
    counting.calls.clear()
    assert not asked(OneLook(counting, {CALC: 2}, too_many=too_many), "2026-10")
    assert len(counting.calls) == 2  # what is known to be in vain is not tried again
    counting.calls.clear()
    assert not asked(OneLook(counting, {CALC: 3}, too_many=too_many), "2026-10")
    assert len(counting.calls) == 1  # it is worth it for more batches
    assert not too_many


def test_never_are_more_runs_read_together_than_memory_should_hold() -> None:
    class Endless(MemoryStore):
        limits: list[int | None] = []  # noqa: RUF012

        def search(self, *args: Any, limit: int | None = None, **how: Any) -> Any:
            self.limits.append(limit)
            return super().search(*args, limit=limit, **how)

    look = OneLook(Endless("memory://endless"), {CALC: 1_000_000})
    asked(look, "2026-10")
    assert Endless.limits[0] == MOST_RUNS + 1


def test_what_was_read_first_is_let_go_and_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ubunye_core.questions.onelook.MOST_HELD", 3)
    assert MOST_HELD >= 10 * MOST_RUNS
    store = MemoryStore("memory://held")
    for task in (CALC, SEND):
        put(store, *(a_run(task=task, run_id=f"r-{n}", ago=n * HOUR) for n in range(3)))
    counting = FourMethods(store)
    look = OneLook(counting, {CALC: 2, SEND: 2})
    for task in (CALC, SEND, SEND, CALC):
        assert asked(look, "2026-10", task)
    assert len(counting.calls) == 3


class Down(MemoryStore):
    """A store that answers no search, and counts what it is asked."""

    asked = 0

    def search(self, *args: Any, **how: Any) -> Any:
        self.asked += 1
        raise StoreUnavailableError("It is down.")

    def success_by_batch(self, *args: Any, **how: Any) -> Any:
        return self.search()


@pytest.mark.parametrize("batches", [1, 7])
def test_a_look_that_failed_is_failed_for_all_its_sharers_and_for_nobody_else(
    batches: int,
) -> None:
    store = Down("memory://down")
    look = OneLook(store, {CALC: batches})
    found = [asked(look, "2026-10") for _ in range(50)]
    assert {each.verdict for each in found} == {Verdict.UNKNOWN}
    assert {each.reason for each in found} == {"It is down."}
    assert store.asked == 1
    other = MemoryStore("memory://up")
    put(other, a_run())
    assert asked(OneLook(other, {CALC: batches}), "2026-10")


def test_what_is_saved_after_the_look_is_seen_by_the_next(store: ReceiptStore) -> None:
    put(store, a_run(variables=month("2026-09")))
    look = OneLook(store, {CALC: 2})
    assert not asked(look, "2026-10")
    look.save(a_run(variables=month("2026-10")))
    assert not asked(look, "2026-10")
    assert asked(OneLook(store, {CALC: 2}), "2026-10")


def test_a_pattern_is_asked_for_with_every_task_that_fits(store: ReceiptStore) -> None:
    put(store, a_run(), a_run(task=SEND))
    look = OneLook(store, {"pay/monthly/*": 9})
    assert [each.task for each in asked(look, "2026-10", "pay/monthly/*").requirements] == [
        CALC,
        SEND,
    ]
    assert not asked(look, "2026-11", "pay/monthly/*")
    assert look.url == store.url
    run = store.list_runs(CALC)[0]
    assert look.load(CALC, run.run_id) == run
    assert list(look.search()) == list(store.search())
    assert list(look.search(CALC, limit=1)) == [run]


RUNS = st.lists(
    st.tuples(
        st.sampled_from(["success", "error", "running", "skipped", "interrupted"]),
        st.sampled_from(MONTHS),
        st.sampled_from([None, "eu", "us"]),
        st.integers(-30, 200),  # hours ago: a clock may be wrong
    ),
    max_size=12,
)


@pytest.mark.slow
@given(RUNS, st.sampled_from([1, 2, 40]), st.booleans(), st.sampled_from([None, "2d"]))
def test_every_answer_is_that_of_the_store_itself(
    runs: list[tuple[str, str, str | None, int]], batches: int, fail: bool, age: str | None
) -> None:
    store = MemoryStore("memory://same")
    for number, (status, text, region, hours) in enumerate(runs):
        variables = {"month": text} if region is None else {"month": text, "region": region}
        ago = timedelta(hours=hours)
        put(store, a_run(status, ago=ago, run_id=f"r-{number}", variables=variables))
    look = OneLook(store, {CALC: batches})
    for text in MONTHS:
        for names in (["month"], None, [], {"region": "eu"}, {"month": text, "region": "eu"}):
            how = {"names": names, "on_failed": "fail" if fail else "wait", "max_age": age}
            assert asked(look, text, **how) == asked(store, text, **how)
    assert asked(look, "x", "pay/monthly/calk") == asked(store, "x", "pay/monthly/calk")
