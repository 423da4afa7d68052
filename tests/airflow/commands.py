"""What Airflow's own commands say of this package."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def said_by_airflow(*arguments: str) -> list[dict[str, Any]]:
    """The rows that `airflow ... --output json` prints."""
    command = [sys.executable, "-m", "airflow", *arguments, "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout[done.stdout.index("[{") :])
    return rows


def names_of_providers() -> list[str]:
    return [each["package_name"] for each in said_by_airflow("providers", "list")]
