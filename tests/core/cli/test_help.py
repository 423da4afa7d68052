"""``--help``: what stands on lines of its own in the source stands so on the screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ubunye_core.cli
from ubunye_core.cli.app import commands

SOURCES = "\n".join(
    file.read_text(encoding="utf-8") for file in Path(ubunye_core.cli.__file__).parent.glob("*.py")
)
EXAMPLE = re.compile(r"^ {6}(ubunye-runs ([a-z-]+) .*)$", re.MULTILINE)


@pytest.mark.parametrize("name", sorted(commands.commands))
def test_each_example_of_a_command_stands_on_its_own_line(ask, name):
    examples = [line for line, command in EXAMPLE.findall(SOURCES) if command == name]
    shown = [line.strip() for line in ask(name, "--help").out.splitlines()]
    assert examples
    assert [line for line in shown if line.startswith("ubunye-runs ")] == examples


@pytest.mark.parametrize("name", [None, *sorted(commands.commands)])
def test_a_mark_for_the_layout_is_not_shown(ask, name):
    shown = ask(*([] if name is None else [name]), "--help").out
    assert r"\b" not in shown
    assert "\b" not in shown


def test_each_exit_code_stands_on_its_own_line(ask):
    lines = [line.strip() for line in ask("--help").out.splitlines()]
    codes = [line for line in lines if re.match(r"\d  ", line)]
    assert [line.split("  ")[0] for line in codes] == ["0", "1", "2", "3"]
    assert codes[0] == "0  yes"
