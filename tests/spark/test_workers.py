"""Nothing of ours has to be installed where Spark's workers run: it goes along with the job."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.javas import java_homes
from tests.spark.frames import TABLE
from tests.spark.programs import report_of
from ubunye_core import fingerprint
from ubunye_core.hashing.spark import parcel

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

NEEDED = ("numpy*", "pyarrow*")
FAST = ("datafusion*", "typing_extensions*")


def _python_with(folder: Path, packages: tuple[str, ...]) -> Path:
    """A Python that has these packages of ours and no others."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    asked = [
        subprocess.run([which, "-c", ask], capture_output=True, text=True, check=True)
        for which in (sys.executable, python)
    ]
    ours, theirs = (Path(answer.stdout.strip()) for answer in asked)
    for package in packages:
        for found in ours.glob(package):
            (theirs / found.name).symlink_to(found)
    return python


def _report(tmp_path: Path, packages: tuple[str, ...]) -> Any:
    python = _python_with(tmp_path / "worker", packages)
    home = next(iter(java_homes().values()))
    report = report_of("elsewhere", tmp_path, java_home=home, PYSPARK_PYTHON=str(python))
    assert report["python"] == str(python)
    return report


def test_a_worker_needs_no_more_than_pyarrow_and_numpy(tmp_path: Path) -> None:
    report = _report(tmp_path, NEEDED)
    assert report["can_import"] == ["pyarrow"]
    expected = fingerprint(TABLE, per_column=True)
    assert report["hashes"] == [expected.data_hash, expected.schema_hash, None]
    assert report["column_hashes"] == expected.column_hashes
    # What went along is under a name of its own.
    package, _, _ = parcel._parcel()
    assert f"{package}.hashing.spark.worker" in report["ours"]
    assert {name.partition(".")[0] for name in report["ours"]} == {package}


def test_with_datafusion_a_worker_is_fast(tmp_path: Path) -> None:
    report = _report(tmp_path, NEEDED + FAST)
    assert report["can_import"] == ["pyarrow", "datafusion"]
    assert report["uses_datafusion"]
    assert report["hashes"][0] == fingerprint(TABLE).data_hash


def test_workers_without_pyarrow_are_told_what_they_need(tmp_path: Path) -> None:
    report = _report(tmp_path, ("numpy*",))
    assert report["can_import"] == []
    assert report["hashes"][0] is None
    assert "Install pyarrow and numpy where Spark's workers run." in report["hashes"][2]
