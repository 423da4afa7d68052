"""The texts of an Arrow array, value by value.

For a type, ``writer`` chooses once how its values are read and written. What it returns maps an
array to a list with the text of each value, None for a null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute

from ubunye_core.hashing import text
from ubunye_core.hashing.layouts import through_layouts
from ubunye_core.hashing.maps import map_writer
from ubunye_core.hashing.numbers import bare_number
from ubunye_core.hashing.types import BINARIES, LISTS, STRINGS, is_, is_any, type_name
from ubunye_core.hashing.values import Reader, days, each, micros, objects

Writer = Reader[str]


def writer(type_: Any) -> Writer:
    """How the values of a type become value texts."""
    return through_layouts(type_, _plain_writer)


def _plain_writer(type_: Any) -> Writer:
    if is_("null", type_):
        return lambda array: [None] * len(array)
    if is_("boolean", type_):
        return each(objects, text.boolean_text)
    if is_any(STRINGS, type_):
        return each(objects, text.string_text)
    if is_any(BINARIES, type_):
        return each(objects, text.binary_text)
    if is_("date", type_):
        return each(days(type_), text.date_text)
    if is_("timestamp", type_):
        zoned = type_.tz is not None
        return each(micros(type_), text.timestamp_text if zoned else text.timestamp_ntz_text)
    if is_("time", type_):
        return each(micros(type_), text.time_text)
    if is_("duration", type_):
        return each(micros(type_), text.duration_text)
    if is_any(("integer", "floating", "decimal"), type_):
        return _number_writer(type_)
    if is_any(LISTS, type_):
        return _list_writer(type_)
    if is_("map", type_):
        return map_writer(type_, writer(type_.item_type))
    if is_("struct", type_):
        return _struct_writer(type_)
    return _extension_writer(type_)


def _number_writer(type_: Any) -> Writer:
    bare = bare_number(type_)
    if is_("floating", type_):
        return lambda array: [
            None if value is None else text.float_value_text(value) for value in bare(array)
        ]
    return bare


def _extension_writer(type_: Any) -> Writer:
    name = type_name(type_)  # raises for a type that rows-v1 does not know
    if name == "extension<arrow.uuid>":
        return each(lambda array: array.storage.to_pylist(), text.uuid_text)
    if name == "extension<arrow.bool8>":
        return each(lambda array: array.storage.to_pylist(), text.boolean_text)
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
