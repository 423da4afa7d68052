"""The fast rules give the sums of the plain definition, or none at all."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.hashing.tables import tables
from ubunye_core.hashing import rows_v1
from ubunye_core.hashing.arrow import PlainLines
from ubunye_core.hashing.fast.engine import fast_sums
from ubunye_core.hashing.fast.texts import Texts

TEXTS = Texts()


def plain_and_fast(table: pa.Table) -> tuple[rows_v1.Sums, rows_v1.Sums]:
    names = sorted(table.column_names)
    plain, fast = rows_v1.Sums(), rows_v1.Sums()
    for batch in table.to_batches():
        plain.merge(PlainLines(table.schema).sums([batch], names))
        fast.merge(fast_sums(TEXTS, batch, names))
    return plain, fast


@pytest.mark.slow
@given(tables())
def test_any_table_has_the_sums_of_the_plain_definition(table: pa.Table) -> None:
    plain, fast = plain_and_fast(table)
    assert fast == plain


@given(tables(), st.data())
def test_any_slice_has_them_too(table: pa.Table, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, table.num_rows))
    plain, fast = plain_and_fast(table.slice(start, data.draw(st.integers(0, 9))))
    assert fast == plain


WORDS = pa.array(["ann", None, 'b"b', ""])


@pytest.mark.parametrize(
    "array",
    [
        pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 2, 3], pa.int8()), WORDS),
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 5, 6], pa.int16()), WORDS),
        pa.RunEndEncodedArray.from_arrays(
            pa.array([2, 5], pa.int32()),
            pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), WORDS),
        ),
        pa.DictionaryArray.from_arrays(
            pa.array([0, 1, 1, 2], pa.uint16()), WORDS.cast(pa.string_view())
        ),
    ],
    ids=lambda array: str(array.type),
)
def test_nulls_that_an_encoding_hides_are_nulls(array: pa.Array) -> None:
    for column in (array, array[1:4]):
        table = pa.table({"a": column, "b": pa.array([1] * len(column))})
        plain, fast = plain_and_fast(table)
        assert fast == plain
        nested = pa.table({"s": pa.StructArray.from_arrays([column], ["x"])})
        plain, fast = plain_and_fast(nested)
        assert fast == plain


@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_two_thousand_tables_have_the_sums_of_the_plain_definition(table: pa.Table) -> None:
    plain, fast = plain_and_fast(table)
    assert fast == plain


@pytest.mark.soak
@settings(max_examples=50_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_fifty_thousand_tables_have_them(table: pa.Table) -> None:
    plain, fast = plain_and_fast(table)
    assert fast == plain
