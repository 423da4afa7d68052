"""Upstream: which run counts for which batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.core.questions.builders import CALC, DAY, HOUR, NOW, FourMethods, a_run, put
from ubunye_core import (
    ConfigError,
    ReceiptStore,
    Requirement,
    RequirementAnswer,
    Step,
    UpstreamAnswer,
    UpstreamNotMetError,
    Verdict,
    check_upstream,
    require,
)
from ubunye_core.stores import MemoryStore

OCTOBER = {"month": "2026-10"}


def ask(
    store: ReceiptStore, requirement: Any = CALC, variables: Mapping[str, object] = OCTOBER
) -> RequirementAnswer:
    answer = check_upstream(requirement, variables=variables, store=store, now=NOW)
    assert len(answer.requirements) == 1
    assert answer.verdict is answer.requirements[0].verdict
    assert answer.reason == answer.requirements[0].reason
    return answer.requirements[0]


def test_a_success_of_the_batch_meets_the_requirement(store: ReceiptStore) -> None:
    run = put(store, a_run(ago=9 * DAY))
    found = ask(store)
    assert (found.verdict, found.met, found.decided) == (Verdict.PASS, True, True)
    assert (found.satisfied_by, found.newest_run) == (run.run_id, run.run_id)
    assert found.batch == OCTOBER
    assert found.reason == (
        f"{CALC} succeeded for month=2026-10: run {run.run_id} at 2026-10-06T06:01:00Z."
    )


def test_a_success_of_another_batch_does_not(store: ReceiptStore) -> None:
    put(store, a_run(variables={"month": "2026-11"}))
    assert ask(store).verdict is Verdict.FAIL


@pytest.mark.parametrize("status", ["running", "error", "interrupted", "skipped"])
def test_only_a_success_meets_a_requirement(store: ReceiptStore, status: str) -> None:
    put(store, a_run(status))
    assert ask(store).verdict is Verdict.FAIL


def test_named_variables_must_agree_and_the_upstream_may_have_others(store: ReceiptStore) -> None:
    put(store, a_run(variables={"month": "2026-10", "region": "eu", "mode": "PROD"}))
    named = Requirement(CALC, variables=["month"])
    assert ask(store, named).met
    assert ask(store, named, {"month": "2026-10", "region": "us"}).met
    both = Requirement(CALC, variables=["month", "region"])
    assert not ask(store, both, {"month": "2026-10", "region": "us"}).met
    assert ask(store, both, {"month": "2026-10", "region": "eu"}).met


def test_a_variable_that_the_upstream_lacks_does_not_agree(store: ReceiptStore) -> None:
    put(store, a_run(variables={}))
    assert not ask(store, Requirement(CALC, variables=["month"])).met


def test_a_map_gives_the_values_itself(store: ReceiptStore) -> None:
    put(store, a_run())
    assert ask(store, Requirement(CALC, variables={"month": "2026-10"}), {}).met
    assert not ask(store, Requirement(CALC, variables={"month": "2026-11"})).met
    assert ask(store, {"task": CALC, "variables": {"month": "2026-10"}}, {"dt": "x"}).met


def test_mode_may_be_named_although_it_is_no_part_of_a_batch(store: ReceiptStore) -> None:
    put(store, a_run(variables={"month": "2026-10", "mode": "DEV"}))
    named = Requirement(CALC, variables=["month", "mode"])
    assert ask(store, named, {"month": "2026-10", "mode": "DEV"}).met
    assert not ask(store, named, {"month": "2026-10", "mode": "PROD"}).met


def test_left_out_the_whole_batches_must_be_equal(store: ReceiptStore) -> None:
    put(store, a_run(variables={"month": "2026-10", "region": "eu", "mode": "DEV", "dtf": "%Y"}))
    assert ask(store, CALC, {"month": "2026-10", "region": "eu", "mode": "PROD"}).met
    assert not ask(store, CALC, {"month": "2026-10", "region": "us"}).met
    assert not ask(store, CALC, {"month": "2026-10", "region": "eu", "dt": "1"}).met


def test_where_only_extra_variables_stand_in_the_way_the_refusal_offers_the_names(
    store: ReceiptStore,
) -> None:
    run = put(store, a_run(variables={"month": "2026-10", "region": "eu", "tier": "1"}))
    found = ask(store)
    assert found.verdict is Verdict.FAIL
    assert f"Run {run.run_id} succeeded with the further variables region, tier." in found.reason
    assert "'variables: [month]'" in found.reason


def test_a_success_that_is_too_old_is_not_offered(store: ReceiptStore) -> None:
    put(store, a_run(ago=9 * DAY, variables={"month": "2026-10", "region": "eu"}))
    assert "variables: [month]" not in ask(store, Requirement(CALC, max_age="1d")).reason


def test_an_empty_list_is_met_by_any_success(store: ReceiptStore) -> None:
    put(store, a_run(ago=2 * DAY, variables={"month": "2026-07"}))
    anything = Requirement(CALC, variables=[])
    assert ask(store, anything).met
    assert "for any batch" in ask(store, anything).reason
    assert ask(store, anything, {}).met
    assert not ask(store, Requirement(CALC, variables=[], max_age="1d")).met


def test_left_out_without_a_batch_is_an_error_that_says_what_to_write(store: ReceiptStore) -> None:
    put(store, a_run(variables={}))
    for variables in ({}, {"mode": "PROD", "dtf": "%Y"}, {"month": None}, {"api_token": "x"}):
        with pytest.raises(ConfigError, match=r"variables: \[\].*max_age"):
            check_upstream(CALC, variables=variables, store=store, now=NOW)
    with pytest.raises(ConfigError):
        check_upstream(CALC, store=store, now=NOW)


def test_a_listed_variable_that_this_run_lacks_is_an_error(store: ReceiptStore) -> None:
    with pytest.raises(ConfigError, match=r"'region'.*It has: month"):
        check_upstream(
            Requirement(CALC, variables=["region"]), variables=OCTOBER, store=store, now=NOW
        )
    with pytest.raises(ConfigError, match="'month'"):  # null is absent
        check_upstream(
            Requirement(CALC, variables=["month"]), variables={"month": None}, store=store, now=NOW
        )


@pytest.mark.parametrize(
    ("age", "met"), [("1h", False), ("119m", True), ("2h", True), ("40d", True)]
)
def test_the_success_must_be_as_recent_as_asked(store: ReceiptStore, age: str, met: bool) -> None:
    put(store, a_run(ago=2 * HOUR))  # it ended a minute after its start
    found = ask(store, Requirement(CALC, max_age=age))
    assert found.met is met
    if not met:
        assert "within the last 1h" in found.reason
        assert "which is too old" in found.reason


@pytest.mark.parametrize("status", ["running", "error", "interrupted", "skipped"])
def test_any_success_of_the_batch_counts_despite_a_later_rerun(
    store: ReceiptStore, status: str
) -> None:
    first = put(store, a_run(ago=2 * HOUR))
    later = put(store, a_run(status, ago=HOUR))
    found = ask(store, Requirement(CALC, on_failed="fail"))
    assert (found.verdict, found.satisfied_by) == (Verdict.PASS, first.run_id)
    assert found.newest_run == later.run_id
    assert f"A later run of the batch, {later.run_id} ({status}" in found.reason


def test_the_answer_says_when_the_modes_differ(store: ReceiptStore) -> None:
    put(store, a_run(variables={"month": "2026-10", "mode": "DEV"}))
    found = ask(store, CALC, {"month": "2026-10", "mode": "PROD"})
    assert found.met
    assert "It ran with mode=DEV; this run has mode=PROD." in found.reason
    assert "mode" not in ask(store, CALC, {"month": "2026-10", "mode": "DEV"}).reason
    assert "mode" not in ask(store).reason


def test_what_satisfied_it_is_pinned_with_its_hashes(store: ReceiptStore) -> None:
    adults = Step(name="adults", direction="output", data_hash="rows-v1:aa")
    other = Step(name="log", direction="output", hash_error="too large")
    run = put(store, a_run(outputs=(adults, other)))
    put(store, a_run("error", task="pay/monthly/tax"))
    answer = check_upstream(
        [CALC, {"task": "pay/monthly/tax", "optional": True}],
        variables=OCTOBER,
        store=store,
        now=NOW,
    )
    (pin,) = answer.pins
    assert (pin.task, pin.run_id) == (CALC, run.run_id)
    assert pin.data_hashes == {"adults": "rows-v1:aa", "log": None}


def test_a_store_of_four_methods_gives_the_same_answers(store: ReceiptStore) -> None:
    put(store, a_run(), a_run("error", variables={"month": "2026-09"}))
    for month in ("2026-10", "2026-09", "2026-08"):
        for task in (CALC, "pay/monthly/kalc"):
            asked = {"variables": {"month": month}, "now": NOW}
            theirs = check_upstream(task, store=FourMethods(store), **asked)  # type: ignore[arg-type]
            ours = check_upstream(task, store=store, **asked)  # type: ignore[arg-type]
            assert theirs.verdict is ours.verdict
            if task == CALC:
                assert theirs == ours


def test_a_met_requirement_is_one_look_at_the_store() -> None:
    counted = FourMethods(MemoryStore())
    put(counted, a_run())
    counted.calls.clear()
    assert ask(counted).met
    assert counted.calls == ["search any"]


def test_require_returns_the_answer_or_raises_it(store: ReceiptStore) -> None:
    put(store, a_run())
    answer = require(CALC, variables=OCTOBER, store=store, now=NOW)
    assert isinstance(answer, UpstreamAnswer)
    with pytest.raises(UpstreamNotMetError) as refused:
        require(CALC, variables={"month": "2026-11"}, store=store, now=NOW)
    assert refused.value.answer.verdict is Verdict.FAIL
    assert str(refused.value) == refused.value.answer.reason
