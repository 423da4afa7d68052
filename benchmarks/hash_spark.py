"""How fast Spark frames are hashed, beside the engine that published rows-v1.

    python benchmarks/hash_spark.py [--rounds 7] [--rows 2000000] [--json]

Both hash one Parquet file of six mixed columns in one session on two cores, and take turns. A
figure is the median of the rounds, the ratio the median of the rounds' ratios; the CPU is that of
the JVM and its workers, which a busy machine sways less. The first rounds, in which the JVM still
compiles, are not counted. ubunye-engine 0.8.0 (`make engine`) is read from its own environment: its
hash is SQL, so none of it runs in a worker. A job that hands the rows to Python and drops them
there shows the limit of every way that does so.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LEAST_RATIO = 1.7
WARM_UP = 6


def main() -> int:
    """Measure, print, and fail where the bar is not reached."""
    if not (ROOT / ".venv-engine" / ".ready").exists():
        print("ubunye-engine is not here to compare with: make engine")
        return 1
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--rounds", type=int, default=7)
    asked.add_argument("--rows", type=int, default=2_000_000)
    asked.add_argument("--json", action="store_true")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = _measure(folder, given.rows, given.rounds)
    is_reached = figures["ratio"] >= LEAST_RATIO
    if given.json:
        print(json.dumps(figures))
        return 0 if is_reached else 1
    print(f"Spark {figures['spark']}, Java {figures['java']}, local[2], {given.rows:,} rows")
    for name, speed in figures["rows_per_second"].items():
        cpu = figures["cpu_ns_per_row"][name]
        print(f"  {name:<16}{speed:>12,.0f} rows/s{cpu:>8,.0f} ns of CPU a row")
    print(
        f"  ratio {figures['ratio']:.2f} (least {LEAST_RATIO}, limit {figures['limit']:.2f}), "
        f"of CPU {figures['cpu_ratio']:.2f}"
    )
    return 0 if is_reached else 1


def _measure(folder: str, rows: int, rounds: int) -> dict[str, Any]:
    import pyarrow.parquet as pq

    session = _session()
    session.sparkContext.setLogLevel("OFF")
    from hash_tables import mixed

    pq.write_table(mixed(rows), f"{folder}/rows.parquet")
    frame = session.read.parquet(f"{folder}/rows.parquet")
    contenders = _contenders(frame)
    hashes = {contenders["ours"](), contenders["reference"]()}
    if len(hashes) > 1:
        raise SystemExit("The two hashes differ.")
    walls: dict[str, list[float]] = {name: [] for name in contenders}
    cpus: dict[str, list[float]] = {name: [] for name in contenders}
    for at in range(WARM_UP + rounds):
        for name, run in contenders.items():
            started, cpu = time.perf_counter(), _cpu_seconds(os.getpid())
            run()
            if at >= WARM_UP:
                walls[name].append(time.perf_counter() - started)
                cpus[name].append(_cpu_seconds(os.getpid()) - cpu)
    java = session.sparkContext._jvm.java.lang.System.getProperty("java.version")
    version = session.version
    session.stop()
    return {
        "spark": version,
        "java": java,
        "rows_per_second": {name: rows / statistics.median(it) for name, it in walls.items()},
        "cpu_ns_per_row": {name: statistics.median(it) / rows * 1e9 for name, it in cpus.items()},
        "ratio": _ratio(walls["reference"], walls["ours"]),
        "cpu_ratio": statistics.median(cpus["reference"]) / statistics.median(cpus["ours"]),
        "limit": _ratio(walls["reference"], walls["transfer alone"]),
    }


def _ratio(slow: list[float], fast: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


def _cpu_seconds(process: int) -> float:
    """What a process and all below it have used so far, as Linux tells it."""
    own = _read(f"/proc/{process}/stat").rpartition(")")[2].split()
    ticks = sum(map(int, own[11:15]))  # its own, and of those below it that have ended
    children = [
        int(child)
        for task in Path("/proc").glob(f"{process}/task/*")
        for child in _read(f"{task}/children").split()
    ]
    return ticks / os.sysconf("SC_CLK_TCK") + sum(map(_cpu_seconds, children))


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:  # that thread or process has just ended
        return ""


def _session() -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.driver.host", "127.0.0.1").getOrCreate()


def _contenders(frame: Any) -> dict[str, Callable[[], str | None]]:
    engine = next((ROOT / ".venv-engine").glob("lib/python*/site-packages"))
    sys.path.append(str(engine))  # last, so that all it shares with us is ours
    from ubunye.adapters.spark.content_hash import fingerprint_spark

    from ubunye_core import fingerprint

    def drop(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        rows = sum(batch.num_rows for batch in batches)
        yield pa.record_batch([pa.array([rows])], names=["rows"])

    return {
        "ours": lambda: fingerprint(frame).data_hash,
        "reference": lambda: fingerprint_spark(frame).data_hash,
        "transfer alone": lambda: str(frame.mapInArrow(drop, "rows long").collect()),
    }


if __name__ == "__main__":
    sys.exit(main())
