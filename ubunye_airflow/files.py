"""Files that a task of a DAG is told of."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def beside_dag(given: str | Path, task: Any) -> Path:
    """The place of a file: a relative one is looked for beside the DAG's."""
    path = Path(given)
    is_whole = path.is_absolute() or str(given).startswith("~")
    return path if is_whole else Path(task.dag.fileloc).parent / path
