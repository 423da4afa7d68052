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


@pytest.mark.parametrize("words", [("--include", "some"), ("--cap", "0"), ("--retention", "long")])
def test_what_is_wrong_is_named(ask, store, words):
    answer = ask("plan", CALC, *ASKED, *words)
    assert answer.code == 2
    assert words[0].strip("-") in answer.err


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
