"""``--now``: an answer as of another instant says so, in text as in the document."""

from __future__ import annotations

import pytest

CALC = "pay/monthly/calc"
NIGHTLY = ("--cron", "0 2 * * *", "--window", "day")
ASKING = [
    ("health", CALC),
    ("health", "pay/*/*"),
    ("wait-for", CALC, "--var", "month=2026-10"),
    ("windows", CALC, *NIGHTLY),
    ("windows", CALC, *NIGHTLY, "--since", "1m"),
    ("plan", CALC, *NIGHTLY),
    ("stats", CALC),
    ("morning",),
    ("calendar", "02:00"),
    ("calendar", "--suggest"),
    ("may-run", CALC, "--var", "month=2026-10"),
    ("list", CALC),
    ("list", "pay/monthly/other"),
    ("search", "--triggered-by", "manual"),
]


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_an_answer_says_of_which_instant_it_is(ask, keep, words):
    keep(hours_ago=48)
    asked = ask(*words, "--now", "2026-10-31T06:00:00+07:00")
    lines = (asked.out + asked.err).splitlines()
    assert [line for line in lines if line.endswith("As of 2026-10-30T23:00:00Z.")]
    assert "As of" not in "".join(str(each) for each in vars(ask(*words)).values())
    document = ask(*words, "--now", "2026-10-31T06:00:00+07:00", "--json").document
    assert document["now"] == "2026-10-30T23:00:00Z"


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_what_is_no_instant_is_told_by_the_name_of_the_option(ask, store, words):
    answer = ask(*words, "--now", "yesterday")
    assert answer.code == 2
    assert "'yesterday' is not an instant for --now." in answer.err
