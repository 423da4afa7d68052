"""Spark sessions for the tests, and frames from Arrow tables."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.warehouse.dir": "/nonexistent",
    "spark.sql.timeType.enabled": "true",
    # Small jobs by the thousand: nothing to be gained from the second compiler, and everything
    # from not waiting 40 ms for the acknowledgement of a packet.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.python.unix.domain.socket.enabled": "true",
}


JARS = Path(__file__).parents[2] / ".jars"
"""Where `make jars` puts the jars of Delta."""


def delta_settings(folder: Path) -> dict[str, str]:
    """What a session needs for Delta, with tables in a folder; nothing where there are no jars."""
    jars = sorted(map(str, JARS.glob("*.jar")))
    if not jars:
        return {}
    return {
        "spark.jars": ",".join(jars),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(folder / "tables"),
    }


def classic_session(**settings: str) -> Any:
    """A session with a JVM of its own beneath this process."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spark_frame(session: Any, table: pa.Table) -> Any:
    """A Spark frame of the table's values, in the types Spark has for them."""
    from pyspark.sql.pandas.types import from_arrow_schema

    for place, field in enumerate(table.schema):
        table = table.set_column(place, field.name, _plain(table.column(place)))
    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    return session.createDataFrame(table, schema)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values in the one layout that Spark reads."""
    if pa.types.is_run_end_encoded(column.type):
        return pa.chunked_array(map(pc.run_end_decode, column.chunks), column.type.value_type)
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pa.types.is_float16(column.type):
        return column.cast(pa.float32())
    if pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    return column
