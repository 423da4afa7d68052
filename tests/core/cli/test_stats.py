"""``stats``: the numbers that a notifier needs."""

from __future__ import annotations

import pytest

from tests.core.cli.conftest import json_of

CALC = "pay/monthly/calc"
NOW = ("--now", "2026-10-31T12:00:00Z")


@pytest.fixture
def a_month(keep):
    for hours in range(3, 21):
        keep("success", hours_ago=hours)
    keep("error", hours_ago=2)
    keep("running", hours_ago=1)


def test_each_task_has_a_line_of_numbers(ask, a_month, keep):
    keep("success", task="pay/monthly/send")
    answer = ask("stats", "pay/*/*", *NOW)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[1].split()[:4] == [CALC, "19", "18", "(94.7%)"]
    assert "5m" in lines[1]
    assert "1 running" in lines[1]
    assert "PASS  2 tasks: 19 of 20 runs of the last 30 days succeeded." in answer.out
    one = ask("stats", "pay/monthly/send", *NOW, "--days", "1")
    assert "1 of 1 run of the last day succeeded" in one.out


def test_the_document_has_what_a_notifier_needs(ask, a_month):
    found = json_of(ask("stats", CALC, *NOW, "--days", "2", "--json"), 0)
    assert found["since"] == "2026-10-29T12:00:00Z"
    (task,) = found["tasks"]
    wanted = {
        "task": CALC, "verdict": "PASS", "runs": 19, "succeeded": 18, "failed": 1, "running": 1,
        "success_rate": 18 / 19, "longest_failing_streak": 1, "trend": "unknown",
        "windows": 1, "windows_failed": 0, "windows_recovered": 1,
        "last_success_at": "2026-10-31T09:05:00Z",
        "durations": {"runs": 18, "p50": 300.0, "p95": 300.0, "longest": 300.0},
    }  # fmt: skip
    assert {name: task[name] for name in wanted} == wanted
    assert [day["failed"] for day in task["by_day"]] == [0, 1]


def test_what_is_unreadable_is_exit_3_and_named(ask, keep, damage):
    keep("success")
    file = damage()
    answer = ask("stats", CALC, *NOW)
    assert answer.code == 3
    assert str(file) in answer.out
    assert ask("stats", CALC, *NOW, "--json").document["unreadable"][0]["where"] == str(file)


def test_of_several_tasks_the_one_that_cannot_be_told_says_why(ask, keep, damage):
    keep("success")
    keep("success", task="pay/monthly/send")
    file = damage()
    answer = ask("stats", "pay/*/*", *NOW)
    assert answer.code == 3
    assert "Not all could be told of pay/monthly/calc." in answer.out
    assert str(file) in answer.out


def test_a_task_that_nobody_knows_is_exit_3(ask, keep):
    keep("success")
    answer = ask("stats", "pay/monthly/clac", *NOW)
    assert answer.code == 3
    assert "Did you mean pay/monthly/calc?" in answer.out


@pytest.mark.parametrize("words", [("--days", "0"), ("--days", "x"), ("--now", "never")])
def test_what_is_wrong_is_exit_2(ask, store, words):
    assert ask("stats", CALC, *words).code == 2
