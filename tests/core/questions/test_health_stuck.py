"""Health: which runs are stuck, and what clears them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.core.questions.builders import CALC, DAY, HOUR, MINUTE, NOW, a_run, an_attempt, put
from ubunye_core import ReceiptStore, TaskHealth, Verdict, close_run, job_health
from ubunye_core.times import utc_now

SECOND = timedelta(seconds=1)


def health(store: ReceiptStore, **asked: object) -> TaskHealth:
    return job_health(CALC, store=store, now=NOW, **asked).tasks[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("every", "silent", "stuck"),
    [
        (30 * SECOND, 5 * MINUTE, False),  # five beats are 150 s, and five minutes the least
        (30 * SECOND, 5 * MINUTE + SECOND, True),
        (10 * MINUTE, 50 * MINUTE, False),
        (10 * MINUTE, 50 * MINUTE + SECOND, True),
        (None, 6 * HOUR, False),
        (None, 6 * HOUR + SECOND, True),
    ],
)
def test_a_run_is_stuck_after_five_missed_heartbeats_or_six_hours_without_any(
    store: ReceiptStore, every: timedelta | None, silent: timedelta, stuck: bool
) -> None:
    beat = None if every is None else NOW - silent
    run = put(
        store,
        a_run(
            "running",
            ago=silent if every is None else DAY,
            heartbeat_every=every,
            heartbeat_at=beat,
        ),
    )
    found = health(store)
    assert found.stuck == ((run.run_id,) if stuck else ())
    assert found.verdict is (Verdict.FAIL if stuck else Verdict.PASS)


@pytest.mark.parametrize(
    ("every", "given", "silent", "stuck"),
    [
        (30 * SECOND, "1m", 89 * SECOND, False),  # raised to three heartbeats
        (30 * SECOND, "1m", 91 * SECOND, True),
        (30 * SECOND, "2h", 7199 * SECOND, False),
        (30 * SECOND, "2h", 7201 * SECOND, True),
        (None, "10m", 10 * MINUTE, False),
        (None, "10m", 11 * MINUTE, True),
        (None, "0s", SECOND, True),
        (None, "12h", 7 * HOUR, False),
    ],
)
def test_a_given_limit_counts_but_never_less_than_three_heartbeats(
    store: ReceiptStore, every: timedelta | None, given: str, silent: timedelta, stuck: bool
) -> None:
    beat = None if every is None else NOW - silent
    put(store, a_run("running", ago=silent, heartbeat_every=every, heartbeat_at=beat))
    assert bool(health(store, stuck_after=given).stuck) is stuck


def test_the_start_is_a_sign_of_life_before_the_first_heartbeat(store: ReceiptStore) -> None:
    put(store, a_run("running", ago=2 * MINUTE, heartbeat_every=30 * SECOND))
    assert health(store).verdict is Verdict.PASS


def test_a_heartbeat_from_the_future_is_no_sign_of_life(store: ReceiptStore) -> None:
    beat = NOW + 3650 * DAY
    run = a_run("running", ago=DAY, heartbeat_every=30 * SECOND, heartbeat_at=beat)
    put(store, run)
    assert health(store).stuck == (run.run_id,)


def test_a_stuck_run_is_named_with_its_batch_its_host_and_how_long(store: ReceiptStore) -> None:
    run = put(store, a_run("running", ago=26 * HOUR, host="worker-7"))
    found = health(store)
    assert f"run {run.run_id} for month=2026-10 on worker-7 is stuck" in found.reason
    assert "running for 1d 2h" in found.reason


def test_only_a_later_success_of_the_same_batch_clears_a_stuck_run(store: ReceiptStore) -> None:
    run = put(store, a_run("running", ago=2 * DAY))
    put(
        store,
        a_run(ago=3 * DAY),  # the same batch, earlier
        a_run(ago=DAY, variables={"month": "2026-09"}),  # later, of another batch
        a_run(ago=DAY - MINUTE, variables={"month": "2026-10", "region": "eu"}),
    )
    assert health(store).stuck == (run.run_id,)
    put(store, a_run("error", ago=HOUR))
    assert run.run_id in health(store, failure_threshold=5).stuck
    put(store, a_run(ago=30 * MINUTE, variables={"month": "2026-10", "mode": "PROD"}))
    assert health(store).stuck == ()


def test_batches_that_a_foreign_recorder_masked_are_not_known_to_be_the_same(
    store: ReceiptStore,
) -> None:
    run = put(store, a_run("running", ago=2 * DAY, variables={"signature_date": "***"}))
    put(store, a_run(ago=DAY, variables={"signature_date": "***"}))
    assert health(store).stuck == (run.run_id,)


def test_a_stuck_attempt_counts_although_a_later_attempt_is_to_be_retried(
    store: ReceiptStore,
) -> None:
    run = put(store, a_run("running", ago=9 * HOUR, orchestrator=an_attempt(1)))
    put(store, a_run("error", ago=HOUR, orchestrator=an_attempt(2)))
    found = health(store)
    assert (found.verdict, found.retrying, found.stuck) == (Verdict.FAIL, True, (run.run_id,))


def test_closing_a_stuck_run_makes_it_a_failure_like_any_other(store: ReceiptStore) -> None:
    today = NOW - utc_now()  # a run is closed by the clock
    put(store, a_run(ago=today + 3 * DAY, variables={"month": "2026-09"}))
    run = put(store, a_run("running", ago=today + 2 * DAY))
    assert job_health(CALC, store=store).tasks[0].stuck == (run.run_id,)
    close_run(CALC, run.run_id, reason="the node is gone", store=store, actor="thandi")
    found = job_health(CALC, store=store).tasks[0]
    assert (found.verdict, found.stuck, found.consecutive_failures) == (Verdict.FAIL, (), 1)
    assert "closed by thandi: the node is gone" in found.reason


def test_a_run_that_was_stuck_before_it_was_closed_looks_stuck_as_of_then(
    store: ReceiptStore,
) -> None:
    run = a_run("running", ago=9 * HOUR, heartbeat_every=30 * SECOND)
    beat = NOW - 8 * HOUR
    end = NOW + HOUR
    put(
        store,
        replace(run, heartbeat_at=beat, status="interrupted", ended_at=end, ended_by="close"),
    )
    assert health(store).stuck == (run.run_id,)


def test_a_run_that_wrote_its_own_end_was_alive_until_then(store: ReceiptStore) -> None:
    put(store, a_run(ago=9 * HOUR, took=10 * HOUR, heartbeat_every=30 * SECOND))
    found = health(store)
    assert (found.verdict, found.stuck, found.last_status) == (Verdict.PASS, (), "running")
