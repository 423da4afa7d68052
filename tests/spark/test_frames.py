"""Spark frames have the hash that the same rows have everywhere, however Spark holds them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.spark.frames import ROWS, TABLE
from tests.spark.sessions import spark_frame
from ubunye_core import fingerprint
from ubunye_core.hashing import UnhashableError, canonical_lines, row_count

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_a_frame_has_the_hash_of_the_same_arrow_table(spark: Any) -> None:
    got, expected = fingerprint(spark_frame(spark, TABLE)), fingerprint(TABLE)
    assert got.error is None
    assert got.route == "spark"
    assert got.data_hash == expected.data_hash
    assert got.schema_hash == expected.schema_hash
    assert got.row_count == ROWS
    assert got.column_hashes is None


def test_partitions_and_their_order_do_not_matter(spark: Any) -> None:
    frame = spark_frame(spark, TABLE)
    expected = fingerprint(TABLE).data_hash
    for other in (frame.coalesce(1), frame.repartition(7), frame.orderBy(frame.id.desc())):
        assert fingerprint(other).data_hash == expected


def test_many_empty_partitions_add_nothing(spark: Any) -> None:
    few = spark_frame(spark, TABLE.slice(0, 2)).repartition(9)
    assert fingerprint(few).data_hash == fingerprint(TABLE.slice(0, 2)).data_hash


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.execution.arrow.maxRecordsPerBatch", "7"),
        ("spark.sql.execution.arrow.maxRecordsPerBatch", "0"),
        ("spark.sql.execution.arrow.maxBytesPerBatch", "1kb"),
        ("spark.sql.execution.arrow.useLargeVarTypes", "true"),
        ("spark.sql.session.timeZone", "+05:30"),
        ("spark.sql.session.timeZone", "GMT+3"),
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.timestampType", "TIMESTAMP_NTZ"),
        ("spark.sql.jsonGenerator.ignoreNullFields", "false"),
        ("spark.sql.execution.pythonUDF.arrow.enabled", "false"),
        ("spark.sql.datetime.java8API.enabled", "true"),
    ],
)
def test_settings_of_the_session_do_not_matter(
    spark: Any, settings: Any, name: str, value: str
) -> None:
    frame = spark_frame(spark, TABLE)
    settings(name, value)
    assert fingerprint(frame).data_hash == fingerprint(TABLE).data_hash


def test_an_empty_frame_has_the_hash_of_an_empty_table(spark: Any) -> None:
    empty = TABLE.slice(0, 0)
    for frame in (spark_frame(spark, empty), spark_frame(spark, TABLE).where("id < 0")):
        assert fingerprint(frame).data_hash == fingerprint(empty).data_hash


def test_rows_without_columns_are_counted(spark: Any) -> None:
    expected = fingerprint(TABLE, columns=[])
    assert expected.data_hash is not None
    assert fingerprint(spark_frame(spark, TABLE).select()).data_hash == expected.data_hash
    assert fingerprint(spark_frame(spark, TABLE), columns=[]).data_hash == expected.data_hash


def test_null_nan_and_the_two_zeros_stay_four_values(spark: Any) -> None:
    tables = [
        pa.table({"a": pa.array([cell], pa.float64())}) for cell in (None, float("nan"), 0.0, -0.0)
    ]
    hashes = [fingerprint(spark_frame(spark, table)).data_hash for table in tables]
    assert hashes == [fingerprint(table).data_hash for table in tables]
    assert len(set(hashes)) == 4


def test_columns_can_be_chosen_and_hashed_one_by_one(spark: Any) -> None:
    frame = spark_frame(spark, TABLE)
    got = fingerprint(frame, columns=["small", "id"], per_column=True)
    expected = fingerprint(TABLE, columns=["small", "id"], per_column=True)
    assert got.data_hash == expected.data_hash
    assert got.column_hashes == expected.column_hashes
    assert "no column 'none'" in str(fingerprint(frame, columns=["none"]).error)


def test_names_may_differ_by_case_and_hold_what_spark_quotes(spark: Any, settings: Any) -> None:
    for sensitive in ("true", "false"):
        settings("spark.sql.caseSensitive", sensitive)
        table = pa.table(
            {name: [at] for at, name in enumerate(["a", "A", "a.b", "`x`", "", "é 😀"])}
        )
        got = fingerprint(spark_frame(spark, table), per_column=True)
        assert got.error is None
        assert got.column_hashes == fingerprint(table, per_column=True).column_hashes
        chosen = fingerprint(spark_frame(spark, table), columns=["A", "a.b"])
        assert chosen.data_hash == fingerprint(table, columns=["A", "a.b"]).data_hash


def test_a_setting_that_is_asked_for_is_not_left_behind(spark: Any) -> None:
    before = dict(spark.conf.getAll)
    files = spark.sparkContext.listFiles
    fingerprint(spark_frame(spark, TABLE))
    assert dict(spark.conf.getAll) == before
    assert spark.sparkContext.listFiles == files
    assert not spark.sparkContext.getJobTags()


def test_rows_are_counted_without_a_hash(spark: Any) -> None:
    frame = spark_frame(spark, TABLE)
    counted = fingerprint(frame, hash=False)
    assert (counted.row_count, counted.data_hash, counted.error) == (ROWS, None, None)
    assert row_count(frame) == ROWS


def test_large_values_are_hashed(spark: Any) -> None:
    frame = spark.range(24).selectExpr("id", "repeat(cast(id as string), 2000000) as text")
    table = pa.table(
        {"id": pa.array(range(24), pa.int64()), "text": [str(at) * 2_000_000 for at in range(24)]}
    )
    assert fingerprint(frame).data_hash == fingerprint(table).data_hash


def test_lines_are_not_fetched(spark: Any) -> None:
    with pytest.raises(UnhashableError, match="stay where they are"):
        list(canonical_lines(spark_frame(spark, TABLE)))
