"""What importing costs: core alone, and what each adapter adds to its scheduler's own import.

    python benchmarks/imports.py [--runs 15] [--json]

A scheduler imports DAG files again and again all day, so each door has a budget of 100 ms. Every
figure is the least CPU time of fresh interpreters with warm bytecode, after what is imported before
(nothing, or the scheduler). Garbage of what came before is collected first: else its collection
falls into our import by chance.

One machine takes twice the time of another, and of itself an hour later. So modules of the standard
library that took 65 ms where the budget was set are imported in turn with each door: who takes at
most 1.5 times as long as they do keeps the budget, on any machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass

BUDGET_MS = 100
BUDGET_TIMES = 1.5

YARDSTICK = "the standard library"
STANDARD = (
    "import argparse, asyncio, ctypes, decimal, email.mime.text, http.server, inspect\n"
    "import logging.config, multiprocessing.pool, sqlite3, tarfile, unittest.mock\n"
    "import xml.dom.minidom, zipfile"
)

CORE = "from ubunye_core import check_upstream, record_run, open_store"
AIRFLOW = (
    "import airflow\nfrom airflow.sdk import BaseSensorOperator, Context, BaseHook\n"
    "from airflow.triggers.base import BaseTrigger"
)
SENSOR = "from ubunye_airflow import UpstreamReceiptSensor"
DAGSTER = "import dagster"
LIBRARY = "import ubunye_dagster"

MEASURED = {
    YARDSTICK: ("", STANDARD),
    "ubunye_core": ("", CORE),
    "UpstreamReceiptSensor on Airflow": (AIRFLOW, SENSOR),
    "ubunye_dagster on dagster": (DAGSTER, LIBRARY),
}
HEAVY = ("airflow", "dagster", "numpy", "pandas", "pyarrow", "pyspark", "sqlalchemy", "yaml")
PROGRAM = """
{before}
import gc, time
gc.collect()
start = time.process_time()
{measured}
print((time.process_time() - start) * 1000)
"""


@dataclass(frozen=True)
class Cost:
    """What one import costs."""

    name: str
    least_ms: float
    median_ms: float
    times: float
    """How many times as long as the yardstick."""
    budget_ms: float = BUDGET_MS
    budget_times: float = BUDGET_TIMES

    @property
    def is_within_budget(self) -> bool:
        """Whether it keeps its promise, here or where the budget was given."""
        return self.least_ms <= self.budget_ms or self.times <= self.budget_times


def run(program: str, environment: dict[str, str]) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def measure(names: list[str], runs: int) -> list[Cost]:
    """The cost of the yardstick, and of each import, from ``runs`` fresh interpreters each."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {
            **{k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
            "PYTHONPYCACHEPREFIX": scratch,
            "AIRFLOW_HOME": scratch,
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        }
        programs = {
            name: PROGRAM.format(before=before, measured=measured)
            for name, (before, measured) in MEASURED.items()
            if name in {YARDSTICK, *names}
        }
        times: dict[str, list[float]] = {name: [] for name in programs}
        for index in range(runs + 1):
            for name, program in programs.items():
                spent = float(run(program, environment))
                if index:  # the first run writes the bytecode
                    times[name].append(spent)
    yardstick = min(times[YARDSTICK])
    return [
        Cost(
            name,
            round(min(spent), 1),
            round(sorted(spent)[len(spent) // 2], 1),
            round(min(spent) / yardstick, 2),
        )
        for name, spent in times.items()
    ]


def heavy_imports(environment: dict[str, str] | None = None) -> list[str]:
    """The heavy libraries that importing core brings in; there should be none."""
    said = f"json.dumps([name for name in {HEAVY!r} if name in sys.modules])"
    program = f"import json, sys\n{CORE}\nprint({said})"
    found: list[str] = json.loads(run(program, environment or dict(os.environ)))
    return found


def installed() -> list[str]:
    """What can be measured here, besides the yardstick."""
    needs = {"UpstreamReceiptSensor on Airflow": "airflow", "ubunye_dagster on dagster": "dagster"}
    return [
        name
        for name in MEASURED
        if name != YARDSTICK and (name not in needs or importlib.util.find_spec(needs[name]))
    ]


def main() -> int:
    """Measure, print, and fail where a budget is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    costs = measure(installed(), options.runs)
    heavy = heavy_imports()
    if options.json:
        print(json.dumps({"costs": [asdict(cost) for cost in costs], "heavy": heavy}))
    else:
        for cost in costs:
            print(
                f"{cost.name:36} least {cost.least_ms:6.1f} ms  median {cost.median_ms:6.1f} ms"
                f"  {cost.times:5.2f} times the yardstick"
            )
        print(f"heavy libraries that core imports: {', '.join(heavy) or 'none'}")
    return 0 if not heavy and all(cost.is_within_budget for cost in costs) else 1


if __name__ == "__main__":
    sys.exit(main())
