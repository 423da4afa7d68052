"""Upstream: what a gate says when nothing met it, and whether waiting can change that."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from tests.core.questions.builders import CALC, DAY, HOUR, NOW, SEND, a_run, an_attempt, put
from ubunye_core import (
    ConfigError,
    InvalidNameError,
    OnFailed,
    ReceiptStore,
    Requirement,
    RequirementAnswer,
    Verdict,
    check_upstream,
)
from ubunye_core.stores import MemoryStore

OCTOBER = {"month": "2026-10"}


def ask(store: ReceiptStore, variables: Mapping[str, object] = OCTOBER, **fields: Any) -> Any:
    requirement = Requirement(fields.pop("task", CALC), **fields)
    answer = check_upstream(requirement, variables=variables, store=store, now=NOW)
    return answer.requirements[0]


def say(found: RequirementAnswer) -> tuple[Verdict, bool]:
    return found.verdict, found.decided


def test_a_run_that_goes_on_is_worth_waiting_for(store: ReceiptStore) -> None:
    put(store, a_run("running"))
    for on_failed in OnFailed:
        assert say(ask(store, on_failed=on_failed)) == (Verdict.FAIL, False)


@pytest.mark.parametrize("status", ["error", "interrupted"])
def test_on_failed_says_whether_a_failed_batch_is_waited_for(
    store: ReceiptStore, status: str
) -> None:
    put(store, a_run(status))
    assert say(ask(store)) == (Verdict.FAIL, False)
    assert say(ask(store, on_failed="wait")) == (Verdict.FAIL, False)
    assert say(ask(store, on_failed="fail")) == (Verdict.FAIL, True)


def test_on_failed_looks_at_the_newest_run_of_the_batch_only(store: ReceiptStore) -> None:
    put(store, a_run("error", ago=3 * HOUR), a_run("running", ago=2 * HOUR))
    put(store, a_run("error", ago=HOUR, variables={"month": "2026-09"}))
    assert say(ask(store, on_failed="fail")) == (Verdict.FAIL, False)


def test_an_error_with_tries_left_is_not_final(store: ReceiptStore) -> None:
    put(store, a_run("error", orchestrator=an_attempt(1, of=2)))
    found = ask(store, on_failed="fail")
    assert say(found) == (Verdict.FAIL, False)
    assert "to be retried" in found.reason
    put(store, a_run("error", ago=timedelta(minutes=9), orchestrator=an_attempt(2, of=2)))
    assert say(ask(store, on_failed="fail")) == (Verdict.FAIL, True)


def test_a_batch_skipped_by_decision_is_decided_at_once(store: ReceiptStore) -> None:
    put(store, a_run("error", ago=3 * HOUR), a_run("skipped"))
    found = ask(store)
    assert say(found) == (Verdict.FAIL, True)
    assert "skipped by decision" in found.reason
    assert say(ask(store, optional=True)) == (Verdict.PASS, True)


def test_a_batch_that_its_own_gate_refused_is_not_decided(store: ReceiptStore) -> None:
    put(store, a_run("skipped", outcome="refused", error="its own upstream is missing"))
    for on_failed in OnFailed:
        found = ask(store, on_failed=on_failed)
        assert say(found) == (Verdict.FAIL, False)
        assert "refused by its gate" in found.reason
        assert "its own upstream is missing" in found.reason


def test_a_skip_before_a_later_run_decides_nothing(store: ReceiptStore) -> None:
    put(store, a_run("skipped", ago=3 * HOUR), a_run("error"))
    assert say(ask(store)) == (Verdict.FAIL, False)


def test_a_success_that_grew_too_old_is_worth_waiting_for(store: ReceiptStore) -> None:
    put(store, a_run(ago=9 * DAY))
    assert say(ask(store, max_age="1d", on_failed="fail")) == (Verdict.FAIL, False)


def test_an_optional_requirement_records_the_miss_and_passes(store: ReceiptStore) -> None:
    put(store, a_run("error"))
    found = ask(store, optional=True)
    assert say(found) == (Verdict.PASS, False)
    assert (found.met, found.satisfied_by, found.pin) == (False, None, None)
    assert found.reason.startswith("Optional, so this passes: ")


def test_an_unknown_task_is_decided_at_once_with_near_names(store: ReceiptStore) -> None:
    put(store, a_run(), a_run(task=SEND), a_run(task="hr/people/sync"))
    found = ask(store, task="pay/montly/calc")
    assert say(found) == (Verdict.FAIL, True)
    assert "pay/montly/calc is unknown" in found.reason
    assert "Did you mean pay/monthly/calc" in found.reason
    assert "hr/people" not in found.reason


def test_a_task_that_had_not_run_at_that_instant_is_not_near_to_itself(
    store: ReceiptStore,
) -> None:
    put(store, a_run())
    found = check_upstream(Requirement(CALC, []), store=store, now=NOW - DAY)
    assert "is unknown" in found.reason
    assert "Did you mean" not in found.reason


def test_an_unknown_task_may_be_waited_for(store: ReceiptStore) -> None:
    assert say(ask(store, allow_unknown=True)) == (Verdict.FAIL, False)
    assert say(ask(store, optional=True)) == (Verdict.PASS, True)


def test_a_task_without_runs_of_this_batch_is_not_unknown(store: ReceiptStore) -> None:
    put(store, a_run(variables={"month": "2026-09"}))
    assert say(ask(store)) == (Verdict.FAIL, False)


def test_of_a_pattern_every_task_must_be_met(store: ReceiptStore) -> None:
    put(store, a_run(), a_run("error", task=SEND), a_run(task="hr/people/sync"))
    answer = check_upstream(Requirement("pay/*/*"), variables=OCTOBER, store=store, now=NOW)
    assert [(each.task, each.met) for each in answer.requirements] == [(CALC, True), (SEND, False)]
    assert answer.verdict is Verdict.FAIL
    assert answer.reason.startswith("1 of 2 requirements is not met. pay/monthly/send has not")
    put(store, a_run(task=SEND, ago=timedelta(minutes=5)))
    answer = check_upstream(Requirement("pay/*/*"), variables=OCTOBER, store=store, now=NOW)
    assert answer.verdict is Verdict.PASS
    assert len(answer.pins) == 2


def test_a_pattern_that_fits_no_task_is_unknown(store: ReceiptStore) -> None:
    put(store, a_run())
    found = ask(store, task="hr/*/*")
    assert say(found) == (Verdict.UNKNOWN, False)
    assert "fits hr/*/*" in found.reason


def test_several_requirements_fail_before_they_are_unknown_before_they_pass(
    store: ReceiptStore,
) -> None:
    put(store, a_run(), a_run("error", task=SEND))

    def verdict(*tasks: str) -> Verdict:
        return check_upstream(tasks, variables=OCTOBER, store=store, now=NOW).verdict

    assert verdict(CALC, CALC) is Verdict.PASS
    assert verdict(CALC, "hr/*/*") is Verdict.UNKNOWN
    assert verdict("hr/*/*", SEND, CALC) is Verdict.FAIL


def test_several_are_decided_once_one_of_them_has_failed_for_good(store: ReceiptStore) -> None:
    put(store, a_run("running"), a_run("skipped", task=SEND))
    answer = check_upstream([CALC, SEND], variables=OCTOBER, store=store, now=NOW)
    assert (answer.decided, answer.retryable) == (True, False)
    answer = check_upstream(CALC, variables=OCTOBER, store=store, now=NOW)
    assert (answer.decided, answer.retryable) == (False, True)


def test_what_is_missing_names_the_batch_the_newest_runs_and_what_to_try(
    store: ReceiptStore,
) -> None:
    ours = put(store, a_run("error", ago=2 * HOUR, error="KeyError: 'pay'\n  in line 7"))
    other = put(store, a_run(ago=HOUR, variables={"month": "2026-09"}))
    assert ask(store).reason == (
        f"{CALC} has not succeeded for month=2026-10: its newest run of this batch is "
        f"{ours.run_id} (error at 2026-10-15T04:01:00Z): KeyError: 'pay'. Its newest run of any "
        f"batch is {other.run_id} (success at 2026-10-15T05:01:00Z) for month=2026-09. Try: run "
        f"{CALC} again for month=2026-10; 'ubunye-runs show {ours.run_id}' tells more."
    )


def test_a_batch_that_never_ran_is_said_so(store: ReceiptStore) -> None:
    other = put(store, a_run(variables={"month": "2026-09"}))
    assert ask(store).reason == (
        f"{CALC} has not succeeded for month=2026-10: it has no run of this batch. Its newest run "
        f"of any batch is {other.run_id} (success at 2026-10-15T05:01:00Z) for month=2026-09. "
        f"Try: run {CALC} for month=2026-10, or wait for it ('wait: 2h')."
    )


@pytest.mark.parametrize(
    ("wanted", "theirs", "advice"),
    [
        (
            {"partition": "2026-10-01"},
            {"month": "2026-10"},
            f"That run has no variable partition. Try: name the batch as {CALC} does, by month.",
        ),
        (
            {"month": "2026-10", "region": "za"},
            {"month": "2026-10"},
            "That run has no variable region. Try: say which variables must agree, "
            f"'variables: [month]'; or record {CALC} with region.",
        ),
        (
            {"month": "2026-10", "region": "za"},
            {},
            "That run has no variable month and no variable region. Try: record "
            f"{CALC} with month, region; 'variables: []' asks for a success of any batch.",
        ),
    ],
)
def test_a_batch_that_the_upstream_names_otherwise_is_not_said_to_be_run(
    store: ReceiptStore, wanted: dict[str, str], theirs: dict[str, str], advice: str
) -> None:
    put(store, a_run(variables=theirs))
    answer = check_upstream(CALC, variables=wanted, store=store, now=NOW)
    assert answer.verdict is Verdict.FAIL
    assert answer.reason.endswith(advice)


def test_a_foreign_error_text_is_quoted_short_and_harmless(store: ReceiptStore) -> None:
    put(store, a_run("error", error="Boom \x1b[31m" + "x" * 5000 + "\nrow: 12345"))
    reason = ask(store).reason
    assert reason.isprintable()
    assert len(reason) < 900
    assert "12345" not in reason


@pytest.mark.parametrize("key", ["evidence", "tasks", "Task", "wait_for"])
def test_unknown_keys_are_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=f"'{key}' is not a known key"):
        Requirement.of({"task": CALC, key: "all"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "no 'task'"),
        (7, "not a requirement"),
        (None, "not a requirement"),
        ({"task": CALC, "wait": 7200}, "'wait'"),
        ({"task": CALC, "wait": "soon"}, "'wait'"),
        ({"task": CALC, "poll": "0s"}, "'poll' is zero"),
        ({"task": CALC, "max_age": "-1d"}, "'max_age'"),
        ({"task": CALC, "on_failed": "skip"}, "'on_failed'"),
        ({"task": CALC, "optional": "false"}, "'optional'"),
        ({"task": CALC, "allow_unknown": 1}, "'allow_unknown'"),
        ({"task": CALC, "variables": "month"}, "'variables'"),
        ({"task": CALC, "variables": 7}, "'variables'"),
        ({"task": CALC, "variables": [7]}, "name for a variable"),
        ({"task": CALC, "variables": [""]}, "name for a variable"),
    ],
)
def test_a_wrong_requirement_is_an_error_that_names_what_is_wrong(given: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_upstream([given], variables=OCTOBER, store=MemoryStore(), now=NOW)


@pytest.mark.parametrize("task", ["calc", "a/b", "a/b/c/d", "../x/y", "a/b/c\0", "", 7, "a//c"])
def test_a_name_that_is_no_task_is_refused(task: Any) -> None:
    with pytest.raises(InvalidNameError):
        check_upstream({"task": task}, variables=OCTOBER, store=MemoryStore(), now=NOW)


def test_nothing_required_is_an_error_and_no_open_gate() -> None:
    for nothing in ([], (), iter(())):
        with pytest.raises(ConfigError, match="Nothing is required"):
            check_upstream(nothing, variables=OCTOBER, store=MemoryStore(), now=NOW)
