"""The pages about hashing: the code runs and prints what they say, and the names are all there."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from tests.pages import DOCS, blocks, run_page
from ubunye_core import Fingerprint, fingerprint

PAGE = "how-to/hashing.md"


def test_the_code_of_the_page_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(PAGE, tmp_path) == 4


@pytest.mark.slow
def test_the_engine_of_the_page_passes_the_suite(tmp_path: Path) -> None:
    (code,) = [text for _, text in blocks(PAGE) if text.startswith("# test_my_engine.py")]
    (tmp_path / "test_my_engine.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_engine.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed
    assert int(passed[1]) > 300


def test_the_reference_names_every_argument_and_every_field() -> None:
    page = (DOCS / "reference" / "hashing.md").read_text(encoding="utf-8")
    told = {
        name
        for line in page.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split(" | ")[0])
    }
    arguments = set(inspect.signature(fingerprint).parameters) - {"frame"}
    assert told == arguments | {field.name for field in fields(Fingerprint)}
