"""``may-run`` and ``exec --guard``."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.core.cli.conftest import json_of
from ubunye_core import claim

CALC = "pay/monthly/calc"
OCTOBER = ("--var", "month=2026-10")


def test_a_batch_that_nobody_ran_may_run(ask, store, keep):
    keep("success", variables={"month": "2026-09"})
    answer = ask("may-run", CALC, *OCTOBER)
    assert (answer.code, answer.out) == (0, f"PASS  {CALC} may run for month=2026-10.\n")


def test_a_task_that_never_ran_may_run_and_names_like_it_are_told(ask, keep):
    keep("success")
    answer = ask("may-run", "pay/monthly/clac", *OCTOBER)
    assert answer.code == 0
    assert f"has never run, as far as the store knows. Did you mean {CALC}?" in answer.out
    assert "Did you mean" not in ask("may-run", "stock/daily/count").out


def test_a_batch_of_other_variables_may_run_and_the_usual_ones_are_told(ask, keep):
    keep("success", run_id="r-1")
    answer = ask("may-run", CALC, "--var", "mnth=2026-10")
    assert answer.code == 0
    assert "But the newest run of the task, r-1, names its batch by month." in answer.out
    assert "names its batch by month" in ask("may-run", CALC).out
    assert "But" not in ask("may-run", CALC, "--var", "month=2026-11").out


def test_a_run_without_a_guard_does_not_keep_a_batch_and_is_told(ask, keep):
    keep("running", run_id="r-2")
    answer = ask("may-run", CALC, *OCTOBER)
    assert answer.code == 0
    assert "But run r-2 of it says that it is running, and holds no claim." in answer.out
    assert "But" not in ask("may-run", CALC, "--var", "month=2026-11").out


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


SCHEDULE = """
schedule: {cron: 0 2 1 * *, window: month, variable: month, start: 2026-08-31T00:00Z}
"""


@pytest.fixture
def task_file(tmp_path):
    def write(text):
        path = tmp_path / "receipts.yaml"
        path.write_text(text)
        return path

    return write


def test_a_held_batch_can_be_skipped_quietly(shell, store):
    assert claim(CALC, {"month": "2026-10"}, run_id="r-7", store=store)
    answer = shell("exec", CALC, *OCTOBER, "--guard", "--if-held", "skip", "--", "echo", "paid")
    assert (answer.code, answer.out) == (0, "")
    assert "r-7" in answer.err
    assert "This run is skipped." in answer.err
    assert [run.outcome for run in store.list_runs(CALC)] == ["refused"]


def test_a_held_batch_can_be_waited_for(begin, store):
    held = claim(CALC, {"month": "2026-10"}, run_id="r-7", store=store)
    words = ("exec", CALC, *OCTOBER, "--guard", "--if-held", "wait", "--wait", "60s", "--poll")
    waiting = begin(*words, "1s", "--", "echo", "paid")
    line = waiting.stderr.readline()
    assert "by run r-7" in line
    assert "Waiting until" in line
    store.release(held)
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out) == (0, "paid\n"), err


def test_a_wait_for_a_held_batch_can_be_stopped(begin, store):
    assert claim(CALC, {"month": "2026-10"}, run_id="r-7", store=store)
    waiting = begin("exec", CALC, *OCTOBER, "--guard", "--if-held", "wait", "--", "echo", "paid")
    waiting.stderr.readline()
    waiting.send_signal(signal.SIGTERM)
    out, _ = waiting.communicate(timeout=60)
    assert (waiting.returncode, out) == (143, "")
    assert [run.status.value for run in store.list_runs(CALC)] == ["interrupted"]


def test_a_wait_for_a_held_batch_ends(shell, store):
    assert claim(CALC, {"month": "2026-10"}, run_id="r-7", store=store)
    words = ("exec", CALC, *OCTOBER, "--guard", "--if-held", "wait", "--deadline")
    answer = shell(*words, "2026-10-15T06:00:00Z", "--", "true")
    assert answer.code == 1
    assert "until 2026-10-15T06:00:00Z" in answer.err


def test_what_is_waited_for_must_be_said(ask, store):
    answer = ask("exec", CALC, *OCTOBER, "--guard", "--wait", "1h", "--", "true")
    assert answer.code == 2
    assert "--if-held wait" in answer.err


def test_a_window_is_refused_before_the_one_before_it(ask, keep, task_file):
    path = task_file("policy: {ordered: true}" + SCHEDULE)
    words = ("may-run", CALC, "--var", "month=2026-09", "--config", path)
    found = json_of(ask(*words, "--json"), 1)
    assert found["before"] == {"name": "2026-08", "state": "missing", "runs": []}
    run = keep("success", variables={"month": "2026-08"})
    found = json_of(ask(*words, "--json"), 0)
    assert found["before"]["runs"] == [run.run_id]


def test_an_order_can_be_asked_for_by_options(ask, store, task_file):
    path = task_file(SCHEDULE)
    words = ("may-run", CALC, "--var", "month=2026-09")
    assert ask(*words, "--config", path).code == 0
    assert ask(*words, "--config", path, "--ordered").code == 1
    by_options = ("--cron", "0 2 1 * *", "--window", "month", "--variable", "month")
    answer = ask(*words, *by_options, "--ordered")
    assert answer.code == 2
    assert "start" in answer.err  # which only a file says
    answer = ask(*words, *by_options)
    assert answer.code == 2
    assert "--ordered" in answer.err


def test_a_file_that_only_says_the_schedule_is_enough_to_run_in_its_order(shell, store, task_file):
    path = task_file(SCHEDULE)
    words = ("exec", CALC, "--guard", "--ordered", "--config", path, "--var")
    assert shell(*words, "month=2026-09", "--", "true").code == 1
    assert shell(*words, "month=2026-08", "--", "true").code == 0
    assert shell(*words, "month=2026-09", "--", "true").code == 0


def test_a_file_without_requirements_is_no_gate_and_a_guard_stands_all_the_same(
    shell, store, task_file
):
    words = ("exec", CALC, *OCTOBER, "--guard", "--config", task_file(SCHEDULE), "--", "true")
    answer = shell(*words)
    assert (answer.code, len(store.list_runs(CALC))) == (0, 1)
    assert "requires nothing, so this run has no gate" in answer.err
    assert shell(*words).code == 1


def test_an_order_that_nothing_says_is_a_usage_error(ask, store, task_file):
    answer = ask("exec", CALC, *OCTOBER, "--guard", "--ordered", "--", "true")
    assert answer.code == 2
    assert "--config" in answer.err
    path = task_file("policy: {ordered: true}\nschedule: {cron: 0 2 1 * *, variable: month}\n")
    answer = ask("exec", CALC, *OCTOBER, "--config", path, "--", "true")
    assert answer.code == 2
    assert "start" in answer.err
    assert list(store.list_runs(CALC)) == []


def test_exec_goes_by_the_policy_of_the_task(shell, store, task_file):
    path = task_file("policy: {ordered: true, require_reason: true}" + SCHEDULE)

    def run(month, *words):
        return shell(
            "exec", CALC, "--var", f"month={month}", "--config", path, *words, "--", "true"
        )

    unsaid = run("2026-08")
    assert unsaid.code == 1
    assert "wants a reason" in unsaid.err
    assert run("2026-09", "--scheduled").code == 1
    assert run("2026-08", "--reason", "the first of all").code == 0
    assert run("2026-09", "--scheduled").code == 0
    assert run("2026-09", "--scheduled").code == 1  # it has finished
    assert run("2026-09", "--scheduled", "--rerun").code == 0
    outcomes = [found.outcome for found in store.list_runs(CALC)]
    assert outcomes == [None, "refused", None, None, "refused", "refused"]


def test_a_policy_and_requirements_may_be_given_in_one_file(shell, store, task_file, keep):
    path = task_file("policy: {if_held: wait, poll: 1s}\nrequires: [{task: pay/monthly/people}]\n")
    words = ("exec", CALC, *OCTOBER, "--config", path, "--wait", "1s", "--", "true")
    assert shell(*words).code == 1
    keep(task="pay/monthly/people")
    assert shell(*words).code == 0


def test_a_requirement_may_stand_beside_a_file_with_a_policy_alone(shell, task_file, keep, store):
    path = task_file("policy: {guard: true}\n")
    words = ("exec", CALC, *OCTOBER, "--config", path, "--require", "pay/monthly/people")
    assert shell(*words, "--", "true").code == 1
    keep(task="pay/monthly/people")
    assert shell(*words, "--", "true").code == 0
