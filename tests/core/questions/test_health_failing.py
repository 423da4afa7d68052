"""Health: when a task is failing."""

from __future__ import annotations

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
    an_attempt,
    put,
)
from ubunye_core import ConfigError, ReceiptStore, Status, TaskHealth, Verdict, job_health
from ubunye_core.stores import MemoryStore


def health(store: ReceiptStore, **asked: object) -> TaskHealth:
    return job_health(CALC, store=store, now=NOW, **asked).tasks[0]  # type: ignore[arg-type]


def test_a_task_whose_last_run_succeeded_is_healthy(store: ReceiptStore) -> None:
    last = put(store, a_run("error", ago=3 * HOUR), a_run(ago=2 * HOUR))
    found = health(store)
    assert found.verdict is Verdict.PASS
    assert found.last_status is Status.SUCCESS
    assert found.last_run == last.run_id
    assert found.last_success_at == last.ended_at
    assert found.consecutive_failures == 0
    assert found.reason == f"{CALC} is healthy: it last succeeded at 2026-10-15T04:01:00Z."


@pytest.mark.parametrize("status", ["error", "interrupted"])
def test_a_task_whose_last_run_did_not_succeed_fails(store: ReceiptStore, status: str) -> None:
    put(store, a_run(ago=3 * HOUR))
    last = put(store, a_run(status, ago=2 * HOUR, error="ValueError: no such column\nsecret row"))
    found = health(store)
    assert found.verdict is Verdict.FAIL
    assert found.consecutive_failures == 1
    assert found.last_success_at == NOW - 3 * HOUR + MINUTE
    assert last.run_id in found.reason
    assert "month=2026-10" in found.reason
    assert "ValueError: no such column" in found.reason
    assert "secret row" not in found.reason


def test_the_threshold_says_how_many_failures_in_a_row_are_too_many(store: ReceiptStore) -> None:
    put(store, a_run(ago=4 * HOUR), a_run("error", ago=3 * HOUR), a_run("error", ago=2 * HOUR))
    assert health(store, failure_threshold=3).verdict is Verdict.PASS
    assert health(store, failure_threshold=3).consecutive_failures == 2
    put(store, a_run("interrupted", ago=HOUR))
    assert health(store, failure_threshold=3).verdict is Verdict.FAIL


def test_one_failed_run_is_told_as_one_and_more_as_a_row(store: ReceiptStore) -> None:
    put(store, a_run("error", ago=3 * HOUR, run_id="r-1"))
    failed = "for month=2026-10 failed (error at 2026-10-15T03:01:00Z)"
    assert health(store).reason == f"{CALC}: run r-1 {failed}."
    put(store, a_run("error", ago=2 * HOUR, run_id="r-2"))
    assert health(store).reason.startswith(f"{CALC}: 2 runs in a row failed, the latest r-2 for ")


def test_skipped_and_living_runs_are_neither_failures_nor_successes(store: ReceiptStore) -> None:
    put(
        store,
        a_run(ago=5 * HOUR),
        a_run("error", ago=4 * HOUR),
        a_run("skipped", ago=3 * HOUR),
        a_run("skipped", ago=2 * HOUR, outcome="refused"),
        a_run("running", ago=HOUR),
    )
    found = health(store)
    assert found.consecutive_failures == 1
    assert found.last_status is Status.RUNNING
    assert found.last_success_at == NOW - 5 * HOUR + MINUTE
    assert health(store, failure_threshold=2).verdict is Verdict.PASS


def test_attempts_of_one_scheduled_run_count_once(store: ReceiptStore) -> None:
    put(store, a_run(ago=DAY))
    for number in (1, 2, 3):
        put(store, a_run("error", ago=5 * HOUR - number * HOUR, orchestrator=an_attempt(number)))
    assert health(store).consecutive_failures == 1
    assert health(store, failure_threshold=2).verdict is Verdict.PASS
    put(store, a_run("error", ago=HOUR, orchestrator=an_attempt(3, run="scheduled-2")))
    assert health(store, failure_threshold=2).verdict is Verdict.FAIL


def test_an_error_with_tries_left_is_retrying_and_not_failing(store: ReceiptStore) -> None:
    put(store, a_run(ago=DAY), a_run("error", ago=HOUR, orchestrator=an_attempt(1)))
    found = health(store)
    assert (found.verdict, found.retrying) == (Verdict.PASS, True)
    assert found.consecutive_failures == 0
    assert "to be retried" in found.reason


def test_the_last_try_is_a_failure(store: ReceiptStore) -> None:
    put(
        store,
        a_run("error", ago=2 * HOUR, orchestrator=an_attempt(1, of=2)),
        a_run("error", ago=HOUR, orchestrator=an_attempt(2, of=2)),
    )
    found = health(store)
    assert (found.verdict, found.retrying, found.consecutive_failures) == (Verdict.FAIL, False, 1)


def test_a_retry_that_never_comes_is_a_failure_after_all(store: ReceiptStore) -> None:
    put(store, a_run("error", ago=7 * HOUR, orchestrator=an_attempt(1)))
    assert health(store).verdict is Verdict.FAIL
    assert health(store, stuck_after="8h").verdict is Verdict.PASS


def test_a_short_stuck_after_does_not_hurry_a_retry(store: ReceiptStore) -> None:
    put(store, a_run("error", ago=HOUR, orchestrator=an_attempt(1)))
    assert health(store, stuck_after="10m").retrying


def test_a_success_is_not_forgotten_when_its_scheduled_run_is_done_again(
    store: ReceiptStore,
) -> None:
    """Airflow gives a cleared task a further attempt of the same run."""
    put(store, a_run("error", ago=9 * HOUR), a_run("error", ago=8 * HOUR))
    first = put(store, a_run(ago=7 * HOUR, orchestrator=an_attempt(1, of=1)))
    put(store, a_run("error", ago=HOUR, orchestrator=an_attempt(2, of=2)))
    found = health(store)
    assert found.consecutive_failures == 1
    assert found.last_success_at == first.ended_at
    assert health(store, failure_threshold=2).verdict is Verdict.PASS


def test_runs_without_a_number_of_the_attempt_count_one_by_one(store: ReceiptStore) -> None:
    scheduler = an_attempt(1)
    unnumbered = type(scheduler)(name="databricks", ids={"job": "7"})
    put(store, a_run("error", ago=2 * HOUR, orchestrator=unnumbered))
    put(store, a_run("error", ago=HOUR, orchestrator=unnumbered))
    assert health(store).consecutive_failures == 2


def test_a_task_that_never_ran_is_unknown_and_fails_where_an_age_is_asked(
    store: ReceiptStore,
) -> None:
    found = health(store)
    assert found.verdict is Verdict.UNKNOWN
    assert "has never run" in found.reason
    assert found.last_status is None
    found = health(store, max_age="1d")
    assert (found.verdict, found.stale) == (Verdict.FAIL, True)


def test_a_task_that_was_only_ever_skipped_has_never_run(store: ReceiptStore) -> None:
    put(store, a_run("skipped"))
    assert health(store).verdict is Verdict.UNKNOWN
    assert health(store).last_status is Status.SKIPPED


def test_a_first_run_that_still_goes_on_is_healthy(store: ReceiptStore) -> None:
    last = put(store, a_run("running", ago=HOUR))
    found = health(store)
    assert found.verdict is Verdict.PASS
    assert last.run_id in found.reason


def test_the_newest_50_runs_are_read_and_no_more_when_one_of_them_succeeded() -> None:
    counted = FourMethods(MemoryStore())
    put(counted, a_run(ago=50 * HOUR), *(a_run("error", ago=i * HOUR) for i in range(1, 50)))
    counted.calls.clear()
    assert health(counted).consecutive_failures == 49
    assert counted.calls == ["list_runs 50"]


def test_further_back_only_the_last_success_is_looked_for() -> None:
    counted = FourMethods(MemoryStore())
    success = put(counted, a_run(ago=200 * HOUR))
    put(counted, *(a_run("error", ago=i * HOUR) for i in range(1, 120)))
    counted.calls.clear()
    found = health(counted)
    assert counted.calls == ["list_runs 50", "search success"]
    assert found.last_success_at == success.ended_at
    assert found.consecutive_failures == 50


def test_a_task_that_was_only_refused_or_skipped_has_receipts_and_never_ran() -> None:
    store = MemoryStore()
    skipped = put(store, a_run("skipped", ago=3 * HOUR))
    assert health(store).reason == (
        f"{CALC} has never run, but was skipped: its newest receipt is {skipped.run_id} (skipped "
        "at 2026-10-15T03:01:00Z)."
    )
    put(store, *(a_run("skipped", ago=ago * HOUR, outcome="refused") for ago in (2, 1)))
    found = health(store)
    assert found.verdict is Verdict.UNKNOWN
    assert found.reason == (
        f"{CALC} has never run, but its newest 2 runs were refused by a gate or a guard."
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"failure_threshold": 0}, "failure_threshold"),
        ({"max_age": "soon"}, "max_age"),
        ({"stuck_after": timedelta(seconds=-1)}, "stuck_after"),
        ({"now": "2026-10-15"}, "now"),
    ],
)
def test_a_wrong_argument_is_an_error_that_names_it(asked: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        job_health(CALC, store=MemoryStore(), **{"now": NOW, **asked})  # type: ignore[arg-type]


def test_no_task_and_a_name_that_is_no_task_are_errors() -> None:
    with pytest.raises(ConfigError, match="No task"):
        job_health([], store=MemoryStore())
    with pytest.raises(ConfigError, match="not a task"):
        job_health(["pay/monthly/calc", "../calc"], store=MemoryStore())
