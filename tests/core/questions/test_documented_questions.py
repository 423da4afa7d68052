"""The pages about questions: their code runs, prints what they say, and their YAML can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages import DOCS, blocks, run_page, write_requirements
from ubunye_core import read_requirements


@pytest.mark.parametrize("page", ["how-to/gates.md", "how-to/health.md"])
def test_the_code_of_a_page_prints_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(page, tmp_path) >= 3


@pytest.mark.parametrize("page", ["how-to/gates.md", "reference/requirements.md"])
def test_the_requirements_of_a_page_can_be_read(page: str, tmp_path: Path) -> None:
    found = [text for language, text in blocks(page) if language == "yaml"]
    assert found
    for number, text in enumerate(found):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert read_requirements(write_requirements(text, folder))


def test_the_reference_names_every_key_and_no_other() -> None:
    from ubunye_core.questions.requirements import KEYS

    page = (DOCS / "reference/requirements.md").read_text(encoding="utf-8")
    rows = page.split("## Keys")[1].split("## Which batch")[0]
    assert re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE) == [
        *("task", "variables", "wait", "poll", "max_age", "on_failed"),
        *("optional", "allow_unknown", "windows", "schedule"),
    ]
    assert set(KEYS) == set(re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE))
