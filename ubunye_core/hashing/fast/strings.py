"""Strings, escaped in the buffer that holds the text of many of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ubunye_core.hashing import text
from ubunye_core.hashing.fast.query import Column

_LONGEST = 6  # \u001F
_ESCAPES = np.zeros((128, _LONGEST), np.uint8)
_GROWTH = np.zeros(128, np.int64)
for _code in (*range(0x20), ord('"'), ord("\\")):
    _escape = text.string_text(chr(_code))[1:-1].encode()  # the plain definition's own escapes
    _ESCAPES[_code, : len(_escape)] = np.frombuffer(_escape, np.uint8)
    _GROWTH[_code] = len(_escape) - 1


def parts(array: Any) -> list[Column]:
    """The text of each value without its quotes, in one column or two.

    Few values have anything to escape. The others are joined from where they are, with nulls in
    place of those few, which stand in a second column.
    """
    array = array.cast(pa.string())
    offsets, data, at = _to_escape(array)
    if not len(at):
        return [Column(array)]
    rows = np.searchsorted(offsets, at, side="right") - 1
    rows = rows[np.concatenate(([True], rows[1:] != rows[:-1]))]
    if 2 * len(rows) > len(array):
        return [Column(_with_escapes(array, offsets, data, at))]
    untouched = np.ones(len(array), bool)
    untouched[rows] = False
    few = escaped(array.take(pa.array(rows)))
    return [Column(_only(array, untouched)), Column(_spread(few, rows, len(array)))]


def escaped(array: Any) -> Any:
    """The text of each value, with controls, quotes and backslashes escaped."""
    array = array.cast(pa.string())
    offsets, data, at = _to_escape(array)
    return _with_escapes(array, offsets, data, at) if len(at) else array


def _to_escape(array: Any) -> tuple[Any, Any, Any]:
    """The array's offsets and bytes, and the places of the bytes that must be escaped.

    Only bytes below 0x80 are ever escaped, and in UTF-8 those are characters of their own.
    """
    _, offsets_buffer, data_buffer = array.buffers()
    none = np.empty(0, np.int64)
    if data_buffer is None or not len(array):
        return none, none, none
    offsets = np.frombuffer(offsets_buffer, np.int32)[array.offset : array.offset + len(array) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    data = np.frombuffer(data_buffer, np.uint8)[first:last]
    if not len(data):
        return none, none, none
    if data.max() >= 0x80:
        array.validate(full=True)  # raises for what is not UTF-8
    special = data == ord('"')
    special |= data == ord("\\")
    if data.min() < 0x20:
        special |= data < 0x20
    return offsets - first, data, np.flatnonzero(special)


def _only(array: Any, rows: Any) -> Any:
    """The array with nulls in all other rows."""
    if array.null_count:
        rows &= np.asarray(array.is_valid())
    validity, offsets, data = array.buffers()
    validity = pa.py_buffer(np.packbits(rows, bitorder="little"))
    begin = 4 * array.offset
    return pa.Array.from_buffers(
        pa.string(),
        len(array),
        [validity, offsets.slice(begin, 4 * (len(array) + 1)), data],
    )


def _spread(few: Any, rows: Any, count: int) -> Any:
    """The texts of a few rows among empty ones."""
    _, few_offsets, data = few.buffers()
    lengths = np.zeros(count + 1, np.int32)
    lengths[rows + 1] = np.diff(np.frombuffer(few_offsets, np.int32)[few.offset :][: len(few) + 1])
    offsets = np.cumsum(lengths, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), data])


def _with_escapes(array: Any, offsets: Any, data: Any, at: Any) -> Any:
    codes = data[at]
    growth = _GROWTH[codes]
    grown = np.concatenate(([0], np.cumsum(growth)))
    if len(data) + int(grown[-1]) >= 2**31:
        raise OverflowError("the escaped text is too long for one slice")
    starts = at + grown[:-1]  # of each escape in the new text
    kept = np.ones(len(data) + int(grown[-1]), bool)
    for place in range(1, _LONGEST):
        kept[(starts + place)[growth >= place]] = False
    written = np.empty(len(kept), np.uint8)
    written[kept] = data
    for place in range(_LONGEST):
        here = growth >= place
        written[(starts + place)[here]] = _ESCAPES[codes[here], place]
    moved = offsets + grown[np.searchsorted(at, offsets)]
    validity = array.is_valid().buffers()[1] if array.null_count else None
    return pa.Array.from_buffers(
        pa.string(),
        len(array),
        [validity, pa.py_buffer(moved.astype(np.int32)), pa.py_buffer(written)],
    )
