"""Arguments of ``record_run`` that are of another kind than they should be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ubunye_core import Batch, ConfigError, Schedule, TriggeredBy, record_run
from ubunye_core.stores import MemoryStore

TASK = "pay/monthly/calc"
IN_ORDER = {"guard": True, "ordered": True}
BY_ANN = TriggeredBy(kind="manual", actor="ann")
DAILY = Schedule(cron="0 2 * * *", start="2026-10-01T00:00:00Z")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"code": 5}, "'code' is of type int. Give a path."),
        ({"code": b"calc.py"}, "'code' is of type bytes. Give a path."),
        ({"reason": 5}, "'reason' is of type int. Give text."),
        ({"scheduled": "no"}, "'scheduled' is 'no', not true or false."),
        ({"overrides": 5}, "'overrides' is of type int. Give overrides_of(...)."),
        ({"window": "2026-10"}, "'window' is of type str. Give a Window."),
        ({"how_it_ended": "error"}, "'how_it_ended' is of type str. Give a function."),
        ({"triggered_by": BY_ANN, "scheduled": "no"}, "'scheduled' is 'no', not true or false."),
        ({"triggered_by": BY_ANN, "reason": 5}, "'reason' is of type int. Give text."),
        ({"triggered_by": "ann"}, "'triggered_by' is of type str. Give a TriggeredBy."),
        ({"guard": True, "lease": False}, "False is not a length of time for lease."),
        ({"guard": True, "if_held": "wait", "wait": False}, "False is not a length of time for w"),
        ({"guard": True, "if_held": "wait", "poll": False}, "False is not a length of time for p"),
        ({"guard": True, "if_held": ""}, "'' is nothing for 'if_held'. Use fail, skip, wait."),
        ({"guard": True, "if_held": False}, "False is nothing for 'if_held'. Use fail, skip, wait"),
        ({"lease": False}, "'lease': that is how to guard. Give guard=True, too."),
        (
            {**IN_ORDER, "schedule": 5},
            "'schedule' or a version of it is of type int. Give Schedule(cron='0 2 * * *', ",
        ),
        (
            {**IN_ORDER, "schedule": "0 2 * * *"},
            "'schedule' or a version of it is of type str. Give Schedule(cron=",
        ),
        (
            {**IN_ORDER, "schedule": [DAILY, 5]},
            "'schedule' or a version of it is of type int. Give Schedule(cron=",
        ),
    ],
    ids=lambda each: ascii(each)[:40],
)
def test_an_argument_of_another_kind_says_what_to_give(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        record_run(TASK, **wrong)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("wrong", ["dt", 5, None, ["dt"]])
def test_a_batch_of_no_names_and_values_says_what_to_use(wrong: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"^'variables' is of type \w+\. Use names and values: \{"
    ):
        Batch.of(wrong)


def test_a_reason_stands_beside_who_started_it_whose_own_reason_wins() -> None:
    own = replace(BY_ANN, reason="a late file")
    for by, reason in ((BY_ANN, "a new rate"), (own, "a late file")):
        store = MemoryStore(f"reason of {by.reason}")
        with record_run(TASK, store=store, triggered_by=by, reason="a new rate"):
            pass
        (run,) = store.search(TASK)
        assert run.triggered_by == replace(BY_ANN, reason=reason)


def test_what_is_not_asked_for_may_be_said_without_a_guard() -> None:
    record_run(TASK, store=MemoryStore("no"), rerun=False, ordered=False, lease=None, if_held=None)


def test_a_number_that_python_does_not_write_is_no_value_of_a_variable() -> None:
    with pytest.raises(ConfigError, match=r"^The variable 'rows' is too large a number\.$"):
        record_run(TASK, store=MemoryStore("large"), variables={"rows": 10**5000})
