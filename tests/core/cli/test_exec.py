"""``exec``: any program gets a receipt, and is otherwise left alone."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from ubunye_core import Receipt, Status, UpstreamNotMetError, open_store, record_run
from ubunye_core.hashing import code_hash

SEND, CALC = "pay/monthly/send", "pay/monthly/calc"
BATCH = ("--var", "month=2026-10")


def only(store, task: str = SEND) -> Receipt:
    (receipt,) = store.list_runs(task)
    return receipt


def test_a_command_that_succeeds_leaves_a_success(shell, store):
    answer = shell("exec", SEND, *BATCH, "--", "true")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    receipt = only(store)
    assert receipt.status is Status.SUCCESS
    assert receipt.variables == {"month": "2026-10"}
    assert receipt.triggered_by.kind.value == "manual"
    assert receipt.heartbeat_every is not None


def test_a_command_that_fails_keeps_its_code(shell, store):
    assert shell("exec", SEND, *BATCH, "--", "sh", "-c", "exit 7").code == 7
    receipt = only(store)
    assert receipt.status is Status.ERROR
    assert receipt.error == "CommandFailedError: exit code 7"


def test_a_command_killed_by_a_signal_was_interrupted(shell, store):
    assert shell("exec", SEND, *BATCH, "--", "sh", "-c", "kill -9 $$").code == 137
    receipt = only(store)
    assert receipt.status is Status.INTERRUPTED
    assert "SIGKILL" in receipt.error


def test_there_is_no_such_command(shell, store):
    answer = shell("exec", SEND, *BATCH, "--", "no-such-command-here", "--password=hunter2")
    assert answer.code == 127
    assert "no-such-command-here: command not found" in answer.err
    assert only(store).status is Status.ERROR
    assert "command not found" in only(store).error


def test_a_file_that_cannot_be_executed_is_126_as_in_a_shell(shell, store, folder):
    (folder / "notes.txt").write_text("hello")
    assert shell("exec", SEND, *BATCH, "--", "./notes.txt").code == 126
    assert only(store).status is Status.ERROR


def test_a_script_that_cannot_be_executed_says_how_it_can(shell, store, folder):
    (folder / "calc.sh").write_text("echo calculated\n")
    (folder / "calc.py").write_text("print('calculated')\n")
    answer = shell("exec", SEND, *BATCH, "--", "./calc.sh")
    assert answer.err == (
        "Error: ./calc.sh: cannot be executed: Permission denied. Write 'sh calc.sh' after '--', "
        "or run 'chmod +x calc.sh' first.\n"
    )
    assert only(store).error == (
        "CommandNotStartedError: ./calc.sh: cannot be executed: Permission denied"
    )
    assert "Write 'python calc.py'" in shell("exec", SEND, *BATCH, "--", "./calc.py").err
    assert "Write 'sh" not in shell("exec", SEND, *BATCH, "--", "./").err
    assert shell("exec", SEND, *BATCH, "--", "sh", "calc.sh").out == "calculated\n"


@pytest.mark.parametrize("words", [(SEND,), ("--task", SEND), ()])
def test_a_variable_without_its_option_says_how_to_write_it(ask, store, folder, words):
    answer = ask("exec", *words, "month=2026-11", "--", "touch", "ran")
    assert answer.code == 2
    assert answer.err.endswith("Error: Write a variable as --var month=2026-11.\n")
    assert "hunter2" not in ask("exec", SEND, "password=hunter2", "--", "true").err
    assert not (folder / "ran").exists()


def test_the_three_streams_pass_through_untouched(shell, store):
    script = "import sys; sys.stdout.write(sys.stdin.read()[::-1]); sys.stderr.write('e\\a')"
    answer = shell("exec", SEND, *BATCH, "--", sys.executable, "-c", script, input="\0abc")
    assert (answer.out, answer.err) == ("cba\0", "e\a")


def test_other_open_files_pass_through_too(store, folder):
    inner = f"ubunye-runs exec {SEND} --var month=2026-10 -- sh -c 'echo three >&3' 3>out"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    assert os.system(f"PATH={path}; {inner}") == 0
    assert (folder / "out").read_text() == "three\n"


def test_options_of_the_command_are_its_own(shell, store):
    answer = shell("exec", SEND, *BATCH, "--", "echo", "--json", "--help", "--", "--store", "x")
    assert (answer.code, answer.out) == (0, "--json --help -- --store x\n")


def test_the_command_finds_its_run_in_its_environment(shell, store):
    script = "import json, os; print(json.dumps(dict(os.environ)))"
    answer = shell("exec", SEND, *BATCH, "--", sys.executable, "-c", script)
    environment = json.loads(answer.out)
    assert environment["UBUNYE_TASK"] == SEND
    assert environment["UBUNYE_RUN_ID"] == only(store).run_id
    assert open_store(environment["UBUNYE_STORE"]).url == store.url


def test_a_relative_store_is_absolute_for_the_command(shell, folder):
    words = ("--", "sh", "-c", "cd / && echo $UBUNYE_STORE")
    answer = shell("exec", SEND, *BATCH, "--store", "here", *words)
    assert answer.out.strip() == (folder / "here").as_uri()


def test_the_running_receipt_is_there_while_the_command_runs(shell, store):
    words = ("ubunye-runs", "show", '"$UBUNYE_RUN_ID"', "--json")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    answer = shell(
        "exec", SEND, *BATCH, "--", "sh", "-c", " ".join(words), env={**os.environ, "PATH": path}
    )
    assert answer.document["status"] == "running"


def test_no_argument_of_the_command_is_written_down(shell, store):
    secret = "--api-key=hunter2"
    assert shell("exec", SEND, *BATCH, "--", "false", secret, "hunter2").code == 1
    shell("exec", SEND, *BATCH, "--", "hunter3/../no-such", "hunter2")
    written = b"".join(file.read_bytes() for file in store.root.rglob("*.json"))
    assert b"hunter" not in written
    assert b'"step": "false"' in written


def test_secrets_among_variables_and_reasons_are_masked(shell, store):
    shell(
        *("exec", SEND, *BATCH, "--var", "db_password=hunter2"),
        *("--reason", "retry with token=hunter2", "--", "true"),
    )
    assert only(store).variables["db_password"] == "***"
    written = b"".join(file.read_bytes() for file in store.root.rglob("*.json"))
    assert b"hunter2" not in written


def test_who_started_it_and_why_are_on_record(shell, store):
    shell("exec", SEND, *BATCH, "--scheduled", "--reason", "nightly", "--", "true")
    assert only(store).triggered_by.kind.value == "schedule"
    assert only(store).triggered_by.reason == "nightly"


def test_the_code_of_a_script_is_hashed_and_nothing_else(shell, store, folder):
    script = folder / "send.py"
    script.write_text("#!/usr/bin/env python3\nprint('sent')\n")
    script.chmod(0o755)
    (folder / "data.csv").write_text("a\n1\n")
    for command, hashed in (
        ([sys.executable, "send.py", "data.csv"], True),
        ([sys.executable, "-u", "send.py"], True),
        (["./send.py"], True),
        ([sys.executable, "-c", "pass", "send.py"], False),
        (["cat", "data.csv"], False),
        (["sh", "-c", "true"], False),
    ):
        assert shell("exec", SEND, *BATCH, "--", *command).code == 0
        receipt = store.list_runs(SEND, 1)[0]
        assert receipt.code_hash == (code_hash(script) if hashed else None), command


def test_a_task_can_be_named_by_an_option(shell, store):
    assert shell("exec", "--task", SEND, *BATCH, "--", "true").code == 0
    assert only(store).task == SEND


def test_an_unmet_gate_keeps_the_command_from_running(shell, store, keep, folder):
    keep("error")
    words = ("exec", SEND, *BATCH, "--require", CALC, "--", "touch", "ran")
    answer = shell(*words)
    assert answer.code == 1
    assert (answer.out, (folder / "ran").exists()) == ("", False)
    assert "month=2026-10" in answer.err
    receipt = only(store)
    assert (receipt.status, receipt.outcome) == (Status.SKIPPED, "refused")
    assert CALC in receipt.error
    assert shell("health", SEND).code == 3


def test_a_met_gate_lets_the_command_run_and_pins_what_met_it(shell, store, keep, folder):
    met_by = keep("success")
    answer = shell("exec", SEND, *BATCH, "--require", CALC, "--", "touch", "ran")
    assert answer.code == 0
    assert (folder / "ran").exists()
    assert [(pin.task, pin.run_id) for pin in only(store).upstreams] == [(CALC, met_by.run_id)]


def test_a_gate_asks_for_the_whole_batch_as_record_run_does(shell, store, keep, folder):
    keep("success", variables={"month": "2026-10", "region": "eu"})
    gate = ("--require", CALC, "--", "touch", "ran")
    answer = shell("exec", SEND, *BATCH, *gate)
    assert answer.code == 1
    assert "region" in answer.err
    with (
        pytest.raises(UpstreamNotMetError),
        record_run(
            "pay/monthly/bill", variables={"month": "2026-10"}, store=store, requires=[CALC]
        ),
    ):
        pass
    assert not (folder / "ran").exists()
    whole = (*BATCH, "--var", "region=eu", "--var", "mode=PROD")
    assert shell("exec", SEND, *whole, *gate).code == 0
    assert (folder / "ran").exists()


def test_a_gate_without_a_batch_is_no_gate(ask, store, keep, folder):
    keep("success")
    for variables in ((), ("--var", "mode=PROD"), ("--var", "db_password=hunter2")):
        answer = ask("exec", SEND, *variables, "--require", CALC, "--", "touch", "ran")
        assert answer.code == 2, variables
        assert "any old success would do" in answer.err
        assert "variables: []" in answer.err
    assert not (folder / "ran").exists()


def test_a_gate_that_cannot_be_read_never_opens(shell, store, folder, damage):
    damage()
    answer = shell("exec", SEND, *BATCH, "--require", CALC, "--", "touch", "ran")
    assert answer.code == 3
    assert not (folder / "ran").exists()
    assert only(store).outcome == "refused"


def test_requirements_come_from_a_file_too(shell, store, keep, folder):
    (folder / "receipts.yaml").write_text("requires:\n  - task: pay/monthly/calc\n")
    words = ("exec", SEND, *BATCH, "--config", "receipts.yaml", "--", "true")
    assert shell(*words).code == 1
    keep("success")
    assert shell(*words).code == 0


def test_a_gate_can_be_waited_for(begin, store, keep, folder):
    keep("running")
    process = begin(
        *("exec", SEND, *BATCH, "--require", CALC, "--wait", "50s", "--poll", "0.1s"),
        *("--", "echo", "sent"),
    )
    assert "from the start" in process.stderr.readline()
    assert "not yet" in process.stderr.readline()
    assert only(store).status is Status.RUNNING
    keep("success", hours_ago=0.5)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "sent\n")


def test_a_store_that_cannot_be_written_does_not_stop_the_command(shell, folder, tmp_path):
    place = tmp_path / "a file"
    place.write_text("")
    answer = shell("exec", SEND, *BATCH, "--store", place, "--", "sh", "-c", "echo sent; exit 5")
    assert (answer.code, answer.out) == (5, "sent\n")
    assert "could not be saved" in answer.err
    gated = ("exec", SEND, *BATCH, "--store", place, "--require", CALC, "--", "echo", "sent")
    refused = shell(*gated)
    assert (refused.code, refused.out) == (3, "")


@pytest.mark.parametrize(
    "words",
    [
        (SEND, *BATCH),
        (SEND, *BATCH, "--"),
        (SEND, *BATCH, "--", ""),
        (SEND, *BATCH, "touch", "ran"),
        (*BATCH, "--", "touch", "ran"),
        (SEND, "--task", CALC, *BATCH, "--", "touch", "ran"),
        ("send", *BATCH, "--", "touch", "ran"),
        (SEND, "--var", "month", "--", "touch", "ran"),
        (SEND, *BATCH, "--wait", "1h", "--", "touch", "ran"),
        (SEND, "--require", CALC, "--", "touch", "ran"),
        (SEND, *BATCH, "--require", CALC, "--config", "x.yaml", "--", "touch", "ran"),
        (SEND, *BATCH, "--config", "nowhere.yaml", "--", "touch", "ran"),
        (SEND, *BATCH, "--json", "--", "touch", "ran"),
        (SEND, *BATCH, "--store", "redis://x", "--", "touch", "ran"),
    ],
)
def test_wrong_usage_is_exit_2_and_the_command_does_not_run(ask, store, folder, words):
    assert ask("exec", *words).code == 2
    assert not (folder / "ran").exists()
    assert list(store.root.iterdir()) == []
