"""Hash through Spark Connect, which has no JVM in its own process to ask.

Run as a program: it starts a server on this machine, and speaks to it as to any other.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tests.spark.frames import TABLE
from tests.spark.sessions import SETTINGS, spark_frame
from tests.spark.stopping import seconds_of_next_hash, slow_frame, stopped_hash
from ubunye_core import Fingerprint, fingerprint
from ubunye_core.hashing import row_count

UNREADABLE = "select cast('secret' || id as int) as a from range(2)"


def main() -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    frame = spark_frame(session, TABLE)
    report = {
        "frame": type(frame).__module__,
        "whole": _told(fingerprint(frame, per_column=True)),
        "chosen": _told(fingerprint(frame.repartition(5), columns=["small", "id"])),
        "count": row_count(frame),
        "no_columns": _told(fingerprint(frame, columns=[])),
        "empty": _told(fingerprint(frame.where("id < 0"))),
        "by_case": _told(fingerprint(session.sql("select 1 as a, 2 as A"))),
        "twice": _told(fingerprint(session.sql("select 1 as a, 2 as a"))),
        "variant": _told(fingerprint(session.sql("select parse_json('1') as a"))),
        "unreadable": _told(fingerprint(session.sql(UNREADABLE))),
        "stopped": type(stopped_hash(slow_frame(session))).__name__,
        "seconds_of_next": seconds_of_next_hash(session),
        "tags": sorted(session.getTags()),
    }
    print(json.dumps(report), flush=True)
    session.stop()


def _told(got: Fingerprint) -> list[Any]:
    return [got.data_hash, got.schema_hash, got.row_count, got.error, got.column_hashes]


if __name__ == "__main__":
    main()
