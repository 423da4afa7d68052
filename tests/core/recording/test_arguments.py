"""Arguments of ``record_run`` that are of another kind than they should be."""

from __future__ import annotations

from typing import Any

import pytest

from ubunye_core import Batch, ConfigError, Schedule, record_run

TASK = "pay/monthly/calc"
IN_ORDER = {"guard": True, "ordered": True}
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
