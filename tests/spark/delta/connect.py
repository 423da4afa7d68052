"""The store through Spark Connect, which has no JVM in its own process to ask.

Run as a program: it starts a server on this machine, and speaks to it as to any other.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.spark.delta.tables import QUICK
from tests.spark.sessions import SETTINGS, delta_settings
from ubunye_core import ReceiptConflictError, Status, StoreUnavailableError, check_upstream
from ubunye_core.stores.spark import SparkStore, open_spark
from ubunye_core.testing import A_TASK, a_receipt, at

OCTOBER = {"month": "2026-10"}


def main() -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote("local[2]")
    for name, value in (SETTINGS | delta_settings(Path.cwd())).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    for name, value in QUICK.items():
        session.conf.set(name, value)
    store = open_spark("spark:///spark_catalog.default.receipts")
    report: dict[str, object] = {"session": type(session).__module__}
    try:
        store.search()
    except StoreUnavailableError as error:
        report["absent"] = type(error).__name__
    first = a_receipt(run_id="a", variables=OCTOBER | {"city": "Kraków"})
    store.save(a_receipt(run_id="a", status=Status.RUNNING, variables=first.variables))
    store.save(first)
    store.save(a_receipt(run_id="b", started_at=at(1), status=Status.ERROR))
    try:
        store.save(a_receipt(run_id="a", status=Status.ERROR, variables=first.variables))
    except ReceiptConflictError as error:
        report["refused"] = type(error).__name__
    report["loaded"] = store.load(A_TASK, "a") == first
    report["runs"] = [run.run_id for run in store.list_runs(A_TASK)]
    report["success"] = [
        run.run_id for run in store.success_by_batch(A_TASK, OCTOBER, whole=False) or ()
    ]
    report["settled"] = list(store.settled([A_TASK]))
    report["elected"] = [_elected(store, f"e{number}") for number in range(3)]
    store.save_many([a_receipt(run_id=f"m{n}", task="pay/monthly/many") for n in range(4)])
    report["many"] = len(list(store.scan("pay/monthly/many")))
    removed = store.remove("pay/monthly/many", ["m0", "m1", "nobody"])
    report["removed"] = [removed, len(store.search("pay/monthly/many"))]
    report["verdict"] = str(
        check_upstream([A_TASK], variables=first.variables, store=store).verdict
    )
    print(json.dumps(report), flush=True)
    session.stop()


def _elected(store: SparkStore, run_id: str) -> int:
    """How many of several ends that are saved at once are taken."""
    ends = [status for status in Status if status.is_final]
    ready = threading.Barrier(len(ends))

    def save(status: Status) -> bool:
        ready.wait()
        try:
            store.save(a_receipt(task="pay/monthly/ends", run_id=run_id, status=status))
        except ReceiptConflictError:
            return False
        return True

    with ThreadPoolExecutor(len(ends)) as pool:
        return sum(pool.map(save, ends))


if __name__ == "__main__":
    main()
