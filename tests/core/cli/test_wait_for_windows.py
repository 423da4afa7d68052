"""``wait-for`` a task of which every window is required."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ubunye_core import Window

CALC, NOW = "pay/monthly/calc", "2026-10-31T12:00:00Z"
START = datetime(2026, 10, 14, tzinfo=UTC)


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "receipts.yaml"
    file.write_text(
        f"requires:\n  - task: {CALC}\n    windows: all\n    variables: []\n"
        "    schedule: {every: 6h}\n"
    )
    return str(file)


def quarters(keep, *numbers):
    for number in numbers:
        start = START + number * timedelta(hours=6)
        window = Window(start=start, end=start + timedelta(hours=6))
        keep("success", window=window, hours_ago=2 - number / 10)


def test_every_window_of_a_day_opens_the_gate(ask, keep, config):
    quarters(keep, 0, 1, 2, 3)
    day = ("--config", config, "--window", "2026-10-14/2026-10-15", "--now", NOW)
    answer = ask("wait-for", *day)
    assert answer.code == 0
    assert "All 4 windows" in answer.out


def test_the_windows_that_are_missing_are_named(ask, keep, config):
    quarters(keep, 0, 1, 3)
    window = "2026-10-14T00:00:00Z/2026-10-15T00:00:00Z"
    answer = ask("wait-for", "--config", config, "--window", window, "--now", NOW, "--json")
    assert answer.code == 1
    assert "2026-10-14T12:00 (missing" in answer.document["reason"]


@pytest.mark.parametrize(
    "given", [[], ["--window", "2026-10-14"], ["--window", "2026-10-15/2026-10-14"]]
)
def test_without_a_window_it_cannot_be_asked(ask, config, given):
    answer = ask("wait-for", "--config", config, *given, "--now", NOW)
    assert answer.code == 2


def test_a_window_is_for_requirements_in_a_file(ask, store):
    answer = ask("wait-for", CALC, "--any-batch", "--window", "2026-10-14/2026-10-15")
    assert answer.code == 2
    assert "--config" in answer.err


DAY = ("--window", "2026-10-14/2026-10-15")


def test_a_command_that_needs_every_window_is_run_for_a_window_of_its_own(
    shell, store, keep, config
):
    quarters(keep, 0, 1, 2, 3)
    answer = shell("exec", "pay/daily/sum", "--config", config, *DAY, "--", "echo", "summed")
    assert (answer.code, answer.out) == (0, "summed\n")
    (receipt,) = store.list_runs("pay/daily/sum")
    assert receipt.window == Window(start=START, end=START + timedelta(days=1))
    assert len(receipt.upstreams) == 4


def test_a_command_is_not_run_while_a_window_is_missing(shell, store, keep, config):
    quarters(keep, 0, 1, 3)
    answer = shell("exec", "pay/daily/sum", "--config", config, *DAY, "--", "echo", "summed")
    assert (answer.code, answer.out) == (1, "")
    assert "2026-10-14T12:00 (missing" in answer.err


def test_a_command_without_the_variable_of_a_gate_leaves_no_failed_run(shell, store, folder):
    text = "requires: [{task: pay/in/source, variables: [day]}]\n"
    (folder / "receipts.yaml").write_text(text)
    answer = shell("exec", "pay/daily/sum", "--config", folder, "--var", "dt=1", "--", "echo", "!")
    assert (answer.code, answer.out) == (2, "")
    assert "names the variable 'day', which this run does not have" in answer.err
    assert not store.list_runs("pay/daily/sum")


def test_a_command_without_the_window_it_needs_leaves_no_failed_run(shell, store, config):
    answer = shell("exec", "pay/daily/sum", "--config", config, "--", "echo", "summed")
    assert (answer.code, answer.out) == (2, "")
    assert "--window START/END" in answer.err
    assert not store.list_runs("pay/daily/sum")
