"""Hash every golden vector through Spark, under every setting that might change it.

Run as a program, in a process of its own, because a process has one JVM: it takes the Java of
JAVA_HOME, and prints what it found as JSON.

A frame for each vector would be a job for each, a few thousand under all settings. So that is
done once in each zone. Under all settings, the vectors of one column stand side by side in one
wide frame, padded with nulls, and each column is hashed by itself.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from tests.spark.sessions import classic_session, spark_frame
from ubunye_core import fingerprint
from ubunye_core.hashing import rows_v1
from ubunye_core.testing import HashVector, hash_vectors

NO_SUCH_TYPE = frozenset({"uint32_extremes", "ext_uuid"})
VECTORS = [vector for vector in hash_vectors() if vector.name not in NO_SUCH_TYPE]

ZONE = "spark.sql.session.timeZone"
ANSI = "spark.sql.ansi.enabled"
NULL_FIELDS = "spark.sql.jsonGenerator.ignoreNullFields"
ALL_SETTINGS = [
    {ZONE: zone, ANSI: ansi, NULL_FIELDS: ignored}
    for zone, ansi, ignored in itertools.product(
        ("UTC", "Asia/Kolkata", "America/New_York"), ("true", "false"), ("true", "false")
    )
]
ONE_BY_ONE = [
    {ZONE: "UTC", ANSI: "true", NULL_FIELDS: "true"},
    {ZONE: "Asia/Kolkata", ANSI: "false", NULL_FIELDS: "false"},
    {ZONE: "America/New_York", ANSI: "true", NULL_FIELDS: "false"},
]
ROWS = 600  # enough for the fast rules in each of two partitions


def main() -> None:
    session = classic_session(**{"spark.default.parallelism": "1"})
    version = session.sparkContext._jvm.java.lang.System.getProperty("java.version")
    seen, mismatches = 0, []
    for settings, check in [
        *((settings, each_vector) for settings in ONE_BY_ONE),
        *((settings, side_by_side) for settings in ALL_SETTINGS),
    ]:
        for name, value in settings.items():
            session.conf.set(name, value)
        for vector, problem in check(session):
            seen += 1
            if problem:
                mismatches.append(f"{vector.name}, {settings}: {problem}")
    session.stop()
    json.dump({"java": version, "seen": seen, "mismatches": mismatches}, sys.stdout)


def each_vector(session: Any) -> Iterator[tuple[HashVector, str | None]]:
    """Hash each vector as a frame of its own."""
    with ThreadPoolExecutor(2) as pool:
        frames = [spark_frame(session, vector.table) for vector in VECTORS]
        yield from zip(VECTORS, pool.map(_problem, VECTORS, frames), strict=True)


def _problem(vector: HashVector, frame: Any) -> str | None:
    got = fingerprint(frame)
    found = (bool(got.error), got.schema_hash, got.data_hash, got.row_count)
    if not vector.is_hashable:
        return None if found[0] and got.data_hash is None else str(got)
    expected = (False, vector.schema_hash, vector.data_hash, vector.rows)
    return None if found == expected else str(got)


def side_by_side(session: Any) -> Iterator[tuple[HashVector, str | None]]:
    """Hash the vectors of one column as columns of one frame."""
    vectors = {
        f"v{at}": vector
        for at, vector in enumerate(VECTORS)
        if vector.is_hashable and [name for name, _ in vector.schema] == ["c"]
    }
    columns = [_padded(vector.table.column(0)) for vector in vectors.values()]
    wide = spark_frame(session, pa.table(columns, names=list(vectors))).repartition(2)
    got = fingerprint(wide, per_column=True)
    for name, vector in vectors.items():
        expected = _expected(name, vector)
        found = (got.column_hashes or {}).get(name)
        yield vector, None if found == expected else f"{found}, not {expected}; {got.error}"


def _padded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    nulls = pa.nulls(ROWS - len(column), column.type)
    return pa.chunked_array([*column.chunks, nulls])


def _expected(name: str, vector: HashVector) -> str:
    """The hash of the recorded lines, had the column this name, and the rows that pad it."""
    lines = [line.replace('{"c":', f'{{"{name}":', 1) for line in vector.lines]
    sums = rows_v1.Sums()
    sums.add([*lines, *["{}"] * (ROWS - len(lines))])
    return rows_v1.data_hash([(name, vector.schema[0][1])], sums)


if __name__ == "__main__":
    main()
