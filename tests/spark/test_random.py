"""Random tables have one hash, through Spark and through Arrow.

Spark takes a tenth of a second for the smallest job. So each job gets many tables: the columns of
one, each hashed by itself too.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from tests.core.hashing.tables import TEXTS, typed_values
from tests.spark.sessions import spark_frame
from ubunye_core import fingerprint

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

COLUMNS, ROWS = 12, 6
SPARK_HAS = (
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()),
    *(pa.string(), pa.binary(), pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("us")),
    *(pa.decimal128(10, 2), pa.decimal128(38, 18), pa.duration("us"), pa.time64("us"), pa.null()),
)


def _spark_has(type_: pa.DataType) -> bool:
    if pa.types.is_list(type_):
        return _fits_inside(type_.value_type)
    if pa.types.is_map(type_):
        return _spark_has(type_.key_type) and _fits_inside(type_.item_type)
    if pa.types.is_struct(type_):
        named = type_.num_fields > 0 and not any("\0" in field.name for field in type_)
        return named and all(_fits_inside(field.type) for field in type_)
    return type_ in SPARK_HAS


def _fits_inside(type_: pa.DataType) -> bool:
    # pyarrow 26, by which PySpark casts, cuts columns of nulls short that stand inside others.
    return not pa.types.is_null(type_) and _spark_has(type_)


@st.composite
def _tables(draw: st.DrawFn) -> pa.Table:
    names = draw(st.lists(TEXTS, min_size=COLUMNS, max_size=COLUMNS, unique=True))
    columns = []
    for _ in names:
        type_, values = draw(typed_values(2).filter(lambda drawn: _spark_has(drawn[0])))
        cells = st.lists(st.none() | values, min_size=ROWS, max_size=ROWS)
        columns.append(pa.array(draw(cells), type_))
    return pa.Table.from_arrays(columns, names=names)


@profile(
    max_examples=30,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)
@given(table=_tables())
def test_random_tables_hash_alike_through_spark_and_arrow(spark: Any, table: pa.Table) -> None:
    got = fingerprint(spark_frame(spark, table), per_column=True)
    expected = fingerprint(table, per_column=True)
    assert got.error is None
    assert got.column_hashes == expected.column_hashes
    assert (got.data_hash, got.schema_hash) == (expected.data_hash, expected.schema_hash)
    assert got.row_count == ROWS
