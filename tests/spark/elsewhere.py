"""Hash through Spark where its workers run a Python that has nothing of ours.

Run as a program, with PYSPARK_PYTHON naming that Python.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from tests.spark.frames import TABLE
from tests.spark.sessions import classic_session, spark_frame
from ubunye_core import fingerprint


def _what_a_worker_has() -> dict[str, Any]:
    import importlib.util
    import sys

    names = ("ubunye_core", "yaml", "click", "pandas", "pyarrow", "datafusion")
    return {
        "python": sys.executable,
        "can_import": [name for name in names if importlib.util.find_spec(name)],
        "uses_datafusion": "datafusion" in sys.modules,
        "ours": sorted(name for name in sys.modules if name.startswith("ubunye_core")),
    }


def _in_the_worker_that_hashed(batches: Iterator[Any]) -> Iterator[Any]:
    import json

    import pyarrow as pa

    for _ in batches:
        pass
    yield pa.record_batch([pa.array([json.dumps(_what_a_worker_has())])], names=["found"])


def main() -> None:
    session = classic_session(**{"spark.master": "local[1]", "spark.default.parallelism": "1"})
    frame = spark_frame(session, TABLE)
    got = fingerprint(frame, per_column=True)
    if got.error is None:
        row = frame.mapInArrow(_in_the_worker_that_hashed, "found string").first()
        worker = json.loads(row.found)
    else:  # then it may not have pyarrow either
        one = session.sparkContext.parallelize([0], 1)
        worker = one.map(lambda _: _what_a_worker_has()).first()
    session.stop()
    hashes = [got.data_hash, got.schema_hash, got.error]
    report = {"hashes": hashes, "column_hashes": got.column_hashes}
    json.dump(report | worker, sys.stdout)


if __name__ == "__main__":
    main()
