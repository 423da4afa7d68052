"""The lines of a slice as parts to be joined: names, commas and braces around the values.

A null leaves its whole member out, so what stands around a nullable value is a column too, null in
the same rows. The member that comes first in a row has the brace in place of the comma: the two
are one byte each, which is set row by row where it is not known beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ubunye_core.hashing import text
from ubunye_core.hashing.fast.layouts import plain_layout
from ubunye_core.hashing.fast.query import Column, Part
from ubunye_core.hashing.types import is_, is_any

if TYPE_CHECKING:
    from ubunye_core.hashing.fast.texts import Texts

BAKED = ("boolean", "date", "timestamp")
"""Types whose values become one column of new texts, what stands before them included."""


def object_parts(texts: Texts, members: Iterable[tuple[str, Any]]) -> list[Part]:
    """The parts of ``{"name":value,...}`` for each row, given names and arrays in order."""
    parts: list[Part] = []
    text_before = ""  # what stands before the next column in every row
    begun: Any = None  # in which rows a member stands already; None before the first
    for name, encoded in members:
        array = plain_layout(encoded)  # which also shows the nulls that an encoding hides
        if is_("null", array.type):
            continue
        name_text = f"{text.string_text(name)}:"
        valid = pc.is_valid(array) if array.null_count else None
        if begun is None or begun is True:
            name_text = f"{'{' if begun is None else ','}{name_text}"
        elif is_any(BAKED, array.type):
            parts += texts.parts(array, f",{name_text}")
            _begin(parts[-1], ~begun if valid is None else ~begun & _bools(valid))
            begun = _begun(begun, valid)
            continue
        else:
            parts.append(Column(_begin_or_go_on(texts, name_text, begun, valid)))
            name_text = ""
        if valid is None:
            parts += texts.parts(array, text_before + name_text)
            last = parts[-1]
            text_before = last if isinstance(last, str) else ""
            if text_before:
                parts.pop()
            begun = True
            continue
        if text_before:
            parts.append(text_before)
            text_before = ""
        parts += _nullable(texts, texts.parts(array, name_text), valid)
        begun = _begun(begun, valid)
    if begun is None or begun is True:
        parts.append(f"{text_before}{'{}' if begun is None else '}'}")
    else:
        parts.append(Column(pc.if_else(pa.array(begun), "}", "{}")))
    return parts


def _nullable(texts: Texts, parts: list[Part], valid: Any) -> list[Part]:
    """The parts of a member that is left out where its value is null."""
    return [
        Column(texts.constant(part, len(valid), valid)) if isinstance(part, str) else part
        for part in parts
        if part
    ]


def _begin_or_go_on(texts: Texts, name_text: str, begun: Any, valid: Any) -> Any:
    rows = len(begun)
    array = texts.constant(f",{name_text}", rows, valid)
    validity, offsets, data = array.buffers()
    bytes_ = np.frombuffer(data, np.uint8).copy()
    width = len(bytes_) // rows
    bytes_.reshape(rows, width)[:, 0] = np.where(begun, ord(","), ord("{"))
    return pa.Array.from_buffers(pa.string(), rows, [validity, offsets, pa.py_buffer(bytes_)])


def _begin(part: Part, rows: Any) -> None:
    """Put a brace for the comma that each of these rows' texts begins with."""
    if isinstance(part, Column):
        _, offsets, data = part.array.buffers()
        places = np.frombuffer(offsets, np.int32)[: len(rows)][rows]
        np.frombuffer(data, np.uint8)[places] = ord("{")


def _begun(begun: Any, valid: Any) -> Any:
    """In which rows a member stands, after one that stands where ``valid`` says."""
    if begun is True or valid is None:
        return True
    rows = _bools(valid) if begun is None else begun | _bools(valid)
    return True if rows.all() else rows


def _bools(valid: Any) -> Any:
    return valid.to_numpy(zero_copy_only=False)
