"""How fast Spark frames are hashed, beside the engine that published rows-v1.

    python benchmarks/bench_hash_spark.py [--rounds 7] [--rows 2000000] [--json]

Both hash one Parquet file of six mixed columns in one session on two cores, and take turns. A
figure is the median of the rounds, the ratio the median of the rounds' ratios. The first rounds,
in which the JVM still compiles, are not counted. ubunye-engine 0.8.0 (`make engine`) is read from
its own environment: its hash is SQL, so none of it runs in a worker. A job that hands the rows to
Python and drops them there shows the limit of every way that does so.
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
WARM_UP = 2


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
    for name in ("ours", "reference", "transfer alone"):
        print(f"  {name:<16}{figures[name]:>12,.0f} rows/s")
    ratio = figures["ratio"]
    print(f"  {'ratio':<16}{ratio:>12.2f}   (least {LEAST_RATIO}, limit {figures['limit']:.2f})")
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
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(WARM_UP + rounds):
        for name, run in contenders.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    warm = {name: times[WARM_UP:] for name, times in seconds.items()}
    java = session.sparkContext._jvm.java.lang.System.getProperty("java.version")
    version = session.version
    session.stop()
    return {
        "spark": version,
        "java": java,
        **{name: rows / statistics.median(times) for name, times in warm.items()},
        "ratio": _ratio(warm["reference"], warm["ours"]),
        "limit": _ratio(warm["reference"], warm["transfer alone"]),
    }


def _ratio(slow: list[float], fast: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


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
