"""Finding one run by its id, in one task or in all."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ubunye_core import (
    AmbiguousRunError,
    BadReceiptError,
    InvalidNameError,
    Receipt,
    ReceiptNotFoundError,
    Status,
)
from ubunye_core.questions.runs import find_run
from ubunye_core.stores import MemoryStore


def receipt(task: str, run_id: str) -> Receipt:
    began = datetime(2026, 10, 15, tzinfo=UTC)
    return Receipt(task=task, run_id=run_id, status=Status.SUCCESS, started_at=began)


@pytest.fixture
def memory() -> MemoryStore:
    store = MemoryStore()
    for task, run_id in (
        ("pay/monthly/calc", "abc-1"),
        ("pay/monthly/calc", "abc-2"),
        ("pay/monthly/send", "abd-1"),
        ("pay/monthly/send", "same"),
        ("pay/monthly/calc", "same"),
        ("pay/monthly/send", "ab"),
    ):
        store.save(receipt(task, run_id))
    return store


class FourMethods:
    """The least a store can be: it cannot list its tasks."""

    def __init__(self, store: MemoryStore) -> None:
        self.url = store.url
        self.save, self.load = store.save, store.load
        self.list_runs, self.search = store.list_runs, store.search


@pytest.mark.parametrize("kind", [lambda store: store, FourMethods])
def test_a_run_is_found_in_any_task_of_any_store(memory, kind):
    store = kind(memory)
    assert find_run("abd", store=store).task == "pay/monthly/send"
    assert find_run("abc-2", store=store).run_id == "abc-2"
    with pytest.raises(ReceiptNotFoundError):
        find_run("zzz", store=store)
    with pytest.raises(ReceiptNotFoundError, match="pay/monthly/clac has never run, as far as"):
        find_run("abc-1", store=store, task="pay/monthly/clac")
    with pytest.raises(ReceiptNotFoundError, match=r"no run 'zzz' of pay/monthly/calc\.$"):
        find_run("zzz", store=store, task="pay/monthly/calc")


def test_a_whole_id_wins_over_a_beginning(memory):
    assert find_run("ab", store=memory).run_id == "ab"


def test_a_beginning_that_fits_several_names_them_all(memory):
    with pytest.raises(AmbiguousRunError) as caught:
        find_run("abc", store=memory)
    assert caught.value.run_ids == ("abc-1 of pay/monthly/calc", "abc-2 of pay/monthly/calc")


def test_an_id_that_two_tasks_have_needs_the_task(memory):
    with pytest.raises(AmbiguousRunError, match="--task"):
        find_run("same", store=memory)
    assert find_run("same", store=memory, task="pay/monthly/send").task == "pay/monthly/send"


def test_the_only_run_that_fits_may_be_unreadable(memory):
    memory.put_document("pay/monthly/tax", "bad-1", b"{")
    with pytest.raises(BadReceiptError, match="bad-1"):
        find_run("bad", store=memory)


def test_an_unreadable_run_that_fits_too_is_not_passed_over(memory):
    memory.put_document("pay/monthly/tax", "abd-9", b"{")
    with pytest.raises(AmbiguousRunError, match="abd-9"):
        find_run("abd", store=memory)


def test_an_id_is_checked_before_it_is_looked_for(memory):
    with pytest.raises(InvalidNameError):
        find_run("../abc", store=memory)


def test_of_many_runs_that_fit_the_first_are_named_and_the_rest_counted(memory):
    for number in range(7):
        memory.save(receipt("pay/monthly/calc", f"many-{number}"))
    with pytest.raises(AmbiguousRunError, match=r"many-0.* and 2 more\. Give"):
        find_run("many", store=memory)
