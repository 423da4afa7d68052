"""A run that must have its batch to itself."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ubunye_core import ConfigError, Schedule, Status, Verdict, open_store, record_run
from ubunye_core.errors import ClaimLostError
from ubunye_core.questions.guard import RunAnswer, RunRefusedError, claim, may_run
from ubunye_core.stores import Claim, FileStore, ReceiptStore
from ubunye_core.testing import a_receipt, at

CALC = "pay/monthly/calc"
OCTOBER = {"month": "2026-10"}


@pytest.fixture(params=["memory", "files", "sqlite", "ledger"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ReceiptStore:
    (tmp_path / "receipts").mkdir()
    urls = {
        "memory": f"memory://{uuid.uuid4()}",
        "files": str(tmp_path / "receipts"),
        "sqlite": f"sqlite:///{tmp_path}/receipts.db",
        "ledger": f"jsonl://{tmp_path}/ledger.jsonl",
    }
    return open_store(urls[request.param])


def guarded(store: ReceiptStore, **changes: object):
    return record_run(CALC, variables=OCTOBER, store=store, guard=True, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("guard", ["no", "false", 1])
def test_a_guard_is_true_or_false_and_no_word_for_it(guard: object) -> None:
    with pytest.raises(ConfigError, match="not true or false"):
        record_run(CALC, store="memory://guards", guard=guard)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [{"rerun": True}, {"lease": "5m"}])
def test_who_says_how_to_guard_must_guard(store: ReceiptStore, words: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="guard=True"):
        record_run(CALC, variables=OCTOBER, store=store, **words)  # type: ignore[arg-type]


def test_a_run_has_its_batch_to_itself(store: ReceiptStore) -> None:
    with guarded(store) as run:
        answer = may_run(CALC, OCTOBER, store=store)
        assert answer.verdict is Verdict.FAIL
        assert answer.holder is not None
        assert answer.holder.run_id == run.run_id
        with pytest.raises(RunRefusedError, match=run.run_id), guarded(store):
            raise AssertionError("two runs of one batch")
        with record_run(CALC, variables={"month": "2026-11"}, store=store, guard=True):
            pass  # another batch
        with record_run(CALC, variables={**OCTOBER, "mode": "DEV"}, store=store, guard=True):
            pass  # and another mode
    refused = [each for each in store.list_runs(CALC) if each.status is Status.SKIPPED]
    assert [(each.outcome, each.error) for each in refused] == [("refused", refused[0].error)]
    assert "is being run" in str(refused[0].error)


def test_a_finished_batch_is_refused_unless_it_is_to_run_again(store: ReceiptStore) -> None:
    with guarded(store) as run:
        pass
    answer = may_run(CALC, OCTOBER, store=store)
    assert (answer.verdict, answer.finished_by) == (Verdict.FAIL, run.run_id)
    with pytest.raises(RunRefusedError, match="has finished"), guarded(store):
        raise AssertionError("a finished batch")
    assert may_run(CALC, OCTOBER, store=store, rerun=True)
    with guarded(store, rerun=True):
        pass
    assert len(store.search(CALC, Status.SUCCESS)) == 2


def test_a_batch_that_failed_may_run_again(store: ReceiptStore) -> None:
    with pytest.raises(ZeroDivisionError), guarded(store):
        raise ZeroDivisionError
    assert may_run(CALC, OCTOBER, store=store)
    with guarded(store):
        pass


def test_a_batch_that_names_nothing_is_never_finished(store: ReceiptStore) -> None:
    for _ in range(2):
        with record_run(CALC, store=store, guard=True):
            assert not may_run(CALC, store=store)
    assert may_run(CALC, store=store)


def test_of_many_that_begin_at_once_one_runs(store: ReceiptStore) -> None:
    ready, inside = threading.Barrier(8), []

    def begin(number: int) -> bool:
        ready.wait()
        try:
            with guarded(store):
                inside.append(number)
                ready.wait(timeout=30)
        except RunRefusedError:
            ready.wait(timeout=30)
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        ran = list(pool.map(begin, range(8)))
    assert ran.count(True) == len(inside) == 1
    assert len(store.search(CALC, Status.SUCCESS)) == 1


def stand_still(run_id: str) -> None:
    """Renew the claim of a run no more, as if its process had been stopped."""
    for thread in threading.enumerate():
        if thread.name == f"claim of {run_id}":
            thread._target.__self__._stopped.set()  # type: ignore[attr-defined]
            thread.join()


def take_over(store: ReceiptStore) -> int:
    """Take the claim as soon as its lease is over; returns the token."""
    for _ in range(200):
        taken = claim(CALC, OCTOBER, run_id="taker", store=store)
        if isinstance(taken, Claim):
            return taken.token
        threading.Event().wait(0.1)
    raise AssertionError("the lease never ends")


def test_a_run_that_lost_its_claim_does_not_succeed(store: ReceiptStore) -> None:
    begun: list[str] = []

    def overslept() -> None:
        with guarded(store, lease="1s") as run:
            begun.append(run.run_id)
            stand_still(run.run_id)
            assert take_over(store) > 1

    with pytest.raises(ClaimLostError, match="took over"):
        overslept()
    receipt = store.load(CALC, begun[0])
    assert (receipt.status, receipt.ended_by) == (Status.INTERRUPTED, "takeover")
    assert len(store.search(CALC, Status.SUCCESS)) == 0


@pytest.mark.slow
def test_a_claim_is_renewed_for_as_long_as_the_run_lives(store: ReceiptStore) -> None:
    def held_until() -> datetime:
        refused = claim(CALC, OCTOBER, run_id="taker", store=store)
        assert isinstance(refused, RunAnswer)
        assert refused.holder is not None
        return refused.holder.until

    with guarded(store, lease="3s"):
        end = held_until()
        for _ in range(600):  # longer than its lease, and every time the claim is refused
            if held_until() > end + timedelta(seconds=3):
                break
            threading.Event().wait(0.1)
        assert held_until() > end + timedelta(seconds=3)
    assert len(store.search(CALC, Status.SUCCESS)) == 1


def test_what_cannot_be_told_refuses_the_run(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "receipts")
    with record_run(CALC, variables={"month": "2026-09"}, store=store):
        pass
    (tmp_path / "receipts" / CALC / "damaged.json").write_text("{")
    assert may_run(CALC, OCTOBER, store=store).verdict is Verdict.UNKNOWN
    with pytest.raises(RunRefusedError, match="cannot be told"), guarded(store):
        raise AssertionError("it may have finished")
    assert not may_run(CALC, OCTOBER, store=open_store(tmp_path / "gone"))


def test_a_store_that_gives_no_claims_is_refused(store: ReceiptStore) -> None:
    class Plain:
        url = "plain://"
        save, load, search, list_runs = store.save, store.load, store.search, store.list_runs

    store.save(a_receipt(task="pay/in/other"))
    with pytest.raises(ConfigError, match="gives no claims"):
        may_run(CALC, OCTOBER, store=Plain())
    with pytest.raises(ConfigError, match="gives no claims"), guarded(Plain()):  # type: ignore[arg-type]
        raise AssertionError("unguarded")
    assert not store.list_runs(CALC)


def test_what_cannot_be_asked_is_told_before_the_run_is_on_record(store: ReceiptStore) -> None:
    store.save(a_receipt(task="pay/in/other"))
    nightly = Schedule(cron="0 2 * * *", start=at(0))
    wrong: tuple[dict[str, Any], ...] = (
        {"requires": "pay/in/source"},  # no batch, so any old success would do
        {"requires": {"task": "pay/in/source", "variables": ["day"]}, "variables": OCTOBER},
        {"requires": {"task": "a/b/c", "variables": [], "windows": "all", "schedule": nightly}},
        {"guard": True, "ordered": True, "schedule": nightly, "variables": OCTOBER},
    )
    for given in wrong:
        with pytest.raises(ConfigError), record_run(CALC, store=store, **given):
            raise AssertionError("it ran")
    assert not store.list_runs(CALC)


def test_a_lease_that_nobody_could_keep_is_refused(store: ReceiptStore) -> None:
    with pytest.raises(ConfigError, match="lease"), guarded(store, lease=timedelta(seconds=0.1)):
        raise AssertionError("unguarded")
