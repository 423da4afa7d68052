"""Gates in one triggerer look together: one question a task, and never at what was seen before."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
import weakref
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.airflow.conftest import CALC, a_receipt
from tests.airflow.sharing import Counting, Triggerer, a_gate, count
from ubunye_airflow.gate import Gate, Look, Outcome
from ubunye_airflow.shared_looks import SHORTEST_PAUSE, THREADS, Looks, looks_of_this_loop
from ubunye_airflow.shares import apart
from ubunye_core import ReceiptStore, StoreUnavailableError, open_store

TAX = "pay/monthly/tax"


def looked(*gates: Gate) -> list[Look | BaseException]:
    async def look() -> list[Look | BaseException]:
        looks = looks_of_this_loop()
        return await asyncio.gather(*map(looks.look, gates), return_exceptions=True)

    return asyncio.run(look())


def the_threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name.startswith("ubunye-gates")]


def outcomes(found: list[Look | BaseException]) -> list[Outcome]:
    return [each.outcome for each in found if isinstance(each, Look)]


@pytest.mark.parametrize("name", ["files", "sqlite"])
def test_gates_on_a_task_are_answered_by_one_question_each_for_its_own_batch(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "receipts").mkdir()
    url = f"sqlite:///{tmp_path}/r.db" if name == "sqlite" else (tmp_path / "receipts").as_uri()
    store, opened = open_store(url), count(monkeypatch)
    for number in range(3):
        store.save(a_receipt(f"run-{number}", month=f"m{number}"))
    found = looked(*(a_gate({"month": f"m{number}"}, url) for number in range(60)))
    assert outcomes(found) == [Outcome.OPEN] * 3 + [Outcome.WAIT] * 57
    assert [sum(each.asked.values()) for each in opened[url]] == [1]


def test_tasks_are_asked_for_once_also_by_gates_that_require_several(
    store: ReceiptStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = count(monkeypatch)
    for task in (CALC, TAX):
        store.save(a_receipt(task=task))
    months = [{"month": f"2026-{month:02}"} for month in range(1, 13)]
    both = [{"task": CALC, "wait": "1h"}, {"task": TAX, "wait": "1h"}]
    gates = [a_gate(month, store_url, task=task) for month in months for task in (CALC, TAX)]
    gates += [a_gate(month, store_url, requires=both) for month in months]
    gates += [a_gate(month, store_url, task="pay/monthly/*") for month in months]
    assert outcomes(looked(*gates)).count(Outcome.OPEN) == 4
    asked = sum((each.asked for each in opened[store_url]), start=Counter[str]())
    assert asked == {"search": 2, "tasks": 1}


class Held(Counting):
    """A store that holds its next answer back."""

    def __init__(self, store: ReceiptStore) -> None:
        super().__init__(store)
        self.reading, self.go_on = threading.Event(), threading.Event()

    def search(self, *args: Any, **how: Any) -> Any:
        found = super().search(*args, **how)
        self.reading.set()
        assert self.go_on.wait(60)
        return found


def test_a_gate_is_never_answered_from_what_was_seen_before_it_asked(
    store: ReceiptStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(a_receipt(month="2026-09"))
    held = Held(store)
    monkeypatch.setattr("ubunye_airflow.shared_looks.open_store", lambda url, *, credentials: held)

    async def race() -> list[Outcome]:
        looks = looks_of_this_loop()
        months = ({"month": "2026-10"}, {"month": "2026-11"})
        early = [asyncio.create_task(looks.look(a_gate(month, store_url))) for month in months]
        await asyncio.to_thread(held.reading.wait, 60)
        store.save(a_receipt("run-2", month="2026-10"))
        late = asyncio.create_task(looks.look(a_gate(months[0], store_url)))
        await asyncio.sleep(0.2)
        held.go_on.set()
        return [(await each).outcome for each in (*early, late)]

    assert asyncio.run(race()) == [Outcome.WAIT, Outcome.WAIT, Outcome.OPEN]


def test_a_look_that_failed_has_failed_for_its_sharers_and_the_next_is_a_new_one(
    store: ReceiptStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(a_receipt())

    class DownAtFirst(Counting):
        def search(self, *args: Any, **how: Any) -> Any:
            self.asked["search"] += 1
            if self.asked["search"] == 1:
                raise StoreUnavailableError("It is down.")
            return self.store.search(*args, **how)

    down = DownAtFirst(store)
    monkeypatch.setattr("ubunye_airflow.shared_looks.open_store", lambda url, *, credentials: down)
    months = [{"month": "2026-10"}, *({"month": f"m{number}"} for number in range(29))]

    async def twice() -> list[list[Look]]:
        looks = looks_of_this_loop()
        gates = [a_gate(month, store_url) for month in months]
        return [await asyncio.gather(*map(looks.look, gates)) for _ in range(2)]

    first, second = asyncio.run(twice())
    assert {(each.outcome, each.message) for each in first} == {(Outcome.WAIT, "It is down.")}
    assert outcomes([*second]) == [Outcome.OPEN] + [Outcome.WAIT] * 29
    assert down.asked["search"] == 2


def test_different_connections_never_share(
    store: ReceiptStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(a_receipt())
    opened = count(monkeypatch)
    connection = json.dumps({"conn_type": "ubunye_receipts", "host": store_url})
    for name in ("ONE", "OTHER"):
        monkeypatch.setenv(f"AIRFLOW_CONN_{name}", connection)
    month = {"month": "2026-10"}
    by = [a_gate(month, None, store_conn_id=name) for name in ("one", "other", "one")]
    assert outcomes(looked(*by, a_gate(month, store_url))) == [Outcome.OPEN] * 4
    assert len(opened[store_url]) == 3
    assert [sum(each.asked.values()) for each in opened[store_url]] == [1, 1, 1]


def test_a_connection_that_was_changed_is_used_from_the_next_look_on(
    store: ReceiptStore, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    other = open_store(str(tmp_path / "other"))
    store.save(a_receipt(month="2026-09"))
    other.save(a_receipt())

    async def look_twice() -> list[Outcome]:
        looks, found = looks_of_this_loop(), []
        gate = a_gate({"month": "2026-10"}, None, store_conn_id="mine")
        for url in (store_url, other.url):
            connection = {"conn_type": "ubunye_receipts", "host": url}
            monkeypatch.setenv("AIRFLOW_CONN_MINE", json.dumps(connection))
            found.append((await looks.look(gate)).outcome)
        return found

    assert asyncio.run(look_twice()) == [Outcome.WAIT, Outcome.OPEN]


def test_what_is_wrong_is_said_to_every_gate_and_what_is_only_away_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, airflow_db: None
) -> None:
    month = {"month": "2026-10"}
    found = looked(*(a_gate(month, None, store_conn_id="nobodys") for _ in range(3)))
    assert outcomes(found) == [Outcome.REFUSED] * 3
    assert {str(each.message) for each in found if isinstance(each, Look)} == {
        "The Airflow connection 'nobodys' does not exist. Make it, of type ubunye_receipts, with "
        "the store's URL as its host."
    }
    missing = str(tmp_path / "missing")
    assert outcomes(looked(*(a_gate(month, missing) for _ in range(3)))) == [Outcome.WAIT] * 3

    def cut(*args: object) -> Any:
        raise ConnectionError("hunter2")

    monkeypatch.setattr("ubunye_airflow.hooks.ReceiptStoreHook.get_connection", cut)
    (away,) = looked(a_gate(month, None, store_conn_id="mine"))
    assert isinstance(away, Look)
    assert away.outcome is Outcome.WAIT
    assert away.message == (
        "The Airflow connection 'mine' cannot be looked up now (ConnectionError)."
    )


def test_a_fault_in_one_gates_question_is_its_own(store: ReceiptStore, store_url: str) -> None:
    store.save(a_receipt())
    torn = a_gate({"month": "2026-11"}, store_url)
    object.__setattr__(torn, "since", None)
    good = [a_gate({"month": "2026-10"}, store_url) for _ in range(2)]
    first, *others = looked(torn, *good)
    assert isinstance(first, TypeError)
    assert outcomes(others) == [Outcome.OPEN] * 2


def test_a_trigger_that_is_cancelled_takes_nobody_with_it(
    store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt())
    gates = [a_gate({"month": "2026-10"}, store_url) for _ in range(2)]

    async def cancel_the_first() -> Look:
        looks = looks_of_this_loop()
        first, second = (asyncio.create_task(looks.look(gate)) for gate in gates)
        await asyncio.sleep(0.01)
        first.cancel()
        return await asyncio.wait_for(second, 60)

    assert asyncio.run(cancel_the_first()).outcome is Outcome.OPEN


def test_a_store_that_hangs_holds_up_no_other_and_threads_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    class Hangs(Counting):
        def search(self, *args: Any, **how: Any) -> Any:
            assert go_on.wait(60)
            return super().search(*args, **how)

    def opened(url: str, *, credentials: object) -> ReceiptStore:
        found = open_store(url)
        return Hangs(found) if url.endswith("slow") else found

    monkeypatch.setattr("ubunye_airflow.shared_looks.open_store", opened)
    for number in range(40):
        (tmp_path / f"s{number}").mkdir()
    (tmp_path / "slow").mkdir()
    month = {"month": "2026-10"}

    async def race() -> int:
        looks = looks_of_this_loop()
        tasks = [f"pay/monthly/t{number}" for number in range(20)]
        hang = [
            asyncio.create_task(looks.look(a_gate(month, str(tmp_path / "slow"), task=task)))
            for task in tasks
        ]
        await asyncio.sleep(0.3)
        good = [looks.look(a_gate(month, str(tmp_path / f"s{number}"))) for number in range(40)]
        await asyncio.wait_for(asyncio.gather(*good), 60)
        assert not any(each.done() for each in hang)
        go_on.set()
        await asyncio.gather(*hang)
        return len(the_threads())

    assert 0 < asyncio.run(race()) <= THREADS


def test_a_store_that_nobody_asks_any_more_is_let_go(
    store: ReceiptStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ubunye_airflow.shared_looks.IDLE", 0.2)
    store.save(a_receipt())

    async def look_and_rest() -> list[int]:
        looks = looks_of_this_loop()
        await looks.look(a_gate({"month": "2026-10"}, store_url))
        held = [len(looks._of_stores)]
        until = time.monotonic() + 60
        while looks._of_stores and time.monotonic() < until:
            await asyncio.sleep(0.05)
        return [*held, len(looks._of_stores)]

    assert asyncio.run(look_and_rest()) == [1, 0]


@pytest.mark.slow
def test_loops_that_come_and_go_leave_no_more_threads_and_no_open_store(
    store: ReceiptStore, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(a_receipt())
    opened = count(monkeypatch)
    for _ in range(THREADS + 4):
        assert outcomes(looked(a_gate({"month": "2026-10"}, store_url))) == [Outcome.OPEN]
    gc.collect()
    assert len(the_threads()) <= THREADS
    held = [weakref.ref(each) for each in opened.pop(store_url)]
    gc.collect()
    assert sum(each() is not None for each in held) <= THREADS  # threads know their last loop


@given(
    st.floats(0.5, 7200),
    st.floats(0.01, 7200),
    st.floats(1.8e9, 1.9e9),
    st.floats(0, 86_400),
)
def test_gates_look_at_the_same_instants_and_none_later_than_it_would_alone(
    every: float, left: float, now: float, offset: float
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ubunye_airflow.shared_looks.time.time", lambda: now)
        looks = Looks()
        looks._offset = offset
        gate = a_gate({}, "memory://x")
        own = min(every, left)
        seen = Look(
            outcome=Outcome.WAIT,
            message="",
            pause=timedelta(seconds=own),
            every=timedelta(seconds=every),
        )
        pause = looks.pause(gate, seen)
        assert SHORTEST_PAUSE <= pause <= max(own, SHORTEST_PAUSE) + 1e-3
        if own > SHORTEST_PAUSE and SHORTEST_PAUSE < pause < own - 1e-3:
            patch.setattr("ubunye_airflow.shared_looks.time.time", lambda: now + pause + 1e-4)
            again = looks.pause(gate, Look(**{**vars(seen), "pause": timedelta(days=1)}))
            assert again == pytest.approx(every, abs=0.01)


TASKS = st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=3)


@given(st.lists(TASKS, max_size=20))
def test_shares_have_no_task_in_common_and_nobody_is_lost(asked: list[set[str]]) -> None:
    numbered = list(enumerate(asked))
    shares = apart(numbered, lambda each: sorted(each[1]))
    assert sorted(number for share in shares for number, _ in share) == list(range(len(asked)))
    tasks = [set().union(*(names for _, names in share)) for share in shares]
    assert sum(map(len, tasks)) == len(set().union(*tasks))
    assert [len(share) for share in shares] == sorted(map(len, shares), reverse=True)


def test_beside_a_pattern_all_are_one_share() -> None:
    assert apart([["a/b/c"], ["x/y/*"]], lambda each: each) == [[["a/b/c"], ["x/y/*"]]]
    assert apart([["a/b/c"], ["x/y/z"]], lambda each: each) == [[["a/b/c"]], [["x/y/z"]]]
    assert apart([], lambda each: each) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_thousand_gates_in_one_triggerer_are_one_question_a_poll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/receipts.db"
    store, opened = open_store(url), count(monkeypatch)
    store.save(a_receipt("first", month="2026-09"))
    gates = {number: a_gate({"customer": number}, url, poll=2.0) for number in range(1000)}
    triggerer = Triggerer(gates)

    def succeed() -> None:
        many = [a_receipt(f"run-{number}", variables={"customer": str(number)}) for number in gates]
        store.save_many(many)  # type: ignore[attr-defined]

    later = threading.Timer(8.0, succeed)
    before, began = threading.active_count(), time.monotonic()
    later.start()
    asyncio.run(triggerer.arun())
    took = time.monotonic() - began
    later.join()
    pins = {number: seen["answer"]["pins"] for number, seen in triggerer.seen.items()}
    pinned = {number: found[0]["run_id"] for number, found in pins.items()}
    assert pinned == {number: f"run-{number}" for number in gates}
    (counting,) = opened[url]
    assert counting.asked["search"] == sum(counting.asked.values())
    assert 3 <= counting.asked["search"] <= took / SHORTEST_PAUSE + 2
    assert triggerer.most_threads - before <= THREADS
