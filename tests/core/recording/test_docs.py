"""The pages about recording: the code runs and prints what they say; each field has its line."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import fields
from pathlib import Path

import pytest

from tests.pages import DOCS, run_page
from ubunye_core import receipt as parts
from ubunye_core.codec import as_json
from ubunye_core.testing import a_receipt

REFERENCE = (DOCS / "reference" / "receipt.md").read_text(encoding="utf-8")
PARTS = {
    "window": parts.Window,
    "triggered_by": parts.TriggeredBy,
    "orchestrator": parts.Orchestrator,
    "inputs": parts.Step,
    "outputs": parts.Step,
    "upstreams": parts.Pin,
    "overrides": parts.Override,
    "expectations": parts.Expectation,
    "timings": parts.Timing,
    "counts": parts.Counts,
    "recorder": parts.Recorder,
}


def rows_of(heading: str) -> list[list[str]]:
    section = REFERENCE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def words(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def test_the_code_of_the_page_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page("how-to/record.md", tmp_path) == 5


def test_the_page_on_guards_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page("how-to/guard.md", tmp_path) == 5


def test_every_field_of_a_receipt_has_its_line_and_no_other() -> None:
    told = [name for row in rows_of("Fields") for name in words(row[0])]
    stored = set(as_json(a_receipt()))
    in_python = {each.name for each in fields(parts.Receipt)} - {"task", "extra"}
    assert len(told) == len(set(told))
    assert set(told) == stored | in_python


def test_every_field_of_each_part_of_a_receipt_has_its_line_and_no_other() -> None:
    told: dict[str, set[str]] = defaultdict(set)
    owners: list[str] = []
    for owner, name, _ in rows_of("Objects in it"):
        owners = words(owner) or owners
        for each in owners:
            told[each].update(words(name))
    assert told == {
        name: {each.name for each in fields(part)} - {"extra"} for name, part in PARTS.items()
    }
