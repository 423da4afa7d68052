"""On whose task it lies that a window is missing, and who owns it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.core.questions.builders import a_run, put
from ubunye_core import ConfigError, Receipt, Status, read_task, read_tasks
from ubunye_core.questions.plan import Plan, plan_backfill
from ubunye_core.questions.planned import Action
from ubunye_core.questions.window_state import WindowState
from ubunye_core.stores import MemoryStore

NIGHTLY = "schedule: {cron: 0 2 * * *, window: day, finish_by: 8h, variable: dt}\n"
TEN_O_CLOCK = datetime(2026, 10, 15, 10, tzinfo=UTC)
LOAD, CALC, SEND = "pay/in/load", "pay/daily/calc", "pay/daily/send"


def tasks_in(folder: Path, **files: str) -> Path:
    usual = {
        LOAD: "owner: sources\n" + NIGHTLY,
        CALC: f"owner: payments\nrequires: [{LOAD}]\n{NIGHTLY}",
        SEND: f"requires: [{CALC}]\n{NIGHTLY}",
    }
    for task, text in (usual | files).items():
        (folder / task).mkdir(parents=True)
        (folder / task / "receipts.yaml").write_text(text)
    return folder


def plan_of(tasks, *receipts, **changes) -> Plan:
    store = MemoryStore()
    for each in receipts:
        put(store, each)
    return plan_backfill(
        tasks,
        **{"since": timedelta(hours=12), "now": TEN_O_CLOCK, "store": store, **changes},
    )


def a_night(task: str, status: Status) -> Receipt:
    return a_run(status, ago=timedelta(hours=4), task=task, variables={"dt": "2026-10-14"})


def test_a_window_that_is_missing_at_its_deadline_names_the_upstream_and_its_owner(
    tmp_path: Path,
) -> None:
    send = read_task(tasks_in(tmp_path) / SEND, SEND)
    (window,) = plan_of(send, a_night(CALC, Status.ERROR)).windows
    assert window.state is WindowState.MISSING
    assert window.action is Action.BLOCKED
    assert (window.because_of, window.owner) == (CALC, "payments")
    assert window.reason.endswith("The owner of pay/daily/calc is payments.")


def test_the_cause_is_at_the_root_of_what_waits_for_each_other(tmp_path: Path) -> None:
    plan = plan_of(read_tasks(tasks_in(tmp_path)), max_runs=1)
    assert [(each.task, each.because_of, each.owner) for each in plan.windows] == [
        (task, LOAD, "sources") for task in (LOAD, CALC, SEND)
    ]
    given_up = plan_of(read_tasks(tmp_path), a_night(LOAD, Status.ERROR), max_runs=1)
    assert {each.action for each in given_up.windows} == {Action.BLOCKED}
    assert {(each.because_of, each.owner) for each in given_up.windows} == {(LOAD, "sources")}


def test_a_window_that_waits_for_nobody_is_its_own_task_s(tmp_path: Path) -> None:
    plan = plan_of(read_tasks(tasks_in(tmp_path)), a_night(LOAD, Status.SUCCESS))
    assert [(each.task, each.because_of, each.owner) for each in plan.windows] == [
        (CALC, CALC, "payments"), (SEND, CALC, "payments"),
    ]  # fmt: skip
    send = plan_of(read_task(tmp_path / SEND, SEND), a_night(CALC, Status.SUCCESS))
    assert [(each.because_of, each.owner) for each in send.windows] == [(SEND, None)]


def test_an_owner_that_nobody_wrote_down_is_none_and_the_reason_says_nothing(
    tmp_path: Path,
) -> None:
    send = read_task(tasks_in(tmp_path, **{CALC: NIGHTLY}) / SEND, SEND)
    (window,) = plan_of(send, a_night(CALC, Status.ERROR)).windows
    assert (window.because_of, window.owner) == (CALC, None)
    assert "owner" not in window.reason


def test_the_retention_of_a_source_stands_in_the_files_of_its_task(tmp_path: Path) -> None:
    folder = tasks_in(tmp_path, **{LOAD: f"retention: 2d\n{NIGHTLY}"}) / LOAD
    plan = plan_of(read_task(folder, LOAD), since=timedelta(days=4))
    assert [each.action.value for each in plan.windows] == ["too_old", "too_old", "too_old", "run"]
    told = read_task(folder, LOAD, retention="30d")
    assert told.retention == timedelta(days=30)
    by_name = {each.task: each.retention for each in read_tasks(tmp_path)}
    assert by_name == {LOAD: timedelta(days=2), CALC: None, SEND: None}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("owner: ''\n", "'owner' is empty"),
        ("owner: [a, b]\n", "owner"),
        ("retention: soon\n", "retention"),
        ("retention: -1d\n", "retention"),
        ("owner: '{{ team }}'\n", "template"),
    ],
)
def test_what_is_no_owner_or_no_length_of_time_is_named_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    folder = tasks_in(tmp_path, **{LOAD: NIGHTLY + text}) / LOAD
    with pytest.raises(ConfigError, match=said) as error:
        read_task(folder, LOAD)
    assert "receipts.yaml" in str(error.value)
    assert "line 2" in str(error.value) or ":2" in str(error.value)
