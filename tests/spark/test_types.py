"""Spark's types have the names of rows-v1, or the frame says why it has no hash."""

from __future__ import annotations

import decimal
from typing import Any

import pyarrow as pa
import pytest

from ubunye_core import Fingerprint, fingerprint
from ubunye_core.hashing import rows_v1

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def _hashed(spark: Any, expression: str) -> Fingerprint:
    return fingerprint(spark.sql(f"select {expression} as a").coalesce(1))


@pytest.mark.parametrize(
    ("expression", "name", "cell"),
    [
        ("cast('x' as char(3))", "string", '"x"'),
        ("cast('x' as varchar(3))", "string", '"x"'),
        ("'X' collate UTF8_LCASE", "string", '"X"'),
        ("cast(1 as tinyint)", "int8", "1"),
        ("cast(1.1e7 as float)", "float32", "1.1E7"),
        ("cast(2e23 as double)", "float64", "2.0E23"),
        ("cast(1.1 as decimal(38,18))", "decimal(38,18)", "1.100000000000000000"),
        ("X'00ff'", "binary", '"AP8="'),
        ("timestamp_ntz'2024-02-29 12:00:00'", "timestamp_ntz", '"2024-02-29T12:00:00.000000"'),
        ("timestamp'2024-02-29 12:00:00Z'", "timestamp", '"2024-02-29T12:00:00.000000Z"'),
        ("date'-0221-09-04'", "date", '"-0221-09-04"'),
        ("time'01:00:00.1'", "time64[us]", '"01:00:00.100000"'),
        ("array(time'01:00:00')", "list<time64[us]>", '["01:00:00"]'),
        (
            "interval '1 01:01:01' day to second",
            "interval day to second",
            "\"INTERVAL '1 01:01:01' DAY TO SECOND\"",
        ),
        ("map('b', 1, 'a', null)", "map<string,int32>", '{"a":null,"b":1}'),
        ("array(named_struct('x', 1, 'X', 2))", "list<struct<x:int32,X:int32>>", '[{"x":1,"X":2}]'),
        ("array(null, null)", "list<null>", "[null,null]"),
        ("named_struct('a:b', 1, 'c', null)", "struct<a:b:int32,c:null>", '{"a:b":1}'),
    ],
)
def test_a_value_is_written_as_rows_v1_says(
    spark: Any, expression: str, name: str, cell: str
) -> None:
    sums = rows_v1.Sums()
    sums.add([f'{{"a":{cell}}}'])
    got = _hashed(spark, expression)
    assert got.error is None
    assert got.schema_hash == rows_v1.schema_hash([("a", name)])
    assert got.data_hash == rows_v1.data_hash([("a", name)], sums)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("interval '1' year", "'interval year'"),
        ("interval '1' day", "'interval day'"),
        ("make_interval(1, 2)", "'interval'"),
        ("parse_json('1')", "'variant'"),
        ("array(parse_json('1'))", "'variant'"),
        ("st_geomfromwkb(X'0101000000000000000000f03f0000000000000040')", "'geometry(0)'"),
        ("named_struct('x', 1, 'x', 2)", "has the field name 'x' more than once"),
        ("named_struct('', 1, '\\0', 2)", r"has the field name '\x00'"),
        ("array(named_struct('x\\0y', 1))", r"has the field name 'x\x00y'"),
        ("map(X'00', 1)", "has map keys of type binary"),
        ("map(array(1), 1)", "has map keys of type list<int32>"),
        ("cast(X'ff' as string)", "is not valid UTF-8"),
        ("array(named_struct('s', cast(X'ff' as string)))", "is not valid UTF-8"),
    ],
)
def test_what_has_no_text_has_no_hash_and_says_why(spark: Any, expression: str, why: str) -> None:
    got = _hashed(spark, expression)
    assert got.data_hash is None
    assert got.error is not None
    assert why in got.error
    assert "'a'" in got.error


def test_two_columns_of_one_name_are_refused(spark: Any) -> None:
    got = fingerprint(spark.sql("select 1 as a, 2 as a"))
    assert got.error == "The table has the column name 'a' more than once."


def test_a_column_that_has_no_hash_can_be_left_out(spark: Any) -> None:
    frame = spark.sql("select 1 as a, parse_json('1') as b, 2 as c, 3 as c")
    expected = fingerprint(pa.table({"a": pa.array([1], pa.int32())}))
    assert fingerprint(frame, columns=["a"]).data_hash == expected.data_hash


def test_a_stored_char_column_is_text(spark: Any, settings: Any, tmp_path: Any) -> None:
    settings("spark.sql.preserveCharVarcharTypeInfo", "true")
    frame = spark.sql("select cast('x' as char(3)) as a, cast('y' as varchar(3)) as b")
    assert [type(field.dataType).__name__ for field in frame.schema] == ["CharType", "VarcharType"]
    expected = fingerprint(pa.table({"a": ["x  "], "b": ["y"]}))
    assert fingerprint(frame).data_hash == expected.data_hash


def test_a_users_own_type_is_refused(spark: Any) -> None:
    from pyspark.ml.linalg import Vectors

    frame = spark.createDataFrame([(Vectors.dense([1.0]),)], ["a"])
    got = fingerprint(frame)
    assert got.error == "Column 'a' (vector) has type 'vector', which rows-v1 can't write."


def test_a_stream_is_refused(spark: Any) -> None:
    stream = spark.readStream.format("rate").load()
    assert "no last row" in str(fingerprint(stream).error)
    assert "no last row" in str(fingerprint(stream, hash=False).error)


def test_a_column_is_no_frame(spark: Any) -> None:
    assert "no kind of table" in str(fingerprint(spark.range(1).id).error)


def test_what_spark_cannot_read_is_an_error_that_quotes_no_cell(spark: Any, settings: Any) -> None:
    settings("spark.sql.ansi.enabled", "true")
    got = _hashed(spark, "cast(concat('sec', 'ret') as int)")
    assert got.data_hash is None
    assert got.error == "Spark could not read the rows (NumberFormatException, CAST_INVALID_INPUT)."


def test_a_table_that_is_gone_is_an_error(spark: Any, tmp_path: Any) -> None:
    spark.range(5).write.parquet(f"{tmp_path}/gone")
    frame = spark.read.parquet(f"{tmp_path}/gone")
    for file in (tmp_path / "gone").glob("*.parquet"):
        file.unlink()
    got = fingerprint(frame)
    assert got.data_hash is None
    assert str(got.error).startswith("Spark could not read the rows (")
    assert fingerprint(frame, hash=False).row_count is None


def test_a_decimal_and_a_null_of_every_width_pass(spark: Any) -> None:
    types = [(p, s) for p in (1, 9, 18, 19, 38) for s in (0, p // 2, p)]
    columns = {
        f"c{at}": pa.array(
            [None, decimal.Decimal(1).scaleb(-s) if s else None], pa.decimal128(p, s)
        )
        for at, (p, s) in enumerate(types)
    }
    table = pa.table(columns)
    assert fingerprint(spark.createDataFrame(table)).data_hash == fingerprint(table).data_hash
