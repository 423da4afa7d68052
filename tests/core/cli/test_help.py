"""``--help``: what stands on lines of its own in the source stands so on the screen."""

from __future__ import annotations

import re
import subprocess
import sys

import click
import pytest

from ubunye_core.cli.app import commands

EXAMPLE = re.compile(r"^ {6}(ubunye-runs .*)$", re.MULTILINE)


def every(group: click.Group, *path: str) -> dict[tuple[str, ...], click.Command]:
    """All commands, those of groups too, by the words that call them."""
    found: dict[tuple[str, ...], click.Command] = {}
    for name, command in group.commands.items():
        found[*path, name] = command
        if isinstance(command, click.Group):
            found |= every(command, *path, name)
    return found


EVERY = every(commands)


@pytest.mark.parametrize("path", sorted(EVERY), ids=" ".join)
def test_each_example_of_a_command_stands_on_its_own_line(ask, path):
    examples = EXAMPLE.findall(EVERY[path].callback.__doc__)
    shown = [line.strip() for line in ask(*path, "--help").out.splitlines()]
    assert examples
    assert all(line.startswith(f"ubunye-runs {' '.join(path)} ") for line in examples)
    assert [line for line in shown if line.startswith("ubunye-runs ")] == examples


@pytest.mark.parametrize("path", [(), *sorted(EVERY)], ids=" ".join)
def test_a_mark_for_the_layout_is_not_shown(ask, path):
    shown = ask(*path, "--help").out
    assert r"\b" not in shown
    assert "\b" not in shown


def test_each_exit_code_stands_on_its_own_line(ask):
    lines = [line.strip() for line in ask("--help").out.splitlines()]
    codes = [line for line in lines if re.match(r"\d  ", line)]
    assert [line.split("  ")[0] for line in codes] == ["0", "1", "2", "3"]
    assert codes[0] == "0  yes"


def test_the_module_is_the_same_program(ask, folder):
    words = [sys.executable, "-m", "ubunye_core.cli", "health"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ask("health").err
