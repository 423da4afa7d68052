"""Errors of a command call an option by its name, and not by that of an argument in Python."""

from __future__ import annotations

import pytest

CALC = "pay/monthly/calc"
WAIT = ("wait-for", CALC, "--any-batch")
GATED = ("exec", CALC, "--var", "month=2026-10", "--require", "pay/in/people")
GUARDED = ("exec", CALC, "--var", "month=2026-10", "--guard", "--if-held", "wait")
ORDERED = ("may-run", CALC, "--var", "month=2026-10", "--ordered")


@pytest.mark.parametrize(
    ("words", "option", "value"),
    [
        (("health", CALC), "--max-age", "40 days"),
        (("health", CALC), "--stuck-after", "long"),
        (("health", CALC), "--failure-threshold", "0"),
        (WAIT, "--max-age", "40 days"),
        (WAIT, "--wait", "long"),
        (WAIT, "--poll", "long"),
        (WAIT, "--poll", "0s"),
        (WAIT, "--deadline", "soon"),
        (GATED, "--wait", "long"),
        (GATED, "--poll", "long"),
        (GATED, "--deadline", "soon"),
        (GUARDED, "--lease", "long"),
        (GUARDED, "--lease", "0s"),
        (GUARDED, "--wait", "long"),
        (GUARDED, "--poll", "long"),
        (GUARDED, "--deadline", "soon"),
        (("stats", CALC), "--days", "0"),
        (("stats", CALC), "--days", "9999"),
        (("calendar", "02:00"), "--takes", "long"),
        (("morning",), "--stuck-after", "long"),
        (ORDERED, "--every", "often"),
        (ORDERED, "--window", "year"),
    ],
)
def test_a_wrong_value_is_told_by_the_name_of_its_option(ask, store, words, option, value):
    end = ("--", "true") if words[0] == "exec" else ()
    answer = ask(*words, option, value, *end)
    assert answer.code == 2
    error = answer.err.split("Error: ", 1)[1]
    assert option in error
    assert value.split()[0] in error
    assert option.strip("-").replace("-", "_") not in error.replace(option, "")
    assert not list(store.tasks())
