"""A morning of tasks, of which one has something wrong in its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.core.questions.builders import put
from tests.core.questions.test_morning import SINCE
from tests.core.questions.test_windows import MORNING, a_night
from ubunye_core import ConfigError, Morning, TriggeredBy, Verdict, morning, read_tasks
from ubunye_core.stores import MemoryStore

CALC, SEND, BAD = "pay/monthly/calc", "pay/monthly/send", "pay/monthly/bad"
NIGHTLY = "{cron: 0 2 * * *, time_zone: Asia/Jakarta, window: day, variable: dt}"


def write(top: Path, task: str, text: str) -> Path:
    (top / task).mkdir(parents=True)
    (top / task / "receipts.yaml").write_text(text)
    return top / task


@pytest.fixture
def store(request: pytest.FixtureRequest) -> MemoryStore:
    """Every night of a week has succeeded, for three tasks."""
    store = MemoryStore(request.node.name)
    scheduled = TriggeredBy(kind="schedule")
    for task in (CALC, SEND, BAD):
        nights = (a_night(day, run_id=f"r-{day}", triggered_by=scheduled) for day in range(8, 15))
        put(store, *(replace(night, task=task) for night in nights))
    return store


def asked(store: MemoryStore, tasks: Path, *names: str) -> Morning:
    return morning(names, schedules=read_tasks(tasks), store=store, since=SINCE, now=MORNING)


def verdicts(answer: Morning) -> dict[str, str]:
    return {each.task: each.verdict.value for each in answer.tasks}


def test_a_broken_file_makes_its_own_task_unknown_and_hides_no_other(
    store: MemoryStore, tmp_path: Path
) -> None:
    write(tmp_path, CALC, f"schedule: {NIGHTLY}\n")
    write(tmp_path, SEND, f"schedule: {NIGHTLY}\nrequires: [{{task: {BAD}, variables: [dt]}}]\n")
    place = write(tmp_path, BAD, "schedule: {cron: 0 2 * *}\nowner: payments\n")
    answer = asked(store, tmp_path)
    assert (answer.verdict, verdicts(answer)) == (
        Verdict.UNKNOWN, {BAD: "UNKNOWN", CALC: "PASS", SEND: "PASS"},
    )  # fmt: skip
    assert answer.reason == f"1 of 3 tasks cannot be told: {BAD}."
    bad, calc, send = answer.tasks
    assert bad.reason == (
        f"its windows cannot be told: {place}: receipts.yaml, line 1: '0 2 * *' is no cron "
        f"expression. Write five fields, minute first: 0 2 * * * is every day at 02:00."
    )
    assert (bad.health.verdict, bad.stats.runs, bad.windows) == (Verdict.PASS, 7, None)
    assert [(each.where, each.task) for each in answer.unreadable] == [(str(place), BAD)]
    assert calc.windows is not None
    assert send.windows is not None
    assert (len(calc.windows.windows), len(send.windows.windows)) == (6, 6)
    assert asked(store, tmp_path, CALC, SEND).verdict is Verdict.PASS


def test_a_failure_of_a_task_with_a_broken_file_is_told_with_it(
    store: MemoryStore, tmp_path: Path
) -> None:
    write(tmp_path, BAD, "polcy: {guard: true}\n")
    put(store, replace(a_night(14, "error", run_id="r-15", error="ValueError: empty"), task=BAD))
    (bad,) = asked(store, tmp_path).tasks
    assert bad.verdict is Verdict.FAIL
    assert "ValueError: empty" in bad.reason
    assert "'polcy' is not a known key of receipts.yaml. Did you mean 'policy'?" in bad.reason


def test_a_requirement_that_cannot_be_asked_makes_its_own_task_unknown(
    store: MemoryStore, tmp_path: Path
) -> None:
    write(tmp_path, CALC, f"schedule: {NIGHTLY}\n")
    wrong = f"schedule: {NIGHTLY}\nrequires: [{{task: {CALC}, variables: [month]}}]\n"
    write(tmp_path, BAD, wrong)
    store.remove(BAD, ["r-13"])  # so that there is something to plan
    store.remove(CALC, ["r-12"])
    answer = asked(store, tmp_path)
    assert verdicts(answer) == {BAD: "FAIL", CALC: "FAIL"}
    bad, calc = answer.tasks
    assert "windows: 1 missing; what to do about its windows cannot be told: " in bad.reason
    assert "'month'" in bad.reason
    assert calc.reason == "windows: 1 missing."
    (missing,) = calc.to_tell
    planned = answer.planned(CALC, missing)
    assert planned is not None
    assert (planned.name, planned.action) == (f"{CALC} 2026-10-12", "run")
    assert answer.planned(BAD, bad.to_tell[0]) is None


def test_a_circle_of_requirements_is_the_fault_of_no_one_task(
    store: MemoryStore, tmp_path: Path
) -> None:
    for task, other in ((CALC, SEND), (SEND, CALC)):
        wanted = f"requires: [{{task: {other}, variables: [dt]}}]"
        write(tmp_path, task, f"schedule: {NIGHTLY}\n{wanted}\n")
    with pytest.raises(ConfigError, match="circle"):
        asked(store, tmp_path)


def test_a_reason_ends_with_one_full_stop(tmp_path: Path) -> None:
    (calc,) = morning([CALC], store=tmp_path / "none", now=MORNING).tasks
    assert calc.reason.endswith("The first recorded run makes it.")
