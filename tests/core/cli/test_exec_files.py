"""``exec`` and the files of a task: whose they are, and what holds where they require nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

SEND, CALC = "pay/monthly/send", "pay/monthly/calc"
BATCH = ("--var", "month=2026-10")
GATE = "requires: [pay/monthly/calc]\n"
SCHEDULE = "schedule: {cron: '0 2 1 * *', window: month, variable: month}\n"
NO_GATE = "requires nothing, so this run has no gate"


@pytest.fixture
def tasks(folder: Path) -> Path:
    """The files of two tasks: one has a gate, the other a schedule alone."""
    for task, text in ((SEND, GATE), (CALC, f"owner: nina\nretention: 40d\n{SCHEDULE}")):
        place = folder / "tasks" / task
        place.mkdir(parents=True)
        (place / "receipts.yaml").write_text(text)
    return folder / "tasks"


@pytest.mark.parametrize("file", ["", "receipts.yaml"])
@pytest.mark.parametrize("inside", [False, True])
def test_the_folder_of_another_task_takes_no_gate_away(
    ask, store, tasks, folder, monkeypatch, file, inside
):
    given = Path("tasks", CALC, file)
    if inside:
        monkeypatch.chdir(tasks / CALC)
        given = Path(file)
    answer = ask("exec", SEND, *BATCH, "--config", given, "--", "touch", folder / "ran")
    shown = "." if inside else f"tasks/{CALC}"
    assert answer.code == 2
    assert answer.err == (
        f"Error: {shown} is the folder of {CALC}, not of {SEND}. Name {tasks / SEND}, or the task "
        f"{CALC}.\n"
    )
    assert not (folder / "ran").exists()
    assert list(store.root.iterdir()) == []


@pytest.mark.parametrize("command", [("windows",), ("plan",), ("morning",), ("may-run", *BATCH)])
def test_no_command_takes_the_files_of_another_task(ask, store, tasks, command):
    name, *options = command
    answer = ask(name, SEND, *options, "--config", tasks / CALC)
    assert answer.code == 2
    assert f"{CALC} is the folder of {CALC}, not of {SEND}." in answer.err


def test_files_that_require_nothing_let_the_command_run_and_say_so(shell, store, tasks, folder):
    answer = shell("exec", CALC, *BATCH, "--config", tasks / CALC, "--", "touch", "ran")
    assert (answer.code, answer.err) == (0, f"Note: {tasks / CALC} {NO_GATE}.\n")
    assert (folder / "ran").exists()
    assert len(store.list_runs(CALC)) == 1


def test_a_gate_that_is_given_stands_beside_files_that_require_nothing(shell, store, tasks, folder):
    gate = ("--config", tasks / CALC, "--require", "pay/daily/people")
    answer = shell("exec", CALC, *BATCH, *gate, "--", "touch", "ran")
    assert answer.code == 1
    assert "pay/daily/people" in answer.err
    assert NO_GATE not in answer.err
    assert not (folder / "ran").exists()


def test_a_key_that_is_misspelt_takes_no_gate_away(ask, store, tasks, folder):
    words = ("exec", SEND, *BATCH, "--config", tasks / SEND, "--", "touch", "ran")
    (tasks / SEND / "receipts.yaml").write_text("require: [pay/monthly/calc]\n")
    answer = ask(*words)
    assert answer.code == 2
    assert "Did you mean 'requires'?" in answer.err
    (tasks / SEND / "receipts.yaml").unlink()
    (tasks / SEND / "config.yaml").write_text("CONFIG:\n  require: [pay/monthly/calc]\n")
    answer = ask(*words)
    assert answer.code == 2
    assert "requires nothing, so there is nothing to ask" in answer.err
    (tasks / SEND / "config.yaml").unlink()
    assert ask(*words).code == 2
    assert not (folder / "ran").exists()
    assert list(store.root.iterdir()) == []


def test_a_wait_for_files_that_require_nothing_stays_an_error(ask, store, tasks):
    answer = ask("wait-for", "--config", tasks / CALC, *BATCH)
    assert answer.code == 2
    assert "requires nothing, so there is nothing to ask" in answer.err
