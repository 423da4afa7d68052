"""The hash costs nothing to import, and says what to install."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ubunye_core.hashing


def _python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_it_imports_no_frame_library() -> None:
    heavy = {"pyarrow", "numpy", "datafusion", "pandas", "polars", "pyspark", "importlib.metadata"}
    code = f"import sys, ubunye_core.hashing; print({heavy} & set(sys.modules) or 'none')"
    assert _python(code) == "none"


BLOCKED = """
import sys
sys.modules["pyarrow"] = None
from ubunye_core.hashing import fingerprint, row_count
class Frame:
    def __arrow_c_stream__(self, requested_schema=None): ...
"""


@pytest.mark.parametrize("frame", ["Frame()", "'f.csv'"])
def test_a_missing_pyarrow_is_told_with_the_extra_to_install(frame: str, tmp_path: Path) -> None:
    code = f"""{BLOCKED}
import os
os.chdir({str(tmp_path)!r})
open("f.csv", "w").write("a\\n1\\n")
print(fingerprint({frame}).error)
"""
    assert _python(code) == ("Hashing rows needs 'pyarrow'. pip install 'ubunye-receipts[arrow]'")


def test_it_uses_no_more_of_core_than_is_sent_to_the_workers_of_spark() -> None:
    folder = Path(ubunye_core.hashing.__file__).parent
    uses = re.compile(r"^ *(?:from|import) (ubunye_core[.\w]*)", re.MULTILINE)
    used = {name for file in folder.rglob("*.py") for name in uses.findall(file.read_text("utf-8"))}
    assert "ubunye_core.errors" in used
    assert [name for name in used if not name.startswith("ubunye_core.hashing")] == [
        "ubunye_core.errors"
    ]


def test_pandas_is_not_imported_to_hash_an_arrow_table() -> None:
    code = """
import sys, pyarrow as pa
from ubunye_core.hashing import fingerprint
assert fingerprint(pa.table([pa.nulls(2, pa.float32())], names=["a"])).data_hash
print({"pandas", "polars", "pyspark"} & set(sys.modules) or "none")
"""
    assert _python(code) == "none"
