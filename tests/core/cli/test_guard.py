"""``may-run`` and ``exec --guard``."""

from __future__ import annotations

import sys

from tests.core.cli.conftest import json_of
from ubunye_core import claim

CALC = "pay/monthly/calc"
OCTOBER = ("--var", "month=2026-10")


def test_a_batch_that_nobody_ran_may_run(ask, store, keep):
    keep("success", variables={"month": "2026-09"})
    assert ask("may-run", CALC, *OCTOBER).code == 0


def test_a_finished_batch_may_run_only_again(ask, keep):
    run = keep("success")
    found = json_of(ask("may-run", CALC, *OCTOBER, "--json"), 1)
    assert (found["finished_by"], found["held_by"]) == (run.run_id, None)
    assert found["batch"] == {"month": "2026-10"}
    assert ask("may-run", CALC, *OCTOBER, "--rerun").code == 0


def test_a_batch_that_is_run_is_named_with_who_runs_it(ask, store):
    assert claim(CALC, {"month": "2026-10"}, run_id="r-7", store=store)
    found = json_of(ask("may-run", CALC, *OCTOBER, "--json"), 1)
    assert found["held_by"] == "r-7"
    assert found["held_until"].endswith("Z")
    answer = ask("may-run", CALC, *OCTOBER)
    assert "r-7" in answer.out


def test_a_store_that_cannot_be_read_is_unknown(ask, tmp_path):
    assert ask("may-run", CALC, *OCTOBER, "--store", tmp_path / "gone").code == 3


def test_a_guarded_command_runs_once(shell, store):
    words = ("exec", CALC, *OCTOBER, "--guard", "--", sys.executable, "-c", "print('paid')")
    first, second = shell(*words), shell(*words)
    assert (first.code, first.out) == (0, "paid\n")
    assert (second.code, second.out) == (1, "")
    assert "has finished" in second.err
    again = shell("exec", CALC, *OCTOBER, "--guard", "--rerun", "--", "true")
    assert again.code == 0
    assert [run.status.value for run in store.list_runs(CALC)] == ["success", "skipped", "success"]


def test_a_guarded_command_waits_for_nobody(shell, store):
    assert claim(CALC, {"month": "2026-10"}, run_id="r-7", store=store)
    answer = shell("exec", CALC, *OCTOBER, "--guard", "--", "true")
    assert answer.code == 1
    assert "r-7" in answer.err


def test_how_to_guard_is_said_only_of_a_guard(ask, store):
    answer = ask("exec", CALC, *OCTOBER, "--rerun", "--", "true")
    assert answer.code == 2
    assert "--guard" in answer.err
