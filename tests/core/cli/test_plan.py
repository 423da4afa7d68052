"""``plan``: which missed windows can be caught up?"""

from __future__ import annotations

import pytest

from tests.core.cli.conftest import json_of

CALC = "pay/monthly/calc"
NIGHTLY = ("--cron", "0 2 * * *", "--time-zone", "Asia/Jakarta", "--window", "day")
ASKED = (*NIGHTLY, "--variable", "dt", "--since", "4d", "--now", "2026-10-31T12:00:00Z")


@pytest.fixture
def a_night(keep):
    keep("success", hours_ago=65, variables={"dt": "2026-10-28"})


def test_the_windows_to_run_are_listed_oldest_first(ask, a_night):
    answer = ask("plan", CALC, *ASKED)
    assert answer.code == 0
    lines = [line.split()[:2] for line in answer.out.splitlines()]
    assert lines[1:3] == [["2026-10-27", "run"], ["2026-10-29", "run"]]
    assert "2 to run" in answer.out


def test_the_table_says_what_starts_now(ask, a_night):
    answer = ask("plan", CALC, *ASKED, "--cap", "1")
    assert [line.split()[:3] for line in answer.out.splitlines()[1:3]] == [
        ["2026-10-27", "run", "yes"],
        ["2026-10-29", "run", "-"],
    ]


def test_the_document_says_what_to_start_and_with_what(ask, a_night):
    found = json_of(ask("plan", CALC, *ASKED, "--cap", "1", "--json"), 0)
    first, second = found["windows"]
    assert (first["action"], first["starts_now"]) == ("run", True)
    assert first["variables"] == {"dt": "2026-10-27"}
    assert second["starts_now"] is False


def test_what_the_source_does_not_keep_is_too_old(ask, a_night):
    found = json_of(ask("plan", CALC, *ASKED, "--retention", "3d", "--json"), 0)
    assert [each["action"] for each in found["windows"]] == ["too_old", "run"]


def test_what_the_task_requires_blocks_its_windows(ask, a_night, folder):
    (folder / "receipts.yaml").write_text(
        "schedule: {cron: 0 2 * * *, time_zone: Asia/Jakarta, window: day, variable: dt}\n"
        "requires: [pay/in/people]\n"
    )
    asked = ("--config", folder, "--since", "4d", "--now", "2026-10-31T12:00:00Z", "--json")
    found = json_of(ask("plan", CALC, *asked), 0)
    assert {each["action"] for each in found["windows"]} == {"blocked"}
    assert "pay/in/people" in found["windows"][0]["reason"]


@pytest.mark.parametrize(
    "words",
    [
        ("--include", "some"),
        ("--catchup", "some"),
        ("--cap", "0"),
        ("--max-runs", "0"),
        ("--backfill-limit", "-2"),
        ("--recheck-days", "-1"),
        ("--retention", "long"),
        ("--stuck-after", "long"),
        ("--since", "2026-11-01"),
    ],
)
def test_what_is_wrong_is_named(ask, store, words):
    answer = ask("plan", CALC, *ASKED, *words)
    assert answer.code == 2
    assert words[0] in answer.err


@pytest.mark.parametrize(
    ("words", "forms"),
    [
        (("plan", CALC, *NIGHTLY, "--since", "yesterday"), "14d, 2026-10-15 or 2026-10-15T06"),
        (("list", CALC, "--since", "yesterday"), "14d, 2026-10-15 or 2026-10-15T06"),
    ],
)
def test_what_since_may_be_is_told_with_all_its_forms(ask, store, words, forms):
    answer = ask(*words)
    assert answer.code == 2
    assert f"Write it as {forms}:00:00Z." in answer.err


def test_a_store_that_cannot_be_read_is_unknown(ask, tmp_path):
    found = json_of(ask("plan", CALC, *ASKED, "--store", tmp_path / "gone", "--json"), 3)
    assert found["windows"] == []


NIGHTLY_YAML = "schedule: {cron: 0 2 * * *, time_zone: Asia/Jakarta, window: day, variable: dt}\n"
SEND, OTHER = "pay/monthly/send", "pay/monthly/other"
AT_NOON = ("--since", "4d", "--now", "2026-10-31T12:00:00Z")


@pytest.fixture
def tasks(folder):
    """A folder with three tasks: one requires the other, and the third has no schedule."""
    more = {CALC: NIGHTLY_YAML, SEND: f"{NIGHTLY_YAML}requires: [{CALC}]\n", OTHER: "owner: x\n"}
    for task, text in more.items():
        (folder / "tasks" / task).mkdir(parents=True)
        (folder / "tasks" / task / "receipts.yaml").write_text(text)
    return folder / "tasks"


@pytest.mark.parametrize("names", [(), ("pay/*/*",), (SEND, CALC)])
def test_several_tasks_have_one_plan_in_which_one_waits_for_the_other(ask, a_night, tasks, names):
    found = json_of(ask("plan", *names, "--config", tasks, *AT_NOON, "--json"), 0)
    assert [(each["task"], each["name"]) for each in found["windows"]] == [
        (CALC, "2026-10-27"),
        (SEND, "2026-10-27"),
        (SEND, "2026-10-28"),
        (CALC, "2026-10-29"),
        (SEND, "2026-10-29"),
    ]
    assert [each["after"] for each in found["windows"]] == [
        [],
        [f"{CALC} 2026-10-27"],
        [],
        [],
        [f"{CALC} 2026-10-29"],
    ]
    shown = ask("plan", *names, "--config", tasks, *AT_NOON).out.splitlines()
    assert shown[0].split()[:3] == ["task", "window", "action"]
    assert shown[1].split()[:3] == [CALC, "2026-10-27", "run"]


def test_one_task_of_a_folder_is_planned_as_by_its_own_file(ask, a_night, tasks):
    for asked in ((*AT_NOON, "--json"), AT_NOON):
        by_folder = ask("plan", CALC, "--config", tasks, *asked)
        assert by_folder.code == 0
        assert by_folder == ask("plan", CALC, "--config", tasks / CALC, *asked)
    assert by_folder.out.split()[:2] == ["window", "action"]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("pay/monthly/sedn",), "no schedule of pay/monthly/sedn. Did you mean pay/monthly/send?"),
        ((CALC, OTHER), "no schedule of pay/monthly/other. Write 'schedule'"),
        (("shop/*/*",), "no schedule of shop/*/*"),
        ((CALC, "--every", "6h"), "--every"),
    ],
)
def test_a_task_that_the_folder_does_not_know_is_named(ask, store, tasks, names, told):
    answer = ask("plan", *names, "--config", tasks)
    assert answer.code == 2
    assert told in answer.err


@pytest.mark.parametrize("names", [(), (CALC, SEND), ("pay/*/*",)])
def test_without_files_a_plan_is_of_one_task(ask, store, names):
    answer = ask("plan", *names, *NIGHTLY)
    assert answer.code == 2
    assert "--config" in answer.err


def test_a_file_of_one_task_is_not_of_several(ask, store, tasks):
    answer = ask("plan", CALC, SEND, "--config", tasks / CALC)
    assert answer.code == 2
    assert "of one task" in answer.err


def test_where_nothing_is_due_the_store_is_looked_at(ask, tmp_path, keep):
    keep()
    asked = ("plan", "pay/monthly/clc", *NIGHTLY, "--since", "1m", "--now", "2026-10-31T12:00:00Z")
    answer = ask(*asked)
    assert answer.code == 0
    assert "Nothing is to be caught up. pay/monthly/clc has never run" in answer.out
    assert "Did you mean pay/monthly/calc?" in answer.out
    found = json_of(ask(*asked, "--store", tmp_path / "gone", "--json"), 3)
    assert (found["verdict"], found["windows"], len(found["unreadable"])) == ("UNKNOWN", [], 1)


def test_a_wrong_file_hides_no_other_task_and_is_named_where_its_task_is_planned(
    ask, a_night, tasks
):
    (tasks / OTHER / "receipts.yaml").write_text("schedule: {cron: sometimes}\n")
    assert ask("plan", CALC, SEND, "--config", tasks, *AT_NOON).code == 0
    for names in ((), (OTHER,)):
        answer = ask("plan", *names, "--config", tasks, *AT_NOON)
        assert answer.code == 2
        assert f"{OTHER}/receipts.yaml" in answer.err


def test_a_folder_in_which_no_task_has_a_schedule_is_named(ask, store, folder):
    (folder / "tasks" / OTHER).mkdir(parents=True)
    (folder / "tasks" / OTHER / "receipts.yaml").write_text("owner: x\n")
    answer = ask("plan", "--config", folder / "tasks")
    assert answer.code == 2
    assert "tasks has no schedule. Write 'schedule' into the receipts.yaml of a task." in answer.err
