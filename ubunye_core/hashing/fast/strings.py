"""Strings, escaped in the buffer that holds the whole column's text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ubunye_core.hashing import text

_LONGEST = 6  # \u001F
_ESCAPES = np.zeros((128, _LONGEST), np.uint8)
_GROWTH = np.zeros(128, np.int64)
for _code in (*range(0x20), ord('"'), ord("\\")):
    _escape = text.string_text(chr(_code))[1:-1].encode()  # the plain definition's own escapes
    _ESCAPES[_code, : len(_escape)] = np.frombuffer(_escape, np.uint8)
    _GROWTH[_code] = len(_escape) - 1


def escaped(array: Any) -> Any:
    """The array's text with controls, quotes and backslashes escaped.

    Only bytes below 0x80 are ever escaped, and in UTF-8 those are characters of their own.
    """
    array = array.cast(pa.string())
    _, offsets_buffer, data_buffer = array.buffers()
    if data_buffer is None or not len(array):
        return array
    offsets = np.frombuffer(offsets_buffer, np.int32)[array.offset : array.offset + len(array) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    data = np.frombuffer(data_buffer, np.uint8)[first:last]
    if not len(data):
        return array
    if data.max() >= 0x80:
        array.validate(full=True)  # raises for what is not UTF-8
    special = (data == ord('"')) | (data == ord("\\"))
    if data.min() < 0x20:
        special |= data < 0x20
    at = np.flatnonzero(special)
    if not len(at):
        return array
    return _with_escapes(array, offsets - first, data, at)


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
