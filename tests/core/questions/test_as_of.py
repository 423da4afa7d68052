"""Questions about the past, and receipts from the future."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

from tests.core.questions.builders import (
    CALC,
    DAY,
    HOUR,
    MINUTE,
    NOW,
    FourMethods,
    a_run,
    put,
)
from ubunye_core import Receipt, ReceiptStore, Verdict, check_upstream, job_health
from ubunye_core.codec import encode
from ubunye_core.stores import MemoryStore, open_store
from ubunye_core.times import utc_now

OCTOBER = {"month": "2026-10"}
ANY_DAY = timedelta(days=36500)


def later(status: str = "success", by: timedelta = ANY_DAY, **fields: object) -> Receipt:
    """A run that starts later than ``NOW``, and later than any clock that runs these tests."""
    return a_run(status, ago=-by, run_id="from-later", **fields)  # type: ignore[arg-type]


def gate(store: ReceiptStore, now: object = NOW) -> Verdict:
    return check_upstream(CALC, variables=OCTOBER, store=store, now=now).verdict  # type: ignore[arg-type]


def health(store: ReceiptStore, now: object = NOW) -> Verdict:
    return job_health(CALC, store=store, now=now).verdict  # type: ignore[arg-type]


def test_runs_that_started_later_are_hidden(store: ReceiptStore) -> None:
    put(store, a_run("error", ago=HOUR), a_run(ago=-DAY), a_run("running", ago=-2 * DAY))
    moment = NOW + timedelta(seconds=1)
    assert (gate(store, moment), health(store, moment)) == (Verdict.FAIL, Verdict.FAIL)
    assert gate(store, NOW + DAY + HOUR) is Verdict.PASS
    answer = check_upstream(CALC, variables=OCTOBER, store=store, now=NOW - DAY)
    assert "is unknown" in answer.reason


def test_runs_that_ended_later_are_shown_as_running(store: ReceiptStore) -> None:
    put(store, a_run("error", ago=2 * DAY), a_run(ago=HOUR, took=3 * HOUR, error="x"))
    answer = check_upstream(CALC, variables=OCTOBER, store=store, now=NOW)
    assert answer.verdict is Verdict.FAIL
    assert "running since 2026-10-15T05:00:00Z" in answer.reason
    found = job_health(CALC, store=store, now=NOW).tasks[0]
    assert (found.verdict, found.last_status) == (Verdict.FAIL, "running")
    assert gate(store, NOW + 3 * HOUR) is Verdict.PASS


def test_the_clocks_of_two_machines_may_differ_by_five_minutes(store: ReceiptStore) -> None:
    put(store, a_run(ago=-4 * MINUTE, took=timedelta(0)))
    assert gate(store) is Verdict.PASS
    assert gate(store, NOW - 2 * MINUTE) is not Verdict.PASS


def test_an_instant_can_be_text(store: ReceiptStore) -> None:
    put(store, a_run(ago=HOUR))
    assert gate(store, "2026-10-15T08:00:00+02:00") is Verdict.PASS
    assert gate(store, "2026-10-15T04:00:00Z") is Verdict.FAIL


def test_the_last_success_is_found_behind_many_later_runs() -> None:
    counted = FourMethods(MemoryStore())
    success = put(counted, a_run(ago=100 * HOUR))
    put(counted, *(a_run("error", ago=i * HOUR) for i in range(1, 60)))
    put(counted, *(a_run(ago=-i * HOUR) for i in range(1, 60)))
    found = job_health(CALC, store=counted, now=NOW).tasks[0]
    assert found.last_success_at == success.ended_at
    assert found.consecutive_failures == 50


def test_a_task_with_many_later_runs_is_not_an_unknown_task(store: ReceiptStore) -> None:
    put(store, a_run(ago=HOUR, variables={"month": "2026-09"}))
    put(store, *(a_run(ago=-i * HOUR, variables={"month": "2026-11"}) for i in range(1, 30)))
    answer = check_upstream(CALC, variables=OCTOBER, store=store, now=NOW)
    assert "newest run of any batch" in answer.reason
    assert "month=2026-09" in answer.reason
    assert not answer.decided


def test_without_now_the_clock_decides(store: ReceiptStore) -> None:
    put(store, a_run(ago=NOW - utc_now() + HOUR))
    assert (gate(store, None), health(store, None)) == (Verdict.PASS, Verdict.PASS)


def test_a_now_in_the_future_of_the_clock_is_believed(store: ReceiptStore) -> None:
    moment = utc_now() + 2 * DAY
    put(store, a_run(ago=NOW - moment + HOUR))
    assert (gate(store, moment), health(store, moment)) == (Verdict.PASS, Verdict.PASS)


@pytest.mark.parametrize("status", ["success", "error", "running"])
def test_a_receipt_from_the_future_satisfies_nothing_and_is_named(
    store: ReceiptStore, status: str
) -> None:
    put(store, later(status))
    for asked in (NOW, None):
        answer = check_upstream(CALC, variables=OCTOBER, store=store, now=asked)
        assert answer.verdict is Verdict.UNKNOWN
        assert f"{CALC} run from-later" in answer.reason
        assert "a clock is wrong" in answer.reason
        found = job_health(CALC, store=store, now=asked)
        assert found.verdict is Verdict.UNKNOWN
        assert f"{CALC} run from-later" in found.reason


def test_a_receipt_that_ends_in_the_future_satisfies_nothing_and_is_named(
    store: ReceiptStore,
) -> None:
    put(store, a_run(ago=HOUR, took=ANY_DAY, run_id="ends-later"))
    answer = check_upstream(CALC, variables=OCTOBER, store=store, now=NOW)
    assert answer.verdict is Verdict.UNKNOWN
    assert "ends-later" in answer.reason


def test_a_receipt_from_the_future_does_not_undo_a_success_on_record(store: ReceiptStore) -> None:
    put(store, a_run(ago=HOUR), later("error"))
    assert gate(store) is Verdict.PASS
    assert health(store) is Verdict.UNKNOWN  # it may be the latest run


def test_a_receipt_from_the_future_whose_name_is_older_changes_nothing() -> None:
    store = open_store(f"memory://{uuid.uuid4()}")
    assert isinstance(store, MemoryStore)
    put(store, a_run(ago=HOUR))
    named = a_run(ago=DAY).run_id
    store.put_document(CALC, named, encode(a_run("error", ago=-ANY_DAY, run_id=named)))
    assert health(store) is Verdict.PASS


def test_a_receipt_from_the_future_of_another_batch_or_task_changes_no_gate(
    store: ReceiptStore,
) -> None:
    put(store, a_run("error", ago=HOUR), later(variables={"month": "2026-11"}))
    assert gate(store) is Verdict.FAIL
    put(store, later(task="pay/monthly/other"))
    assert gate(store) is Verdict.FAIL


def test_a_task_known_only_by_a_receipt_from_the_future_is_not_said_to_be_unknown(
    store: ReceiptStore,
) -> None:
    put(store, later(variables={"month": "2026-11"}))
    answer = check_upstream(CALC, variables=OCTOBER, store=store, now=NOW)
    assert (answer.verdict, answer.decided) == (Verdict.UNKNOWN, False)
    assert "from-later" in answer.reason
