"""``health``: the exit code is the answer, and the table and the document say the same."""

from __future__ import annotations

import pytest

NOW = "2026-10-31T12:00:00Z"
FIELDS = {
    "task",
    "verdict",
    "reason",
    "last_status",
    "last_success_at",
    "consecutive_failures",
    "stuck",
    "stale",
}


def test_a_healthy_task_is_exit_0_with_its_last_success(ask, keep):
    keep("success")
    answer = ask("health", "pay/monthly/calc", "--now", NOW)
    assert answer.code == 0
    assert "PASS" in answer.out
    assert "2026-10-31T11:05:00Z" in answer.out


def test_a_failing_task_is_exit_1(ask, keep):
    keep("success", hours_ago=2)
    keep("error", error="ValueError: no IBAN")
    answer = ask("health", "pay/monthly/calc", "--now", NOW)
    assert answer.code == 1
    assert "ValueError: no IBAN" in answer.out


def test_a_task_that_never_ran_is_exit_3(ask, store):
    answer = ask("health", "pay/monthly/calc", "--now", NOW)
    assert answer.code == 3
    assert "has never run" in answer.out


def test_a_task_that_never_ran_and_should_be_fresh_is_exit_1(ask, store):
    assert ask("health", "pay/monthly/calc", "--now", NOW, "--max-age", "1d").code == 1


def test_stale_data_fails_the_job_with_exit_1(ask, keep):
    keep("success", hours_ago=49)
    assert ask("health", "pay/monthly/calc", "--now", NOW, "--max-age", "2d").code == 1
    assert ask("health", "pay/monthly/calc", "--now", NOW, "--max-age", "3d").code == 0


def test_three_failures_are_tolerated_where_the_threshold_is_three(ask, keep):
    for hours in (2, 1):
        keep("error", hours_ago=hours)
    words = ("health", "pay/monthly/calc", "--now", NOW, "--failure-threshold", 3)
    assert ask(*words).code == 0
    keep("error", hours_ago=0.5)
    assert ask(*words).code == 1


def test_a_silent_run_is_stuck_after_the_time_given(ask, keep):
    stuck = keep("running", hours_ago=3, host="worker-7")
    assert ask("health", "pay/monthly/calc", "--now", NOW).code == 0
    answer = ask("health", "pay/monthly/calc", "--now", NOW, "--stuck-after", "2h")
    assert answer.code == 1
    assert stuck.run_id in answer.out
    assert "worker-7" in answer.out
    assert "3h" in answer.out


def test_what_to_try_about_a_stuck_run_is_one_line_after_the_table(ask, keep):
    words = ("health", "pay/*/*", "--now", NOW)
    keep("success", task="pay/monthly/send")
    assert "Try:" not in ask(*words).out
    stuck = keep("running", hours_ago=9).run_id
    tries = [line for line in ask(*words).out.splitlines() if line.startswith("Try:")]
    assert tries == [f"Try: 'ubunye-runs close {stuck} --reason TEXT', if it is dead."]
    keep("running", hours_ago=8, task="pay/monthly/tax")
    tries = [line for line in ask(*words).out.splitlines() if line.startswith("Try:")]
    assert tries == ["Try: 'ubunye-runs close RUN --reason TEXT', if a stuck run is dead."]


def test_the_document_has_the_agreed_fields(ask, keep, store):
    keep("success", hours_ago=2)
    failed = keep("error")
    answer = ask("health", "pay/monthly/calc", "--now", NOW, "--json")
    found = answer.document
    assert answer.code == 1
    assert set(found) == {
        "verdict",
        "exit_code",
        "reason",
        "now",
        "store",
        "unreadable",
        "tasks",
    }
    assert (found["verdict"], found["exit_code"], found["now"]) == ("FAIL", 1, NOW)
    assert found["store"] == store.url
    assert found["unreadable"] == []
    (task,) = found["tasks"]
    assert set(task) == FIELDS
    assert task["last_success_at"] == "2026-10-31T10:05:00Z"
    assert (task["last_status"], task["consecutive_failures"]) == ("error", 1)
    assert failed.run_id in task["reason"]
    assert (task["stuck"], task["stale"]) == ([], False)


def test_a_pattern_asks_about_every_task_that_fits(ask, keep):
    keep("success")
    keep("error", task="pay/monthly/send")
    keep("error", task="retail/daily/orders")
    answer = ask("health", "pay/*/*", "--now", NOW, "--json")
    assert answer.code == 1
    assert [each["task"] for each in answer.document["tasks"]] == [
        "pay/monthly/calc",
        "pay/monthly/send",
    ]


def test_a_pattern_that_fits_no_task_is_unknown(ask, keep):
    keep("success")
    assert ask("health", "nobody/*/*", "--now", NOW).code == 3


def test_a_damaged_receipt_that_may_be_the_newest_is_exit_3_and_named(ask, keep, damage):
    keep("success")
    file = damage()
    answer = ask("health", "pay/monthly/calc", "--now", NOW, "--json")
    assert answer.code == 3
    assert answer.document["verdict"] == "UNKNOWN"
    assert [bad["where"] for bad in answer.document["unreadable"]] == [str(file)]
    assert "whole JSON" in answer.document["unreadable"][0]["why"]


def test_what_is_unreadable_is_told_once(ask, keep, damage):
    keep("success")
    keep("success", task="pay/monthly/send")
    files = [damage(), damage(run_id="broken-too"), damage(task="pay/monthly/send")]
    one = ask("health", "pay/monthly/send", "--now", NOW)
    assert (one.code, one.err) == (3, "")
    answer = ask("health", "pay/*/*", "--now", NOW)
    told = answer.out + answer.err
    assert answer.code == 3
    assert [told.count(f"{file}:") for file in files] == [1, 1, 1]
    assert answer.err.count("Unreadable:") == 1


def test_a_store_that_cannot_answer_is_told_once(ask, tmp_path):
    for words in (("health", "pay/monthly/calc"), ("wait-for", "pay/monthly/calc", "--any-batch")):
        answer = ask(*words, "--store", tmp_path / "nowhere")
        assert (answer.code, answer.err) == (3, "")
        assert answer.out.count("does not exist") == 1


def test_a_damaged_receipt_of_another_task_changes_nothing(ask, keep, damage):
    keep("success")
    damage(task="pay/monthly/send")
    assert ask("health", "pay/monthly/calc", "--now", NOW).code == 0


def test_a_store_that_is_not_there_is_exit_3(ask, tmp_path):
    answer = ask("health", "pay/monthly/calc", "--store", tmp_path / "nowhere", "--json")
    assert answer.code == 3
    assert "does not exist" in answer.document["reason"]


def test_an_instant_in_the_past_is_answered_as_it_looked_then(ask, keep):
    keep("success", hours_ago=5)
    keep("error", hours_ago=1)
    assert ask("health", "pay/monthly/calc", "--now", NOW).code == 1
    assert ask("health", "pay/monthly/calc", "--now", "2026-10-31T10:00:00Z").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("health",),
        ("health", "pay/calc"),
        ("health", "../pay/calc/x"),
        ("health", "pay/monthly/calc", "--now", "yesterday"),
        ("health", "pay/monthly/calc", "--now", "2026-10-31"),
        ("health", "pay/monthly/calc", "--max-age", "long"),
        ("health", "pay/monthly/calc", "--stuck-after", "2 moons"),
        ("health", "pay/monthly/calc", "--failure-threshold", "0"),
        ("health", "pay/monthly/calc", "--failure-threshold", "many"),
        ("health", "pay/monthly/calc", "--colour"),
    ],
)
def test_wrong_usage_is_exit_2_and_never_an_answer(ask, store, words):
    answer = ask(*words)
    assert answer.code == 2
    assert "Error:" in answer.err
    assert answer.out == ""
    assert "Traceback" not in answer.err


def test_a_misspelt_task_is_told_of_with_names_that_are_near(ask, keep):
    keep("success")
    for more in ((), ("--max-age", "1d")):
        answer = ask("health", "pay/monthly/clac", *more)
        assert answer.code == (1 if more else 3)
        assert "Did you mean pay/monthly/calc?" in answer.out
