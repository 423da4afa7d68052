"""``morning``: what needs somebody, on one screen."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.core.cli.conftest import json_of
from tests.core.cli.test_terminal import on_a_terminal
from tests.core.upkeep.ledger.builders import LOAD, a_line, the_morning, write

SCHEDULE = "schedule: {cron: 0 2 * * *, time_zone: Asia/Jakarta, window: day, variable: dt}\n"
IMPORT = ("--task", LOAD, "--time-zone", "Asia/Jakarta", "--variable", "dt")
AT_SIX = ("--since", "2026-10-09T12:00:00Z", "--now", "2026-10-15T06:00:00+07:00")
BY_SARI = "sari@toko.example (manual, alasan: sumber terlambat)"
CLASSIC = {
    "2026-10-11": ("missing", "run", []),
    "2026-10-12": ("missing", "run", []),
    "2026-10-13": ("failed", "run", ["r-841"]),
    "2026-10-14": ("running", "skip", ["r-850"]),
}


@pytest.fixture
def tasks(folder):
    """A folder with the schedule of one task."""
    place = folder / "tasks" / LOAD
    place.mkdir(parents=True)
    (place / "receipts.yaml").write_text(SCHEDULE)
    return folder / "tasks"


@pytest.fixture
def classic(ask, store, tasks, folder):
    """Four records of a nightly job, in the store."""
    ask("import-ledger", write(folder / "l.jsonl", *the_morning()), *IMPORT)
    return tasks


def windows(task) -> dict[str, tuple[str, str | None, list[str]]]:
    return {each["name"]: (each["state"], each["action"], each["runs"]) for each in task["windows"]}


@pytest.mark.parametrize("kind", ["file", "sqlite", "memory"])
def test_the_classic_morning_is_told_from_any_store(ask, tasks, folder, tmp_path, kind):
    place = {
        "file": tmp_path / "receipts",
        "sqlite": f"sqlite:///{tmp_path}/r.db",
        "memory": "memory://classic-morning",
    }[kind]
    ask("import-ledger", write(folder / "l.jsonl", *the_morning()), *IMPORT, "--store", place)
    asked = ("morning", "--config", tasks, *AT_SIX, "--retention", "30d", "--store", place)
    found = json_of(ask(*asked, "--json"), 1)
    (task,) = found["tasks"]
    assert windows(task) == CLASSIC
    assert (found["verdict"], task["verdict"], task["health"]["verdict"]) == ("FAIL",) * 3
    assert "sumber kosong" in task["reason"]
    assert (task["stats"]["runs"], task["stats"]["success_rate"]) == (3, 2 / 3)
    assert task["stats"]["durations"]["p95"] == 42 * 60
    assert (task["by_hand"], task["untold"], found["unreadable"]) == ([], 0, [])
    assert found["since"] == "2026-10-09T12:00:00Z"
    shown = ask(*asked)
    assert shown.code == 1
    assert shown.out.startswith("FAIL  1 of 1 task needs somebody: shop/orders/daily.")


def test_one_screen_has_first_what_needs_somebody_and_last_what_is_well(ask, classic, keep):
    keep(task="shop/stock/daily", hours_ago=17 * 24 + 11)
    answer = ask("morning", LOAD, "shop/stock/*", "--config", classic, *AT_SIX)
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 24
    assert lines[0].startswith("FAIL  1 of 2 tasks needs somebody: shop/orders/daily.")
    assert not any(line.endswith(" ") for line in lines)
    text = re.sub(r"\s+", " ", answer.out)
    for words in (
        "shop/orders/daily FAIL FAIL 66.6% of 3 runs 42m",
        "run r-841",
        "2026-10-11 to 2026-10-12 2 missing run",
        "2026-10-13 1 failed run",
        "2026-10-14 1 running under way",
        "r-850 has been under way for 4h, since 2026-10-14T19:00:00Z",
        "No run by hand is on record since 2026-10-09T12:00:00Z.",
        "1 run does not say who or what started it.",
    ):
        assert words in text
    assert lines[-2] == "Well (1): shop/stock/daily (100% of 1 run, p95 5m)."
    assert lines[-1] == (
        "No schedule is known, so nothing is told of the windows of shop/stock/daily."
    )


def test_who_ran_what_by_hand_and_why_is_told(ask, classic, folder):
    line = a_line("m-1", "2026-10-11", start="2026-10-14T03:00:00", triggered_by=BY_SARI)
    ask("import-ledger", write(folder / "m.jsonl", line), *IMPORT)
    asked = ("morning", "--config", classic, *AT_SIX)
    text = re.sub(r"\s+", " ", ask(*asked).out)
    assert "m-1 shop/orders/daily success 2026-10-13T20:00:00Z" in text
    assert "by: manual by sari@toko.example (ledger) why: sumber terlambat" in text
    (run,) = json_of(ask(*asked, "--json"), 1)["tasks"][0]["by_hand"]
    assert run["triggered_by"]["reason"] == "sumber terlambat"
    assert "2026-10-11" not in windows(json_of(ask(*asked, "--json"), 1)["tasks"][0])


def test_as_of_an_earlier_morning_nothing_needs_anybody(ask, classic):
    earlier = ("--since", "2026-10-09T12:00:00Z", "--now", "2026-10-11T06:00:00+07:00")
    answer = ask("morning", "--config", classic, *earlier)
    assert answer.code == 0
    assert answer.out.startswith("PASS  Nothing needs anybody: 1 task, all well.")
    assert "Windows" not in answer.out
    assert answer.out.endswith("Well (1): shop/orders/daily (100% of 2 runs, p95 42m).\n")


def test_a_store_that_cannot_be_read_is_unknown_and_nothing_is_said_of_runs_by_hand(
    ask, tasks, tmp_path
):
    asked = ("morning", "--config", tasks, "--store", tmp_path / "gone")
    assert json_of(ask(*asked, "--json"), 3)["verdict"] == "UNKNOWN"
    answer = ask(*asked)
    assert answer.code == 3
    assert "does not exist" in answer.out
    assert "by hand" not in answer.out
    assert json_of(ask("morning", "--store", tmp_path / "gone", "--json"), 3)["tasks"]


def test_an_unreadable_receipt_is_unknown_and_a_failure_beside_it_is_one(ask, classic, damage):
    earlier = ("--since", "2026-10-09T12:00:00Z", "--now", "2026-10-11T06:00:00+07:00")
    file = damage(task=LOAD)
    answer = ask("morning", "--config", classic, *earlier)
    assert answer.code == 3
    assert answer.out.startswith("UNKNOWN  1 of 1 task cannot be told: shop/orders/daily.")
    assert str(file) in answer.out
    found = json_of(ask("morning", "--config", classic, *earlier, "--json"), 3)
    assert [bad["where"] for bad in found["unreadable"]] == [str(file)]


def test_a_failure_beats_what_cannot_be_told(ask, classic, damage):
    damage(task="shop/stock/daily")
    answer = ask("morning", LOAD, "shop/stock/daily", "--config", classic, *AT_SIX)
    assert answer.code == 1
    assert "1 of 2 tasks cannot be told: shop/stock/daily" in re.sub(r"\s+", " ", answer.out)


def test_of_one_task_the_file_or_its_folder_may_be_named(ask, classic):
    for place in (classic / LOAD, classic / LOAD / "receipts.yaml"):
        found = json_of(ask("morning", LOAD, "--config", place, *AT_SIX, "--json"), 1)
        assert windows(found["tasks"][0]) == CLASSIC
        for names in ((), ("shop/*/*",), (LOAD, "shop/stock/daily")):
            answer = ask("morning", *names, "--config", place, *AT_SIX)
            assert answer.code == 2
            assert "of one task" in answer.err


def test_without_files_all_tasks_of_the_store_have_health_and_numbers(ask, classic):
    (task,) = json_of(ask("morning", *AT_SIX, "--json"), 1)["tasks"]
    assert (task["task"], task["has_schedule"], task["windows"]) == (LOAD, False, [])


def test_a_long_outage_is_one_row_and_every_window_in_the_document(ask, store, tasks, keep):
    (tasks / LOAD / "receipts.yaml").write_text("schedule: {cron: 0 * * * *, window: hour}\n")
    keep(task=LOAD)
    asked = ("morning", "--config", tasks, "--since", "60h", "--now", "2026-10-31T12:30:00Z")
    (task,) = json_of(ask(*asked, "--json"), 1)["tasks"]
    assert len(task["windows"]) == 60
    answer = ask(*asked)
    assert "2026-10-29T00 to 2026-10-31T10  59      missing  run" in answer.out
    assert len(answer.out.splitlines()) < 20


def test_windows_in_one_row_name_all_their_runs_or_say_how_many_more(ask, store, tasks, folder):
    lines = [
        a_line(f"f-{day}-{n}", f"2026-10-{day}", "failed", start=f"2026-10-{day + 1}T0{n}:00:00")
        for day in (11, 12)
        for n in (2, 3, 4)
    ]
    asked = ("morning", "--config", tasks, "--since", "2026-10-11T12:00:00Z")
    asked = (*asked, "--now", "2026-10-13T23:00:00+07:00")
    ask("import-ledger", write(folder / "l.jsonl", *lines[:2], lines[3]), *IMPORT)
    text = re.sub(r"\s+", " ", ask(*asked).out)
    assert (
        "2026-10-11 to 2026-10-12 2 failed run more runs: f-11-2 f-12-2 why: 2026-10-11: run"
        in (text)
    )
    assert "run f-11-3 (error at" in text
    ask("import-ledger", write(folder / "l.jsonl", *lines), *IMPORT)
    text = re.sub(r"\s+", " ", ask(*asked).out)
    assert "more runs: f-11-3 f-11-2 f-12-4 and 2 more why: 2026-10-11: run f-11-4" in text


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_nothing_is_cut_off_on_a_terminal(classic, columns):
    words = ("morning", "--config", str(classic), *AT_SIX)
    shown = on_a_terminal(*words, columns=columns)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    for word in ("FAIL", "r-841", "r-850", "under", "2026-10-11", "66.6%", "42m"):
        assert word in plain
    assert "…" not in plain
    if columns >= 100:
        assert max(len(line.rstrip()) for line in plain.splitlines()) <= columns


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--days", "0"), "--days"),
        (("--since", "yesterday"), "--since"),
        (("--since", "2026-10-16"), "--since"),
        (("--max-age", "old"), "--max-age"),
        (("--retention", "long"), "--retention"),
        (("--config", "nowhere"), "does not exist"),
        (("--config", "empty"), "holds no task"),
        (("pay",), "pay"),
    ],
)
def test_what_is_wrong_is_named(ask, classic, folder, words, told):
    (folder / "empty").mkdir()
    config = () if "--config" in words else ("--config", classic)
    answer = ask("morning", *config, "--now", "2026-10-15T06:00:00+07:00", *words)
    assert answer.code == 2, answer
    assert told in answer.err


def test_a_retention_without_schedules_is_wrong(ask, store):
    answer = ask("morning", "--retention", "30d")
    assert answer.code == 2
    assert "--config" in answer.err


def test_stale_and_stuck_are_told(ask, keep):
    keep("success", hours_ago=50, task=LOAD)
    keep("running", hours_ago=20, task=LOAD, heartbeat_every=timedelta(seconds=30))
    now = ("--now", "2026-10-31T12:00:00Z")
    (task,) = json_of(ask("morning", LOAD, "--max-age", "2d", *now, "--json"), 1)["tasks"]
    assert (task["health"]["stale"], task["health"]["stuck"]) == (True, ["r-2"])
    shown = ask("morning", LOAD, *now).out
    assert "Try: 'ubunye-runs close r-2 --reason TEXT', if it is dead." in shown
    assert ask("morning", LOAD, "--stuck-after", "1d", *now).code == 0


def test_a_run_of_a_moment_did_not_take_no_time(ask, keep):
    start = datetime(2026, 10, 31, 11, tzinfo=UTC)
    keep("success", started_at=start, ended_at=start + timedelta(milliseconds=40))
    answer = ask("morning", "--now", "2026-10-31T12:00:00Z")
    assert answer.out.splitlines()[-2].endswith("pay/monthly/calc (100% of 1 run, p95 0.04s).")


def test_a_part_of_the_runs_says_what_it_is_a_part_of(ask, keep):
    keep("error", hours_ago=2)
    keep("error", hours_ago=1)
    text = re.sub(r"\s+", " ", ask("morning", "--now", "2026-10-31T12:00:00Z").out)
    assert "pay/monthly/calc FAIL FAIL 0% of 2 runs" in text


def test_a_question_in_a_reason_ends_as_one(ask, tasks, keep):
    keep(task="shop/orders/dayly")
    found = ask("morning", LOAD, "--config", tasks, "--now", "2026-10-31T12:00:00Z")
    text = re.sub(r"\s+", " ", found.out)
    assert "Did you mean shop/orders/dayly? windows: 1 late, 6 missing." in text
