"""Which rule writes the values of a column, and why it gives the text of rows-v1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ubunye_core.hashing.columns import writer
from ubunye_core.hashing.fast import calendar, floats, nested, strings
from ubunye_core.hashing.fast.layouts import plain_layout
from ubunye_core.hashing.fast.query import AS_TEXT, Column, Part, Session
from ubunye_core.hashing.types import BINARIES, LISTS, STRINGS, is_, is_any


class Texts:
    """The texts of a thread's slices; keeps what the next slice needs again."""

    def __init__(self) -> None:
        self.session = Session.spared() or Session()
        self._constants: dict[str, tuple[int, Any, Any]] = {}

    def parts(self, array: Any, before: str = "") -> list[Part]:
        """The parts of ``before`` and the value's text, for the rows whose value is not null.

        The array must be in plain layout.
        """
        type_ = array.type
        if is_("boolean", type_):
            return [Column(pc.if_else(array, f"{before}true", f"{before}false"))]
        if is_("integer", type_):
            # Decimal digits and a minus: there is no other way to write an integer.
            return [before, Column(array, AS_TEXT)]
        if is_("floating", type_):
            return [before, *floats.parts(array)]
        if is_("decimal", type_):
            return [before, Column(_decimals(array))]
        if is_any(STRINGS, type_):
            return [f'{before}"', *strings.parts(array), '"']
        if is_any(BINARIES, type_):
            # The alphabet of RFC 4648 with padding and without line breaks, as base64.b64encode.
            return [f'{before}"', Column(array.cast(pa.binary()), "encode({}, 'base64pad')"), '"']
        if is_("date", type_) or is_("timestamp", type_):
            return [Column(calendar.texts(array, before))]
        if is_any(LISTS, type_):
            return [f"{before}[", Column(nested.joined_lists(self, array)), "]"]
        if is_("struct", type_):
            return [before, Column(nested.objects(self, array))]
        if is_("map", type_) and nested.has_simple_keys(type_):
            joined = nested.joined_maps(self, array)
            if joined is not None:
                return [f"{before}{{", Column(joined), "}"]
        return [before, Column(by_value(array))]

    def array(self, array: Any) -> Any:
        """The texts of an array as an array, null for a null."""
        array = plain_layout(array)
        if is_("null", array.type):
            return pa.nulls(len(array), pa.string())
        if not len(array):
            return pa.array([], pa.string())
        parts = [part for part in self.parts(array) if part]
        only = parts[0]
        if len(parts) == 1 and isinstance(only, Column) and only.sql == "{}":
            return only.array
        joined = self.session.texts(parts, len(array))
        if array.null_count:
            return pc.if_else(pc.is_valid(array), joined, pa.scalar(None, pa.string()))
        return joined

    def constant(self, text: str, rows: int, valid: Any) -> Any:
        """An array that repeats a text, null where ``valid`` is false."""
        encoded = text.encode()
        size, offsets, data = self._constants.get(text, (0, None, None))
        if size < rows:
            size = rows
            offsets = pa.py_buffer(np.arange(size + 1, dtype=np.int32) * np.int32(len(encoded)))
            data = pa.py_buffer(encoded * size)
            self._constants[text] = (size, offsets, data)
        validity = None if valid is None else valid.buffers()[1]
        return pa.Array.from_buffers(
            pa.string(),
            rows,
            [validity, offsets.slice(0, 4 * (rows + 1)), data.slice(0, rows * len(encoded))],
        )


def _decimals(array: Any) -> Any:
    """Arrow writes decimals as Java's BigDecimal does, also ``0E-18`` and negative scales."""
    type_ = array.type
    if type_.bit_width < 128:
        array = array.cast(pa.decimal128(type_.precision, type_.scale))
    return array.cast(pa.string())


def by_value(array: Any) -> Any:
    """The texts by the plain definition."""
    return pa.array(writer(array.type)(array), pa.string())
