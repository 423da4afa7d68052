"""The page on writing a store is run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from ubunye_core import open_store
from ubunye_core.testing import a_receipt

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "write-a-store.md"
BLOCKS = dict(re.findall(r"^```python\n# (\S+)\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M))


def test_the_store_of_the_page_passes_the_suite(tmp_path: Path) -> None:
    assert set(BLOCKS) == {"counting_store.py", "test_counting_store.py"}
    for name, code in BLOCKS.items():
        (tmp_path / name).write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_counting_store.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_the_store_of_the_page_counts(tmp_path: Path) -> None:
    names: dict[str, type] = {}
    exec(compile(BLOCKS["counting_store.py"], str(PAGE), "exec"), names)
    store = names["CountingStore"](f"counting://{tmp_path}/receipts")
    store.save(a_receipt())
    assert store.saved == 1
    assert list(open_store(tmp_path / "receipts").search()) == [a_receipt()]
