"""Run a program of this folder in a process, and so a JVM, of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_RUN = """
import runpy, sys
sys.path.append({root!r})
runpy.run_module({module!r}, run_name="__main__")
"""


def report_of(module: str, folder: Path, *, java_home: str, **environment: str) -> Any:
    """What the program prints, as JSON. It runs in ``folder``, so that no worker of Spark finds
    our code beside it."""
    program = _RUN.format(root=str(ROOT), module=f"tests.spark.{module}")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    for name in ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        kept.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=kept | {"JAVA_HOME": java_home} | environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    return json.loads(done.stdout)
