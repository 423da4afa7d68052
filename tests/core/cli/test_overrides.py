"""``show`` tells which arguments of a run were not the usual ones."""

from __future__ import annotations

from ubunye_core import overrides_of


def test_show_tells_what_was_given_instead(ask, keep):
    changed = overrides_of({"limit": 100, "api_key": "one"}, {"limit": 5, "api_key": "another"})
    run = keep("success", overrides=changed)
    answer = ask("show", run.run_id)
    assert answer.code == 0
    title, columns, *rows = answer.out.partition("Overrides")[2].strip("\n").splitlines()[:4]
    told = [line.split() for line in (title, columns, *rows)]
    assert ["limit", "100", "5"] in told
    assert ["api_key", "***", "***"] in told


def test_show_says_nothing_of_a_run_as_usual(ask, keep):
    assert "Overrides" not in ask("show", keep("success").run_id).out
