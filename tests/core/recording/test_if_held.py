"""What a run does whose batch another run holds: fail, skip, or wait."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ubunye_core import (
    ConfigError,
    Receipt,
    RunAnswer,
    RunRefusedError,
    RunSkippedError,
    Status,
    Verdict,
    claim,
    open_store,
    record_run,
)
from ubunye_core.questions.guard import key_of
from ubunye_core.questions.waitclaim import wait_for_claim
from ubunye_core.stores import Claim, Held, ReceiptStore

CALC = "pay/monthly/calc"
OCTOBER = {"month": "2026-10"}
SHORTLY = timedelta(seconds=0.05)
NOON = datetime(2026, 10, 15, 12, tzinfo=UTC)


@pytest.fixture(params=["memory", "files", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ReceiptStore:
    (tmp_path / "receipts").mkdir()
    urls = {
        "memory": f"memory://{uuid.uuid4()}",
        "files": str(tmp_path / "receipts"),
        "sqlite": f"sqlite:///{tmp_path}/receipts.db",
    }
    return open_store(urls[request.param])


def guarded(store: ReceiptStore, **changes: object):
    return record_run(CALC, variables=OCTOBER, store=store, guard=True, **changes)  # type: ignore[arg-type]


def hold(store: ReceiptStore) -> Claim:
    taken = claim(CALC, OCTOBER, run_id="holder", store=store, rerun=True)
    assert isinstance(taken, Claim)
    return taken


def only(store: ReceiptStore) -> Receipt:
    (found,) = store.list_runs(CALC)
    return found


def recorded(store: ReceiptStore, count: int) -> None:
    """Wait until so many runs are on record."""
    for _ in range(6_000):
        if len(store.list_runs(CALC)) >= count:
            return
        threading.Event().wait(0.01)
    raise AssertionError("a run that waits is not on record")


def test_a_run_that_skips_is_refused_by_an_error_of_its_own(store: ReceiptStore) -> None:
    hold(store)
    with pytest.raises(RunSkippedError, match="holder"), guarded(store, if_held="skip"):
        raise AssertionError("two runs of one batch")
    assert (only(store).status, only(store).outcome) == (Status.SKIPPED, "refused")
    assert "is being run" in str(only(store).error)


def test_a_block_is_passed_by_quietly_where_the_error_is_suppressed(store: ReceiptStore) -> None:
    hold(store)
    ran = []
    with contextlib.suppress(RunSkippedError), guarded(store, if_held="skip"):
        ran.append("the block")
    assert ran == []


def test_a_call_that_skips_returns_nothing(store: ReceiptStore) -> None:
    hold(store)

    @guarded(store, if_held="skip")
    def plain() -> str:
        return "ran"

    @guarded(store, if_held="skip")
    def items() -> Iterator[int]:
        yield 1

    @guarded(store, if_held="skip")
    async def work() -> str:
        return "ran"

    @guarded(store, if_held="skip")
    async def stream() -> AsyncIterator[int]:
        yield 1

    async def every() -> list[int]:
        return [item async for item in stream()]

    assert plain() is None
    assert list(items()) == []
    assert asyncio.run(work()) is None
    assert asyncio.run(every()) == []
    assert [run.outcome for run in store.list_runs(CALC)] == ["refused"] * 4


def test_a_call_that_skips_ran_before_and_runs_after(store: ReceiptStore) -> None:
    @guarded(store, if_held="skip", rerun=True)
    def plain() -> str:
        return "ran"

    assert plain() == "ran"
    held = hold(store)
    assert plain() is None
    store.release(held)  # type: ignore[attr-defined]
    assert plain() == "ran"


def test_the_skip_of_a_run_inside_a_call_is_no_skip_of_the_call(store: ReceiptStore) -> None:
    hold(store)

    @record_run("pay/monthly/outer", store=store, guard=True, if_held="skip")
    def outer() -> None:
        with guarded(store, if_held="skip"):
            raise AssertionError("two runs of one batch")

    with pytest.raises(RunSkippedError):
        outer()


def test_a_run_that_a_refusal_of_another_ends_has_failed(store: ReceiptStore) -> None:
    hold(store)
    with (
        pytest.raises(RunRefusedError),
        record_run("pay/monthly/outer", store=store),
        guarded(store),
    ):
        raise AssertionError("two runs of one batch")
    (outer,) = store.list_runs("pay/monthly/outer")
    assert (outer.status, outer.outcome) == (Status.ERROR, None)


def test_only_what_is_held_is_skipped(store: ReceiptStore) -> None:
    with guarded(store):
        pass
    with pytest.raises(RunRefusedError, match="has finished") as refused:
        guarded(store, if_held="skip").__enter__()
    assert not isinstance(refused.value, RunSkippedError)


def test_what_cannot_be_told_is_not_skipped(tmp_path: Path) -> None:
    (tmp_path / CALC).mkdir(parents=True)
    (tmp_path / CALC / "damaged.json").write_text("{")
    store = open_store(tmp_path)
    with pytest.raises(RunRefusedError) as refused:
        guarded(store, if_held="skip").__enter__()
    assert refused.value.answer.verdict is Verdict.UNKNOWN
    assert not isinstance(refused.value, RunSkippedError)


def test_a_run_that_waits_begins_when_the_batch_is_free(store: ReceiptStore) -> None:
    held, begun = hold(store), threading.Event()

    def wait() -> None:
        with guarded(store, if_held="wait", wait="60s", poll=SHORTLY):
            begun.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    recorded(store, 1)  # before it waits
    assert not begun.is_set()
    store.release(held)  # type: ignore[attr-defined]
    waiting.join(timeout=60)
    assert begun.is_set()
    assert only(store).status is Status.SUCCESS
    assert [timing.step for timing in only(store).timings] == ["wait for the claim"]


def test_runs_that_wait_for_each_other_run_one_after_the_other(store: ReceiptStore) -> None:
    inside, together = threading.Semaphore(1), list[str]()

    def run(number: int) -> None:
        words = {"if_held": "wait", "wait": "120s", "poll": SHORTLY, "rerun": True}
        with guarded(store, **words) as run:
            if not inside.acquire(blocking=False):
                together.append(run.run_id)
                return
            threading.Event().wait(0.02)
            inside.release()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))
    assert together == []
    assert len(store.search(CALC, Status.SUCCESS)) == 4


def test_a_batch_that_was_finished_meanwhile_is_refused(store: ReceiptStore) -> None:
    refused: list[str] = []

    def wait() -> None:
        try:
            with guarded(store, if_held="wait", wait="60s", poll=SHORTLY):
                refused.append("it ran")
        except RunRefusedError as error:
            refused.append(error.answer.reason)

    waiting = threading.Thread(target=wait)
    with guarded(store) as first:
        waiting.start()
        recorded(store, 2)
    waiting.join(timeout=60)
    (why,) = refused
    assert f"has finished for month=2026-10: run {first.run_id}" in why


def test_a_wait_ends_at_its_deadline(store: ReceiptStore) -> None:
    hold(store)
    with (
        pytest.raises(RunRefusedError, match=r"by run holder.*Waited .*, until "),
        guarded(store, if_held="wait", deadline="2026-10-15T06:00:00Z"),
    ):
        raise AssertionError("two runs of one batch")
    assert only(store).outcome == "refused"


@pytest.mark.parametrize("words", [{"wait": "1h"}, {"deadline": NOON}, {"poll": "1s"}])
def test_who_says_how_to_wait_must_wait(store: ReceiptStore, words: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="if_held='wait'"):
        guarded(store, **words)


@pytest.mark.parametrize(
    "words",
    [
        {"if_held": "queue"}, {"if_held": "wait", "poll": "0s"}, {"wait": "soon"},
        {"lease": "0s"}, {"rerun": "no"}, {"ordered": "no"},
    ],
)  # fmt: skip
def test_a_wrong_word_is_refused_before_anything_runs(
    store: ReceiptStore, words: dict[str, object]
) -> None:
    with pytest.raises(ConfigError):
        guarded(store, **words)


@pytest.mark.parametrize("words", [{"if_held": "skip"}, {"ordered": True}, {"wait": "1h"}])
def test_what_says_how_to_guard_is_said_only_of_a_guard(words: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="guard=True"):
        record_run(CALC, **words)  # type: ignore[arg-type]


def test_a_word_that_nobody_knows_is_no_argument() -> None:
    with pytest.raises(TypeError, match="'patience'"):
        record_run(CALC, guard=True, patience="1h")  # type: ignore[call-arg]


class Clock:
    """A clock that only sleep moves on."""

    def __init__(self) -> None:
        self.now, self.slept = NOON, list[float]()

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)


def answer(**changes: object) -> RunAnswer:
    key = key_of(CALC, OCTOBER)
    held = Held(key=key, run_id="holder", token=1, until=NOON)
    given = {"holder": held, "verdict": Verdict.FAIL, "reason": "It is held.", **changes}
    return RunAnswer(task=CALC, key=key, now=NOON, **given)  # type: ignore[arg-type]


def waited(*answers: object, until: timedelta) -> tuple[object, list[float]]:
    clock, coming = Clock(), list(answers)
    found = wait_for_claim(
        lambda: coming.pop(0) if len(coming) > 1 else coming[0],  # type: ignore[arg-type, return-value]
        until=NOON + until, clock=clock, sleep=clock.sleep,
    )  # fmt: skip
    return found, clock.slept


def test_the_last_look_is_at_the_deadline() -> None:
    found, slept = waited(answer(), until=timedelta(seconds=150))
    assert slept == [60, 60, 30]
    assert isinstance(found, RunAnswer)
    assert found.reason == "It is held. Waited 2m 30s, until 2026-10-15T12:02:30Z."


def test_a_store_that_cannot_answer_is_asked_again() -> None:
    down = answer(holder=None, verdict=Verdict.UNKNOWN, retryable=True)
    won = Claim(key=key_of(CALC, OCTOBER), run_id="r", token=2, lease=timedelta(minutes=1))
    assert waited(down, answer(), won, until=timedelta(hours=1)) == (won, [60, 60])


def test_what_the_rules_refuse_is_not_waited_for() -> None:
    finished = answer(holder=None, finished_by="r-1")
    damaged = answer(holder=None, verdict=Verdict.UNKNOWN)
    for each in (finished, damaged):
        assert waited(each, until=timedelta(hours=1)) == (each, [])
