"""Health: many tasks and patterns in one call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.questions.builders import CALC, NOW, SEND, FourMethods, a_run, put
from ubunye_core import ConfigError, ReceiptStore, Verdict, job_health
from ubunye_core.stores import FileStore, MemoryStore

ORDERS = "retail/ingestion/orders"


@pytest.fixture
def three(store: ReceiptStore) -> ReceiptStore:
    """One healthy task, one that fails, one that was only skipped."""
    put(store, a_run(), a_run("error", task=SEND), a_run("skipped", task=ORDERS))
    return store


def test_fail_beats_unknown_beats_pass(three: ReceiptStore) -> None:
    def verdict(*tasks: str) -> Verdict:
        return job_health(tasks, store=three, now=NOW).verdict

    assert verdict(CALC) is Verdict.PASS
    assert verdict(CALC, ORDERS) is Verdict.UNKNOWN
    assert verdict(ORDERS, SEND, CALC) is Verdict.FAIL


def test_a_pattern_names_every_task_that_fits_once(three: ReceiptStore) -> None:
    found = job_health(["pay/*/*", CALC, "*/*/*"], store=three, now=NOW)
    assert [each.task for each in found.tasks] == [CALC, SEND, ORDERS]
    assert found.reason == (
        "1 of 3 tasks unhealthy: pay/monthly/send; 1 of 3 unknown: retail/ingestion/orders."
    )


def test_a_star_stays_within_its_segment(three: ReceiptStore) -> None:
    found = job_health("*/ingestion/order?", store=three, now=NOW)
    assert [each.task for each in found.tasks] == [ORDERS]


def test_a_pattern_that_fits_nothing_is_unknown_and_does_not_hide_a_failure(
    three: ReceiptStore,
) -> None:
    found = job_health("hr/*/*", store=three, now=NOW)
    assert found.verdict is Verdict.UNKNOWN
    assert "fits hr/*/*" in found.reason
    assert job_health(["hr/*/*", SEND], store=three, now=NOW).verdict is Verdict.FAIL


def test_all_healthy_tasks_are_said_in_one_sentence(store: ReceiptStore) -> None:
    put(store, a_run(), a_run(task=SEND))
    found = job_health("pay/*/*", store=store, now=NOW)
    assert (found.verdict, found.reason) == (Verdict.PASS, "All 2 tasks are healthy.")


def test_named_tasks_get_the_same_answer_from_a_store_that_lists_no_tasks(
    three: ReceiptStore,
) -> None:
    names = [CALC, SEND, ORDERS, "hr/people/sync"]
    assert job_health(names, store=FourMethods(three), now=NOW) == job_health(
        names, store=three, now=NOW
    )


def test_a_pattern_needs_a_store_that_lists_its_tasks() -> None:
    with pytest.raises(ConfigError, match="cannot list its tasks"):
        job_health("pay/*/*", store=FourMethods(MemoryStore()), now=NOW)


def test_a_store_that_cannot_answer_is_unknown_and_worth_asking_again(tmp_path: Path) -> None:
    gone = FileStore(tmp_path / "gone")
    for asked in (CALC, "pay/*/*"):
        found = job_health(asked, store=gone, now=NOW)
        assert (found.verdict, found.retryable) == (Verdict.UNKNOWN, True)
        assert str(tmp_path / "gone") in found.reason
        assert [each.where for each in found.unreadable] == [gone.url]
