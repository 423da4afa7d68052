"""Waiting: how long, how often, and what ends it. The clock moves only while somebody sleeps."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.core.questions.builders import (
    CALC,
    HOUR,
    MINUTE,
    NOW,
    SEND,
    Clock,
    a_run,
    put,
)
from ubunye_core import (
    ConfigError,
    Patience,
    ReceiptStore,
    Requirement,
    UpstreamAnswer,
    Verdict,
    check_upstream,
    wait_for_upstream,
)
from ubunye_core.stores import FileStore, MemoryStore

OCTOBER = {"month": "2026-10"}


def wait(store: ReceiptStore, clock: Clock, requirement: Any = CALC, **given: Any) -> Any:
    return wait_for_upstream(
        requirement, variables=OCTOBER, store=store, clock=clock, sleep=clock.sleep, **given
    )


def test_without_a_wait_one_look_is_all(store: ReceiptStore) -> None:
    clock = Clock()
    put(store, a_run("running"))
    answer = wait(store, clock)
    assert (answer.verdict, clock.slept) == (Verdict.FAIL, [])
    assert "Waited" not in answer.reason


def test_a_success_on_the_way_ends_the_wait(store: ReceiptStore) -> None:
    clock = Clock()
    put(store, a_run("running", task=SEND), a_run("error"))
    success = a_run(ago=-5 * MINUTE)
    clock.at(NOW + 6 * MINUTE, lambda: put(store, success))
    answer = wait(store, clock, wait="2h")
    assert answer.verdict is Verdict.PASS
    assert answer.requirements[0].satisfied_by == success.run_id
    assert clock.slept == [60.0] * 6


def test_a_wait_that_ran_out_keeps_its_last_verdict_and_says_how_long(
    store: ReceiptStore,
) -> None:
    clock = Clock()
    put(store, a_run("running"))
    answer = wait(store, clock, wait="2h", poll="30m")
    assert answer.verdict is Verdict.FAIL
    assert clock.slept == [1800.0] * 4
    assert answer.reason.endswith("Waited 2h, counted from the start of this wait.")


def test_a_deadline_is_an_instant_and_wins_over_any_wait(store: ReceiptStore) -> None:
    clock = Clock()
    put(store, a_run("running"))
    deadline = NOW + 10 * MINUTE
    answer = wait(store, clock, Requirement(CALC, wait="9h"), wait="5h", deadline=deadline)
    assert clock.now == deadline
    assert answer.reason.endswith("Waited 10m, until the deadline 2026-10-15T06:10:00Z.")


def test_a_restart_does_not_move_the_deadline(store: ReceiptStore) -> None:
    put(store, a_run("running"))
    restarted = Clock(NOW + 9 * MINUTE)
    wait(store, restarted, deadline="2026-10-15T06:10:00Z")
    assert restarted.now == NOW + 10 * MINUTE


def test_a_deadline_in_the_past_is_one_look(store: ReceiptStore) -> None:
    clock = Clock()
    put(store, a_run("running"))
    assert wait(store, clock, deadline=NOW - HOUR).verdict is Verdict.FAIL
    put(store, a_run(ago=MINUTE, took=timedelta(0)))
    assert wait(store, clock, deadline=NOW - HOUR).verdict is Verdict.PASS
    assert clock.slept == []


def test_a_pause_longer_than_the_wait_still_looks_once_more_at_the_end(
    store: ReceiptStore,
) -> None:
    clock = Clock()
    put(store, a_run("running"))
    clock.at(NOW + 5 * MINUTE, lambda: put(store, a_run(ago=-MINUTE)))
    assert wait(store, clock, wait="5m", poll="1h").verdict is Verdict.PASS
    assert clock.slept == [300.0]


def test_each_requirement_waits_as_long_as_it_says_and_as_often(store: ReceiptStore) -> None:
    put(store, a_run("running"), a_run("running", task=SEND))
    long = Requirement(CALC, wait="3h", poll="20m")
    short = Requirement(SEND, wait="1h", poll="30m")
    clock = Clock()
    wait(store, clock, [long, short])
    assert clock.slept == [1200.0] * 3  # once the short one ran out, there is nothing to wait for
    clock = Clock()
    clock.at(NOW + 30 * MINUTE, lambda: put(store, a_run(task=SEND, ago=-MINUTE)))
    wait(store, clock, [long, short])
    assert clock.now == NOW + 3 * HOUR


def test_a_requirement_without_a_poll_keeps_the_common_one(store: ReceiptStore) -> None:
    put(store, a_run("running"), a_run("running", task=SEND))
    clock = Clock()
    wait(store, clock, [Requirement(CALC, wait="1h", poll="20m"), Requirement(SEND, wait="1h")])
    assert clock.slept == [60.0] * 60


def test_what_is_decided_ends_the_wait_at_once(store: ReceiptStore) -> None:
    clock = Clock()
    put(store, a_run("skipped"))
    assert wait(store, clock, wait="2h").verdict is Verdict.FAIL
    assert wait(store, clock, "pay/montly/calc", wait="2h").verdict is Verdict.FAIL
    put(store, a_run("error", ago=MINUTE, took=timedelta(0)))
    answer = wait(store, clock, Requirement(CALC, on_failed="fail"), wait="2h")
    assert answer.verdict is Verdict.FAIL
    assert clock.slept == []
    assert "Waited" not in answer.reason


def test_a_failure_on_the_way_is_noticed_within_one_poll(store: ReceiptStore) -> None:
    clock = Clock()
    run = put(store, a_run("running"))
    failed = a_run("error", run_id=run.run_id, took=HOUR + 90 * timedelta(seconds=1))
    clock.at(NOW + 90 * timedelta(seconds=1), lambda: put(store, failed))
    answer = wait(store, clock, Requirement(CALC, on_failed="fail", wait="2h"))
    assert (answer.verdict, clock.now) == (Verdict.FAIL, NOW + 2 * MINUTE)


def test_an_unknown_task_is_waited_for_where_that_is_allowed(store: ReceiptStore) -> None:
    clock = Clock()
    clock.at(NOW + HOUR, lambda: put(store, a_run(ago=-HOUR, took=timedelta(0))))
    answer = wait(store, clock, Requirement(CALC, allow_unknown=True, wait="2h"))
    assert (answer.verdict, clock.now) == (Verdict.PASS, NOW + HOUR)


def test_a_store_that_is_away_for_a_while_is_waited_for(tmp_path: Path) -> None:
    clock, store = Clock(), FileStore(tmp_path / "mount")
    clock.at(NOW + 3 * MINUTE, lambda: put(store, a_run()))
    assert wait(store, clock, wait="1h").verdict is Verdict.PASS
    assert clock.now == NOW + 3 * MINUTE


def test_what_is_unknown_to_the_end_stays_unknown(tmp_path: Path) -> None:
    clock = Clock()
    answer = wait(FileStore(tmp_path / "gone"), clock, wait="10m")
    assert (answer.verdict, clock.now) == (Verdict.UNKNOWN, NOW + 10 * MINUTE)
    assert str(tmp_path / "gone") in answer.reason
    assert "Waited 10m" in answer.reason


def test_an_optional_requirement_waits_its_time_and_then_passes(store: ReceiptStore) -> None:
    clock = Clock()
    put(store, a_run("running"))
    answer = wait(store, clock, Requirement(CALC, optional=True, wait="10m"))
    assert (answer.verdict, clock.now) == (Verdict.PASS, NOW + 10 * MINUTE)
    assert not answer.requirements[0].met


def test_an_optional_requirement_does_not_lengthen_a_lost_wait(store: ReceiptStore) -> None:
    clock = Clock()
    put(store, a_run("running"), a_run("skipped", task=SEND))
    assert wait(store, clock, [Requirement(CALC, optional=True), SEND], wait="2h").verdict is (
        Verdict.FAIL
    )
    assert clock.slept == []


def test_each_look_is_told_with_the_pause_that_follows(store: ReceiptStore) -> None:
    clock, told = Clock(), []
    put(store, a_run("running"))

    def on_look(answer: UpstreamAnswer, pause: timedelta | None) -> None:
        told.append((answer.now, answer.verdict, pause))

    wait(store, clock, wait="90s", on_look=on_look)
    assert told == [
        (NOW, Verdict.FAIL, MINUTE),
        (NOW + MINUTE, Verdict.FAIL, 30 * timedelta(seconds=1)),
        (NOW + 90 * timedelta(seconds=1), Verdict.FAIL, None),
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [({"poll": "0s"}, "'poll' is zero"), ({"wait": "long"}, "wait"), ({"deadline": "10"}, "deadl")],
)
def test_a_wrong_argument_is_an_error_before_the_first_look(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        wait(MemoryStore(), Clock(), **given)


def test_patience_tells_a_scheduler_when_to_look_again(store: ReceiptStore) -> None:
    put(store, a_run("running"))
    answer = check_upstream(Requirement(CALC, wait="1h"), variables=OCTOBER, store=store, now=NOW)
    own = Patience(NOW)
    assert own.next_look(answer, NOW) == MINUTE
    assert own.next_look(answer, NOW, timedelta(minutes=7)) == 7 * MINUTE
    assert own.next_look(answer, NOW + 59.5 * MINUTE) == MINUTE / 2
    assert own.next_look(answer, NOW + HOUR) is None
    assert Patience(NOW, wait=2 * HOUR).next_look(answer, NOW + HOUR) == MINUTE
    assert Patience(NOW, wait=timedelta(0)).next_look(answer, NOW) is None
    by = Patience(NOW, wait=2 * HOUR, deadline=NOW + MINUTE)
    assert by.next_look(answer, NOW + MINUTE) is None
    assert by.until(answer.requirements[0].requirement) == NOW + MINUTE
    put(store, a_run())
    met = check_upstream(CALC, variables=OCTOBER, store=store, now=NOW)
    assert Patience(NOW, wait=HOUR).next_look(met, NOW) is None
