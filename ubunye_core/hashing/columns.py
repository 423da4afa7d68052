"""The texts of an Arrow array, value by value.

For a type, ``writer`` chooses once how its values are read and written. What it returns maps an
array to a list with the text of each value, None for a null. Values are read as the raw
integers behind them wherever a Python object would be less exact: nanoseconds, years before 1
and after 9999, wide decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute

from ubunye_core.hashing import text
from ubunye_core.hashing.problems import UnhashableError
from ubunye_core.hashing.types import BINARIES, LISTS, STRINGS, is_, is_any, type_name

T = TypeVar("T")
V = TypeVar("V")
Reader = Callable[[Any], Sequence[T | None]]
Writer = Reader[str]


def writer(type_: Any) -> Writer:
    """How the values of a type become value texts."""
    return _through_layouts(type_, _plain_writer)


def _through_layouts(type_: Any, make: Callable[[Any], Reader[T]]) -> Reader[T]:
    """Read the values behind dictionary and run-end encoding."""
    if is_("dictionary", type_):
        of_dictionary = _through_layouts(type_.value_type, make)
        return lambda array: _from_dictionary(array, of_dictionary)
    if is_("run_end_encoded", type_):
        of_runs = _through_layouts(type_.value_type, make)
        return lambda array: _from_runs(array, of_runs)
    return make(type_)


def _plain_writer(type_: Any) -> Writer:
    if is_("null", type_):
        return lambda array: [None] * len(array)
    if is_("boolean", type_):
        return _each(_objects, text.boolean_text)
    if is_any(STRINGS, type_):
        return _each(_objects, text.string_text)
    if is_any(BINARIES, type_):
        return _each(_objects, text.binary_text)
    if is_("date", type_):
        return _each(_days(type_), text.date_text)
    if is_("timestamp", type_):
        zoned = type_.tz is not None
        return _each(_micros(type_), text.timestamp_text if zoned else text.timestamp_ntz_text)
    if is_("time", type_):
        return _each(_micros(type_), text.time_text)
    if is_("duration", type_):
        return _each(_micros(type_), text.duration_text)
    if is_any(("integer", "floating", "decimal"), type_):
        return _number_writer(type_)
    if is_any(LISTS, type_):
        return _list_writer(type_)
    if is_("map", type_):
        return _map_writer(type_)
    if is_("struct", type_):
        return _struct_writer(type_)
    return _extension_writer(type_)


def _number_writer(type_: Any) -> Writer:
    bare = _bare_number(type_)
    if is_("floating", type_):
        return lambda array: [
            None if value is None else text.float_value_text(value) for value in bare(array)
        ]
    return bare


def _bare_number(type_: Any) -> Writer:
    """Numbers as they stand in a map key: without quotes."""
    if is_("integer", type_):
        return _each(_objects, str)
    if is_("float64", type_):
        return _each(_objects, text.float64_bare)
    if is_("floating", type_):
        return _float32_bare
    scale = type_.scale
    return _each(_unscaled(type_), lambda value: text.decimal_bare(value, scale))


def _float32_bare(array: Any) -> list[str | None]:
    floats = array.cast(pa.float32())  # a float16 is written as the float32 it equals
    # Arrow's text has the shortest digits that read back as the float32.
    shortest = floats.cast(pa.string()).to_pylist()
    return [
        None if value is None else text.float32_bare(value, digits)
        for value, digits in zip(floats.to_pylist(), shortest, strict=True)
    ]


def _extension_writer(type_: Any) -> Writer:
    name = type_name(type_)  # raises for a type that rows-v1 does not know
    if name == "extension<arrow.uuid>":
        return _each(lambda array: array.storage.to_pylist(), text.uuid_text)
    if name == "extension<arrow.bool8>":
        return _each(lambda array: array.storage.to_pylist(), text.boolean_text)
    of_storage = writer(type_.storage_type)
    return lambda array: of_storage(array.storage)


def _list_writer(type_: Any) -> Writer:
    of_child = writer(type_.value_type)

    def write(array: Any) -> list[str | None]:
        elements = iter(["null" if item is None else item for item in of_child(array.flatten())])
        return [
            None if length is None else f"[{','.join(next(elements) for _ in range(length))}]"
            for length in _lengths(array)
        ]

    return write


def _lengths(array: Any) -> Sequence[int | None]:
    lengths: Sequence[int | None] = pa.compute.list_value_length(array).to_pylist()
    return lengths


def _struct_writer(type_: Any) -> Writer:
    fields = [type_.field(i) for i in range(type_.num_fields)]
    members = [member_writer(field.name, field.type) for field in fields]

    def write(array: Any) -> list[str | None]:
        children = array.flatten()  # with the struct's own nulls laid over them
        columns = [write(child) for write, child in zip(members, children, strict=True)]
        rows = zip(*columns, strict=True) if columns else iter([()] * len(array))
        return [
            f"{{{','.join(filter(None, row))}}}" if valid else None
            for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)
        ]

    return write


def member_writer(name: str, type_: Any) -> Writer:
    """How the values of a column or field become members: ``"name":value``."""
    of_value = writer(type_)
    prefix = f"{text.string_text(name)}:"

    def write(array: Any) -> list[str | None]:
        return [None if value is None else prefix + value for value in of_value(array)]

    return write


# --- maps ---


def _map_writer(type_: Any) -> Writer:
    of_key = _through_layouts(type_.key_type, _key_reader)
    of_item = writer(type_.item_type)

    def write(array: Any) -> list[str | None]:
        offsets = array.offsets.to_pylist()
        if not offsets:
            return []
        # keys and items are those of the whole buffer, also when the array is a slice of it
        first, count = offsets[0], offsets[-1] - offsets[0]
        keys = of_key(array.keys.slice(first, count))
        items = of_item(array.items.slice(first, count))
        return [
            _map_text(keys[start - first : end - first], items[start - first : end - first])
            if valid
            else None
            for start, end, valid in zip(
                offsets[:-1], offsets[1:], array.is_valid().to_pylist(), strict=True
            )
        ]

    return write


def _map_text(keys: Sequence[tuple[Any, str] | None], items: Sequence[str | None]) -> str:
    if None in keys:
        raise UnhashableError("holds a map with a null key")
    entries = sorted(zip(keys, items, strict=True), key=lambda entry: entry[0])  # type: ignore[arg-type,return-value]
    texts = [key[1] for key, _ in entries if key is not None]
    if len(set(texts)) < len(texts):
        raise UnhashableError("holds a map with one key twice")
    members = (
        f"{text.string_text(key)}:{'null' if item is None else item}"
        for key, (_, item) in zip(texts, entries, strict=True)
    )
    return f"{{{','.join(members)}}}"


def _key_reader(type_: Any) -> Reader[tuple[Any, str]]:
    """How map keys are read: for each its place in the order, and its bare text."""
    if is_any(STRINGS, type_):
        return _each(_objects, lambda value: (value, value))
    if is_("boolean", type_):
        return _each(_objects, lambda value: (value, text.boolean_text(value)))
    if is_("date", type_):
        return _each(_days(type_), lambda days: (days, str(days)))
    if is_("timestamp", type_):
        return _each(_micros(type_), lambda micros: (micros, str(micros)))
    if is_("decimal", type_):
        return _paired(_unscaled(type_), _bare_number(type_))
    if is_("integer", type_):
        return _paired(_objects, _bare_number(type_))
    if is_("floating", type_):
        return _paired(_each(_objects, _numeric_with_nan_last), _bare_number(type_))
    raise UnhashableError(f"has map keys of type {type_name(type_)}, which rows-v1 can't write")


def _numeric_with_nan_last(value: float) -> tuple[bool, float]:
    return (True, 0.0) if value != value else (False, float(value))


def _paired(order: Reader[Any], bare: Writer) -> Reader[tuple[Any, str]]:
    def read(array: Any) -> list[tuple[Any, str] | None]:
        return [
            None if key_text is None else (place, key_text)
            for place, key_text in zip(order(array), bare(array), strict=True)
        ]

    return read


# --- values as exact Python objects ---


def _each(read: Reader[V], write: Callable[[V], T]) -> Reader[T]:
    return lambda array: [None if value is None else write(value) for value in read(array)]


def _objects(array: Any) -> Sequence[Any]:
    values: Sequence[Any] = array.to_pylist()
    return values


def _days(type_: Any) -> Reader[int]:
    if is_("date32", type_):
        return lambda array: array.view(pa.int32()).to_pylist()
    return _each(
        lambda array: array.view(pa.int64()).to_pylist(),
        lambda millis: millis // text.MILLIS_PER_DAY,
    )


def _micros(type_: Any) -> Reader[int]:
    """The microseconds of a timestamp, a time or a duration."""
    raw = pa.int32() if is_("time32", type_) else pa.int64()

    def read(array: Any) -> Sequence[int | None]:
        values: Sequence[int | None] = array.view(raw).to_pylist()
        return values

    if type_.unit == "us":
        return read
    if type_.unit == "ns":
        # Only the text of timestamps is defined for nanoseconds: cut, downwards. Two times or
        # durations that differ must not share a text, so there a part of a microsecond is refused.
        return _each(read, _floor_micros if is_("timestamp", type_) else _whole_micros)
    factor = 1_000_000 if type_.unit == "s" else 1_000
    return _each(read, lambda value: _checked_micros(value * factor))


def _floor_micros(nanos: int) -> int:
    return nanos // 1_000


def _whole_micros(nanos: int) -> int:
    micros, rest = divmod(nanos, 1_000)
    if rest:
        raise UnhashableError("holds parts of a microsecond, which rows-v1 can't write")
    return micros


def _checked_micros(micros: int) -> int:
    if not -(2**63) <= micros < 2**63:
        raise UnhashableError("holds a time beyond 64 bits of microseconds")
    return micros


def _unscaled(type_: Any) -> Reader[int]:
    width = type_.bit_width // 8

    def read(array: Any) -> list[int | None]:
        if not len(array):
            return []
        raw = array.buffers()[1].slice(array.offset * width, len(array) * width).to_pybytes()
        return [
            int.from_bytes(raw[at : at + width], "little", signed=True) if valid else None
            for at, valid in zip(
                range(0, len(raw), width), array.is_valid().to_pylist(), strict=True
            )
        ]

    return read


# --- encodings ---


def _from_dictionary(array: Any, of_values: Reader[T]) -> list[T | None]:
    indices = array.indices.to_pylist()
    used = sorted(set(indices) - {None})
    # Only what the slice uses: a dictionary can be longer, and may hold what no row does.
    values = dict(zip(used, of_values(_picked(array.dictionary, used)), strict=True))
    return [None if index is None else values[index] for index in indices]


def _picked(values: Any, indices: list[int]) -> Any:
    if len(indices) == len(values):
        return values
    if is_any(("string_view", "binary_view"), values.type):  # Arrow can't take from these
        values = values.cast(
            pa.large_string() if is_("string_view", values.type) else pa.large_binary()
        )
    return values.take(pa.array(indices, pa.int64()))


def _from_runs(array: Any, of_values: Reader[T]) -> list[T | None]:
    first, count = array.find_physical_offset(), array.find_physical_length()
    values = of_values(array.values.slice(first, count))
    ends = array.run_ends.slice(first, count).to_pylist()
    rows: list[T | None] = []
    at, stop = array.offset, array.offset + len(array)
    for value, end in zip(values, ends, strict=True):
        end = min(end, stop)
        rows.extend([value] * (end - at))
        at = end
    return rows
