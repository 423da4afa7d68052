"""On tables of any types: a change is seen, and Polars gives the hash of the same rows."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.core.hashing.tables import FLAT, Values, tables
from ubunye_core.hashing import fingerprint

MANY = settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))


def data_hash(table: pa.Table) -> str:
    found = fingerprint(table)
    assert found.error is None
    assert found.data_hash is not None
    return found.data_hash


def without_cell(table: pa.Table, row: int, column: int) -> pa.Table:
    """The table with one value less."""
    whole = table.column(column).combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    parts = [whole.slice(0, row), pa.nulls(1, whole.type), whole.slice(row + 1)]
    return table.set_column(column, table.schema.field(column), pa.chunked_array(parts))


def is_changed_by_any_change(table: pa.Table, data: st.DataObject) -> None:
    row = data.draw(st.integers(0, table.num_rows - 1))
    column = data.draw(st.integers(0, table.num_columns - 1))
    before = data_hash(table)
    if table.column(column)[row].is_valid:
        assert data_hash(without_cell(table, row, column)) != before
    assert data_hash(pa.concat_tables([table, table.slice(row, 1)])) != before
    names = list(table.column_names)
    names[column] += "'"
    assume(len(set(names)) == len(names))
    assert data_hash(table.rename_columns(names)) != before
    for narrow, wide in ((pa.int32(), pa.int64()), (pa.string(), pa.binary())):
        value = 7 if narrow == pa.int32() else ""
        added = [
            table.append_column("added", pa.array([value] * table.num_rows, narrow).cast(type_))
            for type_ in (narrow, wide)
        ]
        assert data_hash(added[0]) != data_hash(added[1])


# The types that Polars has too; on some others its import ends the process.
POLARS = {
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.large_string(), pa.binary()),
    *(pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.decimal128(38, 18)),
}
SHARED = [(type_, values) for type_, values in FLAT if type_ in POLARS]


@st.composite
def shared_values(draw: st.DrawFn, depth: int = 3) -> tuple[pa.DataType, Values]:
    """A type that Polars has, and its values."""
    kind = draw(st.integers(0, 3)) if depth else 0
    if kind < 2:
        return draw(st.sampled_from(SHARED))
    child, values = draw(shared_values(depth - 1))
    if kind == 2:
        return pa.large_list(child), st.lists(st.none() | values, max_size=3)
    other, others = draw(shared_values(depth - 1))
    members = {"x": st.none() | values, "y": st.none() | others}
    return pa.struct([("x", child), ("y", other)]), st.fixed_dictionaries(members)


@st.composite
def shared_tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(0, 12))
    columns = {}
    for name in draw(st.lists(st.sampled_from("abcAé"), min_size=1, unique=True)):
        type_, values = draw(shared_values())
        cells = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        columns[name] = pa.array(cells, type_)
    return pa.table(columns)


def agrees_with_polars(table: pa.Table) -> None:
    assert fingerprint(pl.from_arrow(table)) == fingerprint(table)


@pytest.mark.slow
@given(tables().filter(lambda table: table.num_rows > 0), st.data())
def test_any_change_of_any_table_is_seen(table: pa.Table, data: st.DataObject) -> None:
    is_changed_by_any_change(table, data)


@given(shared_tables())
def test_polars_agrees_on_any_table_it_has_the_types_for(table: pa.Table) -> None:
    agrees_with_polars(table)


@pytest.mark.slow
@pytest.mark.timeout(600)
@MANY
@given(tables().filter(lambda table: table.num_rows > 0), st.data())
def test_two_thousand_tables_show_any_change(table: pa.Table, data: st.DataObject) -> None:
    is_changed_by_any_change(table, data)


@pytest.mark.slow
@pytest.mark.timeout(600)
@MANY
@given(shared_tables())
def test_polars_agrees_on_two_thousand_tables(table: pa.Table) -> None:
    agrees_with_polars(table)


@pytest.mark.soak
@settings(MANY, max_examples=50_000)
@given(shared_tables())
def test_polars_agrees_on_fifty_thousand_tables(table: pa.Table) -> None:
    agrees_with_polars(table)


@pytest.mark.soak
@settings(MANY, max_examples=50_000)
@given(tables().filter(lambda table: table.num_rows > 0), st.data())
def test_fifty_thousand_tables_show_any_change(table: pa.Table, data: st.DataObject) -> None:
    is_changed_by_any_change(table, data)
