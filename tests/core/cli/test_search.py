"""``search``: who ran what by hand, and why?"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.core.cli.conftest import json_of
from tests.core.questions.builders import FourMethods, a_run, put
from ubunye_core import TriggeredBy, TriggerKind
from ubunye_core.questions.search import StartedBy, search_runs
from ubunye_core.stores import MemoryStore

CALC = "pay/monthly/calc"


def by(kind: str = "manual", actor: str | None = None, reason: str | None = None) -> TriggeredBy:
    return TriggeredBy(kind=TriggerKind(kind), actor=actor, asserted_by="airflow", reason=reason)


@pytest.fixture
def a_night(keep):
    """What ran, and who started it; the newest last."""
    return [
        keep(hours_ago=5, triggered_by=by("schedule")).run_id,
        keep("error", hours_ago=4, triggered_by=by(actor="Nina", reason="Late file")).run_id,
        keep(hours_ago=3, task="pay/monthly/send", triggered_by=by(actor="nina.k")).run_id,
        keep(hours_ago=2, triggered_by=by("backfill", "omar", "a late month")).run_id,
        keep(hours_ago=1).run_id,
    ]


def ids(answer) -> list[str]:
    return [run["run_id"] for run in json_of(answer, 0)["runs"]]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), [4, 3, 2, 1, 0]),
        (("--triggered-by", "manual"), [2, 1]),
        (("--triggered-by", "asset"), []),
        (("--actor", "nina"), [1]),
        (("--actor", "NINA*"), [2, 1]),
        (("--reason", "late"), [3, 1]),
        (("--reason", "late", "--triggered-by", "backfill"), [3]),
        (("--triggered-by", "manual", "--status", "error"), [1]),
        (("--triggered-by", "manual", "-n", "1"), [2]),
        (("--triggered-by", "manual", "--since", "2026-10-31T08:30:00Z"), [2]),
        (("--triggered-by", "manual", "--task", CALC), [1]),
        (("--triggered-by", "manual", "--task", "pay/*/send"), [2]),
        (("--triggered-by", "manual", "--task", "pay/*/nothing"), []),
        (("--triggered-by", "manual", "--var", "month=2026-10"), [2, 1]),
        (("--triggered-by", "manual", "--var", "month=2026-09"), []),
    ],
)
def test_runs_are_found_by_who_started_them_and_why(ask, a_night, words, found):
    assert ids(ask("search", *words, "--json")) == [a_night[at] for at in found]


def test_a_search_may_be_asked_for_an_instant_of_the_past(ask, a_night):
    at = ("--now", "2026-10-31T08:59:00Z", "--json")  # clocks may differ by five minutes
    found = json_of(ask("search", *at), 0)
    assert [run["run_id"] for run in found["runs"]] == [a_night[at] for at in (2, 1, 0)]
    assert [run["status"] for run in found["runs"]] == ["running", "error", "success"]
    assert found["now"] == "2026-10-31T08:59:00Z"
    assert ids(ask("search", *at, "--status", "running")) == [a_night[2]]
    assert ids(ask("search", *at, "--since", "90m", "--triggered-by", "manual")) == [
        a_night[2],
        a_night[1],
    ]
    assert ids(ask("list", CALC, *at, "--since", "1m")) == []
    assert ask("list", CALC, "--now", "lately").code == 2


def test_each_run_has_a_line_that_says_who_and_why(ask, a_night):
    lines = ask("search", "--triggered-by", "manual").out.splitlines()
    assert lines[0].split()[-2:] == ["by", "why"]
    assert "manual by nina.k (airflow)" in lines[1]
    assert lines[1].endswith("-")
    assert lines[2].endswith("manual by Nina (airflow)    Late file")


def test_runs_that_do_not_say_who_started_them_are_told_of(ask, a_night):
    answer = ask("search", "--triggered-by", "manual")
    assert (answer.code, answer.err) == (0, "1 more does not say who or what started it.\n")
    found = json_of(ask("search", "--actor", "nobody", "--json"), 0)
    assert found["reason"] == "No runs. 1 more does not say who or what started it."
    assert ask("search").err == ""


def test_what_is_unreadable_is_named(ask, a_night, damage):
    file = damage()
    answer = ask("search", "--triggered-by", "manual")
    assert answer.code == 0
    assert str(file) in answer.err
    assert json_of(ask("search", "--reason", "x", "--json"), 0)["unreadable"]


@pytest.mark.parametrize("words", [("--triggered-by", "hand"), ("-n", "0"), ("--task", "pay")])
def test_what_is_wrong_is_exit_2(ask, store, words):
    assert ask("search", *words).code == 2


def test_a_store_that_cannot_be_read_is_exit_3(ask, tmp_path):
    assert ask("search", "--store", tmp_path / "gone").code == 3


def test_what_a_reason_holds_cannot_move_the_cursor(ask, keep):
    keep(triggered_by=by(actor="x\x1b[2J", reason="y\x1b[2J"))
    assert "\x1b" not in ask("search", "--triggered-by", "manual").out


@pytest.mark.parametrize("since", [None, datetime(2020, 1, 1, tzinfo=UTC)])
def test_a_store_of_four_methods_gives_the_same_answer(since):
    whole = MemoryStore()
    manual = a_run("error", triggered_by=by(actor="nina"))
    put(whole, a_run(), manual, a_run(task="pay/monthly/send", triggered_by=by("schedule")))
    whole.put_document(CALC, "broken", b"{")
    for tasks in ((), (CALC,)):
        for started_by in (StartedBy(kind=TriggerKind.MANUAL), StartedBy(), StartedBy(actor="n*")):
            answers = [
                search_runs(tasks, store=each, since=since, started_by=started_by)
                for each in (whole, FourMethods(whole))
            ]
            assert list(answers[0].found) == list(answers[1].found)
            assert answers[0].found.unreadable == answers[1].found.unreadable
            assert answers[0].untold == answers[1].untold
    assert list(answers[0].found) == [manual]


def test_a_misspelt_task_is_told_of(ask, keep):
    keep("success")
    answer = ask("search", "--task", "pay/monthly/clac")
    assert "Did you mean pay/monthly/calc?" in answer.err


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [("dependabot[bot]", True), ("*[BOT]", True), ("dependabot[a-z]", False), ("*[", False)],
)
def test_brackets_in_the_name_of_an_actor_stand_for_themselves(wanted, fits):
    by = TriggeredBy(kind=TriggerKind.MANUAL, actor="dependabot[bot]")
    assert StartedBy(actor=wanted).fits(a_run(triggered_by=by)) is fits
