"""What must not matter to a hash, and what must."""

from __future__ import annotations

import math
import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubunye_core.hashing import canonical_lines, fingerprint

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
INTS = st.integers(-(2**63), 2**63 - 1)
FLAT: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), INTS),
    (pa.uint8(), st.integers(0, 255)),
    (pa.float64(), st.floats()),
    (pa.float32(), st.floats(width=32)),
    (pa.bool_(), st.booleans()),
    (pa.string(), TEXTS),
    (pa.binary(), st.binary(max_size=5)),
    (pa.date32(), st.dates()),
    (pa.timestamp("us", "UTC"), INTS),
    (pa.timestamp("us"), INTS),
    (pa.decimal128(20, 3), st.decimals(-(10**9), 10**9, places=3)),
]
NESTED: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.list_(pa.float32()), st.lists(st.none() | st.floats(width=32), max_size=3)),
    (
        pa.struct([("b", pa.int8()), ("a", pa.string())]),
        st.fixed_dictionaries({"b": st.none() | st.integers(-9, 9), "a": st.none() | TEXTS}),
    ),
    (
        pa.map_(pa.string(), pa.list_(pa.int8())),
        st.dictionaries(
            TEXTS, st.none() | st.lists(st.integers(-9, 9), max_size=2), max_size=3
        ).map(lambda entries: list(entries.items())),
    ),
]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(0, 8))
    names = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    columns = []
    for _ in names:
        type_, values = draw(st.sampled_from(FLAT + NESTED))
        cells = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        columns.append(pa.array(cells, type_))
    return pa.Table.from_arrays(columns, names=names)


@given(tables(), st.randoms())
def test_rows_can_come_in_any_order(table: pa.Table, chance: random.Random) -> None:
    order = list(range(table.num_rows))
    chance.shuffle(order)
    assert fingerprint(table.take(pa.array(order, pa.int64()))) == fingerprint(table)
    assert fingerprint(table).error is None


@given(tables(), st.randoms())
def test_columns_can_come_in_any_order(table: pa.Table, chance: random.Random) -> None:
    names = list(table.column_names)
    chance.shuffle(names)
    assert fingerprint(table.select(names)) == fingerprint(table)


@pytest.mark.slow
@given(tables(), st.integers(1, 4))
def test_chunks_and_slices_do_not_matter(table: pa.Table, size: int) -> None:
    whole = fingerprint(table)
    batches = table.to_batches(max_chunksize=size)
    assert fingerprint(pa.Table.from_batches(batches, table.schema)) == whole
    assert fingerprint(pa.RecordBatchReader.from_batches(table.schema, batches)) == whole
    padded = pa.concat_tables([table, table, table])
    part = padded.slice(table.num_rows, table.num_rows)
    assert fingerprint(part) == whole


# The C interface ends a name at its first zero byte.
@given(tables().filter(lambda table: not any("\0" in name for name in table.column_names)))
def test_any_object_with_an_arrow_stream_hashes_like_its_table(table: pa.Table) -> None:
    class Frame:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return table.__arrow_c_stream__(requested_schema)

    assert fingerprint(Frame()) == fingerprint(table)


@given(tables().filter(lambda table: table.num_rows > 0), st.data())
def test_one_row_more_or_less_changes_the_hash(table: pa.Table, data: st.DataObject) -> None:
    row = data.draw(st.integers(0, table.num_rows - 1))
    less = pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
    more = pa.concat_tables([table, table.slice(row, 1)])
    hashes = {fingerprint(each).data_hash for each in (table, less, more)}
    assert len(hashes) == 3


@given(st.lists(INTS, min_size=1, max_size=9), st.data())
def test_one_changed_cell_changes_the_hash(cells: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(cells) - 1))
    changed = [*cells]
    changed[at] = data.draw((st.none() | INTS).filter(lambda value: value != cells[at]))
    before = fingerprint(pa.table({"a": pa.array(cells, pa.int64())}))
    after = fingerprint(pa.table({"a": pa.array(changed, pa.int64())}))
    assert before.data_hash != after.data_hash
    assert before.schema_hash == after.schema_hash


def test_null_nan_and_the_two_zeros_are_four_values() -> None:
    cells = [None, math.nan, 0.0, -0.0]
    hashes = {fingerprint(pa.table({"a": pa.array([c], pa.float64())})).data_hash for c in cells}
    assert len(hashes) == 4


def test_the_bits_of_a_nan_do_not_matter() -> None:
    bits = [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001]
    array = pa.array([b - 2**64 if b >= 2**63 else b for b in bits], pa.int64()).view(pa.float64())
    assert set(canonical_lines(pa.table({"a": array}))) == {'{"a":"NaN"}'}


def test_the_type_of_a_column_matters() -> None:
    types = [pa.int8(), pa.int64(), pa.uint64()]
    hashes = {fingerprint(pa.table({"a": pa.array([1], type_)})).data_hash for type_ in types}
    assert len(hashes) == 3


def test_the_zone_of_a_timestamp_and_its_unit_do_not_matter() -> None:
    same = [
        pa.array([1_700_000_000], pa.timestamp("s", "UTC")),
        pa.array([1_700_000_000_000], pa.timestamp("ms", "Asia/Kolkata")),
        pa.array([1_700_000_000_000_000], pa.timestamp("us", "-05:00")),
        pa.array([1_700_000_000_000_000_999], pa.timestamp("ns", "Africa/Harare")),
    ]
    assert len({fingerprint(pa.table({"a": array})) for array in same}) == 1


WORDS = ["ann", None, "bob", "ann", "", "zoë"]
LISTS = [[1, None], None, [], [2, 3], [4, 5]]


def _runs(cells: list[Any], type_: pa.DataType) -> pa.Array:
    ends = pa.array(range(1, len(cells) + 1), pa.int32())
    return pa.RunEndEncodedArray.from_arrays(ends, pa.array(cells, type_))


@pytest.mark.parametrize(
    "array",
    [
        pa.array(WORDS, pa.large_string()),
        pa.array(WORDS, pa.string_view()),
        pa.array(WORDS).dictionary_encode(),
        pa.DictionaryArray.from_arrays(
            pa.array([0, None, 1, 0, 3, 5], pa.int8()),
            pa.array(["ann", "bob", "unused", "", "unused", "zoë"], pa.string_view()),
        ),
        pa.DictionaryArray.from_arrays(
            pa.array([0, 2, 1, 0, 3, 4], pa.uint16()), pa.array(["ann", "bob", None, "", "zoë"])
        ),
        _runs(WORDS, pa.string()),
        _runs(WORDS, pa.string_view()),
        pa.RunEndEncodedArray.from_arrays(
            pa.array([1, 2, 3, 4, 5, 6], pa.int16()), pa.array(WORDS).dictionary_encode()
        ),
    ],
    ids=lambda array: str(array.type),
)
def test_the_layout_of_text_does_not_matter(array: pa.Array) -> None:
    assert fingerprint(pa.table({"a": array})) == fingerprint(pa.table({"a": WORDS}))
    tail = pa.table({"a": array}).slice(1, 4)
    assert fingerprint(tail) == fingerprint(pa.table({"a": WORDS[1:5]}))


def test_a_dictionary_may_hold_nested_values() -> None:
    cells = [{"x": "p"}, {"x": None}, {"x": "unused"}]
    for text_type in (pa.string(), pa.string_view()):
        values = pa.array(cells, pa.struct([("x", text_type)]))
        coded = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1]), values)
        plain = pa.array([cells[1], None, cells[0], cells[1]], pa.struct([("x", pa.string())]))
        assert fingerprint(pa.table({"a": coded})) == fingerprint(pa.table({"a": plain}))


@pytest.mark.parametrize(
    "type_",
    [
        pa.large_list(pa.int64()),
        pa.list_view(pa.int64()),
        pa.large_list_view(pa.int64()),
    ],
    ids=str,
)
def test_the_layout_of_lists_does_not_matter(type_: pa.DataType) -> None:
    expected = pa.array(LISTS, pa.list_(pa.int64()))
    given_ = pa.array(LISTS, type_)
    assert fingerprint(pa.table({"a": given_})) == fingerprint(pa.table({"a": expected}))
    assert fingerprint(pa.table({"a": given_[1:4]})) == fingerprint(pa.table({"a": expected[1:4]}))


def test_a_list_of_fixed_size_is_a_list_also_where_it_is_null() -> None:
    cells = [[1, 2], None, [3, None], [5, 6]]
    fixed, free = pa.array(cells, pa.list_(pa.int8(), 2)), pa.array(cells, pa.list_(pa.int8()))
    assert fingerprint(pa.table({"a": fixed})) == fingerprint(pa.table({"a": free}))
    assert fingerprint(pa.table({"a": fixed[1:3]})) == fingerprint(pa.table({"a": free[1:3]}))


def test_the_layout_of_binary_does_not_matter() -> None:
    cells = [b"ab", None, b"\x00\xff"]
    expected = fingerprint(pa.table({"a": pa.array(cells, pa.binary())}))
    for type_ in (pa.large_binary(), pa.binary(2), pa.binary_view()):
        assert fingerprint(pa.table({"a": pa.array(cells, type_)})) == expected


def test_a_map_hidden_behind_a_null_does_not_matter() -> None:
    array = pa.MapArray.from_arrays(
        pa.array([0, 1, 3, 3], pa.int32()),
        pa.array(["k", "hidden", "hidden"]),
        pa.array([1, 2, 3]),
        mask=pa.array([False, True, False]),
    )
    assert list(canonical_lines(pa.table({"a": array}))) == ['{"a":{"k":1}}', "{}", '{"a":{}}']
    assert list(canonical_lines(pa.table({"a": array[1:]}))) == ["{}", '{"a":{}}']


def test_metadata_and_nullability_do_not_matter() -> None:
    plain = pa.table({"a": [1, 2]})
    field = pa.field("a", pa.int64(), nullable=False, metadata={"k": "v"})
    dressed = pa.table([plain["a"]], schema=pa.schema([field], metadata={"m": "n"}))
    assert fingerprint(dressed) == fingerprint(plain)


def test_only_the_chosen_columns_are_hashed() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", "y"], "c": [None, 1.5]})
    chosen = fingerprint(table, columns=["c", "a"])
    assert chosen == fingerprint(table.select(["a", "c"]))
    assert chosen != fingerprint(table)


def test_without_hashing_only_the_rows_are_counted() -> None:
    table = pa.table({"a": [1, 2]})
    for frame in (table, table.to_batches()[0], table.to_reader()):
        got = fingerprint(frame, hash=False)
        assert (got.row_count, got.data_hash, got.schema_hash, got.error) == (2, None, None, None)


def test_a_table_longer_than_a_slice_hashes_like_its_parts() -> None:
    from ubunye_core.hashing.arrow import SLICE_ROWS

    long = pa.table({"a": pa.array(range(2 * SLICE_ROWS + 5))})
    parts = pa.Table.from_batches(long.to_batches(max_chunksize=1_000))
    assert fingerprint(long) == fingerprint(parts)
    assert fingerprint(long).row_count == 2 * SLICE_ROWS + 5
