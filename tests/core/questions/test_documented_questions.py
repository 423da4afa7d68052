"""The pages about questions: their code runs, prints what they say, and their YAML can be read."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from ubunye_core import read_requirements

DOCS = Path(__file__).parents[3] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def blocks(page: str) -> list[tuple[str, str]]:
    return BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))


def without_ids_and_times(text: str) -> str:
    return INSTANT.sub("INSTANT", RUN_ID.sub("RUN", text))


def write_requirements(text: str, folder: Path) -> Path:
    path = folder / ("config.yaml" if text.startswith("CONFIG") else "receipts.yaml")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("page", ["how-to/gates.md", "how-to/health.md"])
def test_the_code_of_a_page_prints_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page", "__file__": str(tmp_path / "page.py")}
    printed, compared = "", 0
    for language, text in blocks(page):
        if language == "yaml":
            write_requirements(text, tmp_path)
        elif language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, page, "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert without_ids_and_times(printed) == without_ids_and_times(text)
            compared += 1
        else:
            raise AssertionError(f"a block of {language}, which nothing runs")
    assert compared >= 3


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
        *("optional", "allow_unknown"),
    ]
    assert set(KEYS) == set(re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE))
