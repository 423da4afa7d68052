"""``calendar``: may a task start at this time of day, and when else?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.core.cli.conftest import json_of

NOW = "2026-10-14T23:00:00Z"  # 06:00 in Jakarta
MIDNIGHT = datetime(2026, 10, 14, 17, tzinfo=UTC)
OTHERS = ["sales/in/orders", "sales/in/refunds", "sales/in/stock"]
ASKED = ("--time-zone", "Asia/Jakarta", "--maintenance", "maintenance.yaml", "--now", NOW)


@pytest.fixture
def classic(keep, folder):
    """Three tasks that start at midnight in Jakarta, when the warehouse is backed up."""
    (folder / "maintenance.yaml").write_text(
        "maintenance:\n"
        "  - {name: backup warehouse, from: '00:00', to: '01:00', time_zone: Asia/Jakarta}\n"
    )
    for task in OTHERS:
        for night in range(3):
            begun = MIDNIGHT - timedelta(days=night)
            keep(task=task, started_at=begun, ended_at=begun + timedelta(minutes=20))


def test_midnight_conflicts_with_the_backup_and_three_tasks(ask, classic):
    answer = ask("calendar", "00:00", *ASKED)
    assert answer.code == 1
    lines = answer.out.splitlines()
    assert lines[0].split() == [
        "in",
        "the",
        "way",
        "when",
        "days",
        "runs",
        "takes",
        "next",
        "or",
        "newest",
    ]
    assert lines[1].startswith("maintenance 'backup warehouse'  00:00–01:00 Asia/Jakarta  366")
    assert [line.split()[0] for line in lines[2:5]] == OTHERS
    assert lines[5].startswith("FAIL  00:00–00:15 Asia/Jakarta conflicts with maintenance")
    assert "and 3 tasks: " in lines[5]


def test_two_in_the_morning_is_clean(ask, classic):
    answer = ask("calendar", "02:00", *ASKED)
    assert answer.code == 0
    assert answer.out.startswith("PASS  02:00–02:15 Asia/Jakarta is clean")


def test_free_slots_are_suggested_and_the_exit_code_is_the_slots(ask, classic):
    answer = ask("calendar", "00:00", "--suggest", "--takes", "1h", *ASKED)
    assert answer.code == 1
    assert "Free for 1h in Asia/Jakarta, nearest to 00:00: 01:00, 23:00, 01:15." in answer.out
    alone = ask("calendar", "--suggest", *ASKED)
    assert alone.code == 0
    assert alone.out.startswith("PASS  Free for 15m")


def test_the_document_has_what_a_program_needs(ask, classic):
    found = json_of(ask("calendar", "00:00", "--suggest", *ASKED, "--json"), 1)
    assert found["verdict"] == "FAIL"
    assert found["now"] == NOW
    assert found["slot"] == {
        "at": "00:00",
        "takes": 900.0,
        "time_zone": "Asia/Jakarta",
        "name": "00:00–00:15 Asia/Jakarta",
    }
    assert found["maintenance"] == [
        {
            "name": "backup warehouse",
            "times": "00:00–01:00",
            "time_zone": "Asia/Jakarta",
            "next_at": "2026-10-15T17:00:00Z",
            "days": 366,
        }
    ]
    assert found["tasks"][0] == {
        "task": "sales/in/orders",
        "starts": 3,
        "runs_over": 0,
        "days": 3,
        "first": "00:00",
        "last": "00:00",
        "usual_length": 1200.0,
        "last_at": "2026-10-14T17:00:00Z",
    }
    assert [slot["at"] for slot in found["suggested"]] == ["23:45", "23:30", "23:15"]
    clean = json_of(ask("calendar", "02:00", *ASKED, "--json"), 0)
    assert (clean["maintenance"], clean["tasks"], clean["suggested"]) == ([], [], None)
    alone = json_of(ask("calendar", "--suggest", *ASKED, "--json"), 0)
    assert (alone["slot"], len(alone["suggested"])) == (None, 3)


def test_tasks_days_and_the_asker_narrow_what_counts(ask, classic):
    bare = ("--time-zone", "Asia/Jakarta", "--now", NOW)
    assert ask("calendar", "00:00", *bare, "--task", "sales/in/*").code == 1
    assert ask("calendar", "00:00", *bare, "--task", OTHERS[0], "--asker", OTHERS[0]).code == 0
    ignored = [word for name in ("*/in/orders", "*/in/refunds") for word in ("--ignore", name)]
    assert ask("calendar", "00:00", *bare, *ignored).code == 1
    assert ask("calendar", "00:00", *bare, *ignored, "--ignore", OTHERS[2]).code == 0
    later = ("--time-zone", "Asia/Jakarta", "--now", "2026-10-20T00:00:00Z")
    assert ask("calendar", "00:00", *later, "--days", "30").code == 1
    assert ask("calendar", "00:00", *later, "--days", "2").code == 3
    misspelt = ask("calendar", "02:00", *bare, "--task", "sales/in/oders")
    assert misspelt.code == 3
    assert "sales/in/oders has never run, as far as the store knows. Did you mean" in misspelt.out


@pytest.mark.parametrize("words", [("02:00",), ("--suggest",), ("02:00", "--suggest")])
def test_damage_is_unknown_and_never_clean(ask, classic, damage, words):
    damage("sales/in/other")
    answer = ask("calendar", *words, *ASKED)
    assert answer.code == 3
    assert answer.out.startswith("UNKNOWN")
    assert "broken" in answer.out
    found = json_of(ask("calendar", *words, *ASKED, "--json"), 3)
    assert len(found["unreadable"]) == 1
    assert not found["suggested"]


def test_a_store_that_is_gone_is_unknown(ask, classic, tmp_path):
    assert ask("calendar", "02:00", *ASKED, "--store", tmp_path / "gone").code == 3
    assert ask("calendar", "00:00", *ASKED, "--store", tmp_path / "gone").code == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "No slot is named"),
        (("2 o'clock",), "no time of day"),
        (("02:00", "--takes", "long"), "length of time"),
        (("02:00", "--days", "0"), "'--days': 0"),
        (("02:00", "--task", "x"), "not a task"),
        (("02:00", "--time-zone", "Mars/Base"), "no time zone"),
        (("02:00", "--maintenance", "gone.yaml"), "gone.yaml"),
        (("02:00", "--maintenance", "wrong.yaml"), "wrong.yaml, line 2"),
    ],
)
def test_what_is_wrong_is_named(ask, store, folder, words, told):
    (folder / "wrong.yaml").write_text("maintenance:\n  - {name: x, from: noon}\n")
    answer = ask("calendar", *words)
    assert answer.code == 2
    assert told in answer.err


@pytest.mark.parametrize("words", [("02:00",), ("--suggest",)])
def test_an_asker_that_never_ran_is_named(ask, classic, words):
    asked = ("calendar", *words, *ASKED, "--asker", "sales/in/oders")
    said = "sales/in/oders has never run, as far as the store knows. Did you mean sales/in/orders?"
    assert said in ask(*asked).out
    assert json_of(ask(*asked, "--json"), 0)["reason"].endswith(said)
    assert "never run" not in ask("calendar", *words, *ASKED, "--asker", OTHERS[0]).out


def test_how_long_it_takes_has_limits_that_name_the_option(ask, store):
    for length in ("30s", "25h"):
        answer = ask("calendar", "02:00", "--takes", length)
        assert answer.code == 2
        assert "--takes is" in answer.err


def test_one_run_that_starts_then_is_told_of_as_one(ask, keep, folder):
    keep(task=OTHERS[0], started_at=MIDNIGHT, ended_at=MIDNIGHT + timedelta(minutes=20))
    answer = ask("calendar", "00:00", "--time-zone", "Asia/Jakarta", "--now", NOW)
    assert "1 starts, 0 run over" in answer.out
