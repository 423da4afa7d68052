"""Runs the code of a page of the documentation, and compares what it prints with the page."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block."""
    return BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))


def without_ids_and_times(text: str) -> str:
    """What a page prints, without what is new each time."""
    return INSTANT.sub("INSTANT", RUN_ID.sub("RUN", text))


def write_requirements(text: str, folder: Path) -> Path:
    """A block of YAML, in the file of a task that it belongs to."""
    path = folder / ("config.yaml" if text.startswith("CONFIG") else "receipts.yaml")
    path.write_text(text, encoding="utf-8")
    return path


def run_page(page: str, folder: Path) -> int:
    """Run each block in order, in this folder; return how many outputs were as the page says."""
    names: dict[str, Any] = {"__name__": "page", "__file__": str(folder / "page.py")}
    printed, compared = "", 0
    for language, text in blocks(page):
        if language == "yaml":
            write_requirements(text, folder)
        elif language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, page, "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert without_ids_and_times(printed) == without_ids_and_times(text)
            compared += 1
        elif language == "console":
            _run_commands(text, folder)
        else:
            raise AssertionError(f"a block of {language}, which nothing runs")
    return compared


def _run_commands(text: str, folder: Path) -> None:
    """Run commands as they stand; each must end with 0."""
    lines = text.splitlines()
    assert all(line.startswith("$ ") for line in lines)
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(line.removeprefix("$ ") for line in lines)],
        cwd=folder,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
