"""How long a save takes on each kind of store.

    python -m benchmarks.stores.saves [--runs 200] [--kinds file,sqlite] [--url URL] [--json]

Each run is saved twice, as ``running`` and as ``success``, each time durably as the store promises
it; PostgreSQL with ``fsync`` on. The median of a save, and the slowest of a hundred. ``--url``
names further stores, such as a bucket: their receipts stay.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.stores.data import a_pattern, a_receipt
from ubunye_core import open_store
from ubunye_core.receipt import Receipt, Status

KINDS = ("memory", "file", "jsonl", "sqlite", "postgresql", "delta")
TASK = "bench/saves/load"


@dataclass(frozen=True)
class Saves:
    """What saving cost on one store, in milliseconds."""

    kind: str
    runs: int
    running: float
    success: float
    slowest_of_100: float


def pairs(count: int) -> Iterator[tuple[Receipt, Receipt]]:
    """Runs as they are saved: first running, then ended."""
    pattern = a_pattern(TASK)
    first = datetime.now(UTC) - timedelta(hours=1)
    for at in range(count):
        started_at = first + timedelta(seconds=at)
        batch = {"dt": started_at.isoformat(), "region": "north", "month": f"{started_at:%Y-%m}"}
        ended = a_receipt(pattern, started_at, Status.SUCCESS, batch)
        yield replace(ended, status=Status.RUNNING, ended_at=None, outputs=()), ended


def measure(kind: str, url: str, runs: int) -> Saves:
    """Save so many runs one after the other. The first makes the place, and does not count."""
    store = open_store(url)
    times: tuple[list[float], list[float]] = ([], [])
    for at, pair in enumerate(pairs(runs + 1)):
        for receipt, spent in zip(pair, times, strict=True):
            start = time.perf_counter()
            store.save(receipt)
            if at:
                spent.append((time.perf_counter() - start) * 1000)
    together = sorted(times[0] + times[1])
    return Saves(
        kind,
        runs,
        round(statistics.median(times[0]), 2),
        round(statistics.median(times[1]), 2),
        round(together[int(len(together) * 0.99)], 2),
    )


def main() -> None:
    """Measure, and print a table that can be kept."""
    parser = argparse.ArgumentParser(description=__doc__, prog="benchmarks.stores.saves")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--url", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        urls = {
            "memory": "memory://saves",
            "file": (place / "receipts").as_uri(),
            "jsonl": f"jsonl://{place}/ledger.jsonl",
            "sqlite": f"sqlite:///{place}/receipts.db",
            "delta": f"delta+file://{place}/table",
        }
        kinds = options.kinds.split(",")
        if "postgresql" in kinds:
            from tests.core.stores.sql.server import running_postgres

            urls["postgresql"] = stack.enter_context(running_postgres(fsync="on")).url()
        named = [(kind, urls[kind]) for kind in kinds if kind]
        named += [(url.split(":")[0], url) for url in options.url]
        found = [measure(kind, url, options.runs) for kind, url in named]
    if options.json:
        print(json.dumps([asdict(each) for each in found]))
        return
    print("| store | runs | `running`, ms | `success`, ms | slowest of 100 |")
    print("|---|--:|--:|--:|--:|")
    for it in found:
        print(f"| {it.kind} | {it.runs} | {it.running} | {it.success} | {it.slowest_of_100} |")


if __name__ == "__main__":
    main()
