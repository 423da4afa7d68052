"""``windows``: how do the scheduled windows of a task stand?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.core.cli.conftest import json_of

CALC = "pay/monthly/calc"
NIGHTLY = ("--cron", "0 2 * * *", "--time-zone", "Asia/Jakarta", "--window", "day")
NOW = "2026-10-31T12:00:00Z"


@pytest.fixture
def some_nights(keep):
    """Runs for three of the last seven days: the newest under way, one failed."""
    alive = {"heartbeat_every": timedelta(days=1)}
    for hours, status, day in ((17, "running", 30), (41, "error", 29), (65, "success", 28)):
        more = alive if status == "running" else {}
        keep(status, hours_ago=hours, variables={"dt": f"2026-10-{day}"}, **more)


def test_each_window_has_a_line_with_its_state_and_runs(ask, some_nights):
    answer = ask("windows", CALC, *NIGHTLY, "--variable", "dt", "--since", "4d", "--now", NOW)
    assert answer.code == 1
    lines = [line.split()[:2] for line in answer.out.splitlines()]
    assert lines[:5] == [
        ["window", "state"], ["2026-10-27", "missing"], ["2026-10-28", "succeeded"],
        ["2026-10-29", "failed"], ["2026-10-30", "running"],
    ]  # fmt: skip
    assert "FAIL" in answer.out
    assert "r-2" in answer.out


def test_the_document_has_what_a_program_needs(ask, some_nights):
    asked = ("windows", CALC, *NIGHTLY, "--variable", "dt", "--since", "4d", "--now", NOW, "--json")
    found = json_of(ask(*asked), 1)
    first = found["windows"][0]
    assert {name: first[name] for name in ("name", "start", "end", "due", "state", "runs")} == {
        "name": "2026-10-27",
        "start": "2026-10-26T17:00:00Z",
        "end": "2026-10-27T17:00:00Z",
        "due": "2026-10-27T19:00:00Z",
        "state": "missing",
        "runs": [],
    }
    missed = json_of(ask(*asked, "--missed"), 1)["windows"]
    assert [each["state"] for each in missed] == ["missing", "failed", "running"]


def test_the_schedule_may_stand_in_the_tasks_yaml(ask, some_nights, folder):
    (folder / "receipts.yaml").write_text(
        "schedule: {cron: 0 2 * * *, time_zone: Asia/Jakarta, window: day, variable: dt}\n"
    )
    asked = ("windows", CALC, "--config", folder, "--now", NOW)
    answer = ask(*asked, "--since", "2026-10-28T12:00:00Z", "--until", "2026-10-29")
    assert answer.code == 0, answer
    assert "of 1 window 1 succeeded" in answer.out
    assert ask(*asked, "--since", "2026-10-28").code == 1


def test_a_store_that_cannot_be_read_is_unknown(ask, tmp_path):
    answer = ask("windows", CALC, *NIGHTLY, "--store", tmp_path / "gone", "--json")
    assert json_of(answer, 3)["verdict"] == "UNKNOWN"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "--cron"),
        (("--cron", "0 2 * *"), "no cron expression"),
        (("--cron", "0 2 * * *", "--every", "6h"), "either --cron or --every"),
        (("--every", "6h", "--since", "yesterday"), "--since"),
        (("--every", "often"), "a length of time for --every"),
        (("--every", "5s"), "--every is 5s; a minute is the shortest"),
        (("--every", "6h", "--window", "year"), "--window"),
        (("--every", "6h", "--of", "next"), "--of"),
        (("--every", "6h", "--format", "%Y"), "--variable"),
        (("--every", "6h", "--stuck-after", "long"), "--stuck-after"),
        (("--config", "receipts.yaml", "--every", "6h"), "--every"),
        (("--config", "nowhere"), "does not exist"),
    ],
)
def test_what_is_wrong_is_named(ask, store, words, told):
    answer = ask("windows", CALC, *words)
    assert answer.code == 2
    assert told in answer.err


def test_a_file_without_a_schedule_is_named(ask, store, folder):
    (folder / "receipts.yaml").write_text("owner: payments\n")
    answer = ask("windows", CALC, "--config", "receipts.yaml")
    assert answer.code == 2
    assert "has no schedule" in answer.err


def test_now_is_told(ask, some_nights):
    found = json_of(ask("windows", CALC, *NIGHTLY, "--now", NOW, "--json"), 1)
    assert found["now"] == NOW


def test_where_nothing_is_due_the_store_is_looked_at(ask, tmp_path, keep):
    keep()
    asked = ("windows", "pay/monthly/clc", *NIGHTLY, "--since", "1m", "--now", NOW)
    answer = ask(*asked)
    assert answer.code == 0
    assert answer.out.startswith("PASS  No window of pay/monthly/clc was due from ")
    assert "pay/monthly/clc has never run, as far as the store knows." in answer.out
    assert "Did you mean pay/monthly/calc?" in answer.out
    assert "never run" not in ask("windows", CALC, *asked[2:]).out
    gone = json_of(ask(*asked, "--store", tmp_path / "gone", "--json"), 3)
    assert (gone["verdict"], gone["windows"], len(gone["unreadable"])) == ("UNKNOWN", [], 1)
    assert ask(*asked, "--store", tmp_path / "gone").out.startswith("UNKNOWN  ")


def test_a_misspelt_task_is_named_too_while_its_window_may_still_come(ask, keep):
    keep()
    asked = (*NIGHTLY, "--since", "1h", "--now", "2026-10-31T19:02:00Z")
    answer = ask("windows", "pay/monthly/clc", *asked)
    assert answer.code == 0
    assert "1 due" in answer.out
    assert "Did you mean pay/monthly/calc?" in answer.out


@pytest.mark.parametrize(
    ("period", "told"),
    [
        (("--until", "2026-10-01"), "--until (2026-10-01T00:00:00Z) is before the last 7d"),
        (
            ("--since", "2026-10-02", "--until", "2026-10-01"),
            "--since (2026-10-02T00:00:00Z) is after --until (2026-10-01T00:00:00Z)",
        ),
        (("--since", "2026-11-02"), "--since (2026-11-02T00:00:00Z) is after now"),
    ],
)
def test_of_a_period_that_ends_before_it_begins_the_error_names_what_was_given(
    ask, store, period, told
):
    answer = ask("windows", CALC, *NIGHTLY, *period, "--now", NOW)
    assert answer.code == 2
    assert told in answer.err
