"""Random types, values and tables of rows-v1, for the tests that compare engines."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

Values = st.SearchStrategy[Any]

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from('"\\\n\t\x00\x1f\x7f,:{}é😀'),
    max_size=6,
)
"""Text with much of what has to be escaped."""

_PLAIN = st.floats(1e-3, 1e7).map(lambda value: round(value, 3))


def integers(bits: int, *, signed: bool = True) -> Values:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.integers(low, high) | st.sampled_from([low, high, 0]) | st.integers(low // 2**16, 99)


def _unsigned(bits: int) -> Values:
    return st.integers(0, 2**bits - 1)


def _decimals(precision: int, scale: int) -> Values:
    most = 10**precision - 1
    unscaled = st.integers(-most, most) | st.integers(-200, 200).filter(lambda n: abs(n) <= most)
    context = decimal.Context(prec=80)
    return unscaled.map(lambda number: decimal.Decimal(number).scaleb(-scale, context))


def _temporal(type_: pa.DataType, bits: int, low: int, high: int) -> tuple[pa.DataType, Values]:
    return type_, st.integers(low, high) | integers(bits)


_MICROS = 4 * 10**15
FLAT: list[tuple[pa.DataType, Values]] = [
    *((getattr(pa, f"int{bits}")(), integers(bits)) for bits in (8, 16, 32, 64)),
    *((getattr(pa, f"uint{bits}")(), _unsigned(bits)) for bits in (8, 16, 32, 64)),
    (pa.bool_(), st.booleans()),
    (pa.float64(), st.floats() | _PLAIN),
    (pa.float64(), _PLAIN),
    (pa.float32(), st.floats(width=32)),
    (pa.float32(), st.floats(0.015625, 1024, width=32)),
    (pa.float16(), st.floats(width=16)),
    (pa.string(), TEXTS),
    (pa.string(), st.text("abcé", max_size=4)),
    (pa.large_string(), TEXTS),
    (pa.string_view(), TEXTS),
    (pa.binary(), st.binary(max_size=7)),
    (pa.large_binary(), st.binary(max_size=7)),
    (pa.binary_view(), st.binary(max_size=20)),
    (pa.binary(3), st.binary(min_size=3, max_size=3)),
    _temporal(pa.date32(), 32, -800_000, 3_000_000),
    (pa.date64(), st.integers(-(2**40), 2**40)),
    _temporal(pa.timestamp("us", "UTC"), 64, -_MICROS, _MICROS),
    _temporal(pa.timestamp("us"), 64, -_MICROS, _MICROS),
    _temporal(pa.timestamp("ns", "Asia/Kolkata"), 64, -_MICROS, _MICROS),
    (pa.timestamp("ms"), st.integers(-(10**13), 10**13)),
    (pa.timestamp("s", "UTC"), st.integers(-(10**11), 10**12)),
    (pa.decimal128(10, 2), _decimals(10, 2)),
    (pa.decimal128(38, 18), _decimals(38, 18)),
    (pa.decimal128(5, -2), _decimals(5, -2)),
    (pa.decimal256(60, 20), _decimals(60, 20)),
    (pa.decimal32(7, 7), _decimals(7, 7)),
    (pa.decimal64(18, 0), _decimals(18, 0)),
    (pa.time32("s"), st.integers(0, 86_399)),
    (pa.time64("us"), st.integers(0, 86_399_999_999)),
    (pa.duration("us"), integers(64)),
    (pa.duration("s"), st.integers(-(10**12), 10**12)),
    (pa.null(), st.none()),
]
"""Each type with its values, temporal ones as the integers they are stored as."""

_ENCODED: list[tuple[pa.DataType, Values]] = [
    (pa.dictionary(pa.int8(), pa.string()), TEXTS),
    (pa.dictionary(pa.int32(), pa.int64()), integers(64)),
    (pa.uuid(), st.binary(min_size=16, max_size=16)),
    (pa.bool8(), st.integers(-2, 2)),
    (pa.json_(), TEXTS),
]
"""Types that Arrow builds from Python values in a column only, not inside others."""

_KEYS: list[tuple[pa.DataType, Values]] = [
    (pa.string(), TEXTS),
    (pa.int64(), integers(64)),
    (pa.uint8(), _unsigned(8)),
    (pa.bool_(), st.booleans()),
    (pa.float64(), st.floats(allow_nan=False).filter(lambda value: value != 0)),
    (pa.date32(), st.integers(-99_999, 99_999)),
    (pa.timestamp("us", "UTC"), integers(64)),
    (pa.decimal128(10, 2), _decimals(10, 2)),
]


@st.composite
def typed_values(draw: st.DrawFn, depth: int = 3) -> tuple[pa.DataType, Values]:
    """A type and its values, nested up to ``depth`` deep."""
    if depth == 0 or draw(st.integers(0, 2)):
        return draw(st.sampled_from(FLAT))
    make: Callable[[st.DrawFn, int], tuple[pa.DataType, Values]] = draw(
        st.sampled_from([_list, _struct, _map])
    )
    return make(draw, depth - 1)


def _list(draw: st.DrawFn, depth: int) -> tuple[pa.DataType, Values]:
    child, values = draw(typed_values(depth))
    make = draw(st.sampled_from([pa.list_, pa.large_list, pa.list_view]))
    return make(child), st.lists(st.none() | values, max_size=3)


def _struct(draw: st.DrawFn, depth: int) -> tuple[pa.DataType, Values]:
    names = draw(st.lists(TEXTS, max_size=3, unique=True))
    fields = [(name, *draw(typed_values(depth))) for name in names]
    members = {name: st.none() | values for name, _, values in fields}
    return pa.struct([(name, type_) for name, type_, _ in fields]), st.fixed_dictionaries(members)


def _map(draw: st.DrawFn, depth: int) -> tuple[pa.DataType, Values]:
    key, keys = draw(st.sampled_from(_KEYS))
    item, items = draw(typed_values(depth))
    entries = st.dictionaries(keys, st.none() | items, max_size=3)
    return pa.map_(key, item), entries.map(lambda found: list(found.items()))


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 12) -> pa.Table:
    """A table of any types, with nulls, in one or more chunks."""
    rows = draw(st.integers(0, most_rows))
    names = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    columns = []
    for _ in names:
        type_, values = draw(typed_values() | st.sampled_from(_ENCODED))
        cells = st.none() | values if draw(st.integers(0, 3)) else values
        columns.append(pa.array(draw(st.lists(cells, min_size=rows, max_size=rows)), type_))
    return pa.Table.from_arrays(columns, names=names)
