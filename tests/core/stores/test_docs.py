"""The page on writing a store is run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ubunye_core import stores

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "write-a-store.md"
BLOCKS = dict(re.findall(r"^```python\n# (\S+)\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M))


@pytest.mark.slow
def test_the_store_of_the_page_passes_the_suite(tmp_path: Path) -> None:
    assert set(BLOCKS) == {"onefile_store.py", "test_onefile_store.py"}
    for name, code in BLOCKS.items():
        (tmp_path / name).write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_onefile_store.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_the_page_names_all_that_the_door_shows_and_imports_nothing_behind_it() -> None:
    page = PAGE.read_text("utf-8")
    told = {
        name
        for line in page.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split(" | ")[0])
    }
    assert told == set(stores.__all__) - {"open_store", "FileStore", "MemoryStore"}
    doors = re.findall(r"from (ubunye_core[\w.]*) import", page)
    assert set(doors) == {"ubunye_core", "ubunye_core.stores", "ubunye_core.testing"}
