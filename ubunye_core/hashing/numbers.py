"""Numbers as bare texts: as they stand in a map key, and unquoted as values."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ubunye_core.hashing import text
from ubunye_core.hashing.types import is_
from ubunye_core.hashing.values import Reader, each, objects, unscaled


def bare_number(type_: Any) -> Reader[str]:
    """How the integers, floats or decimals of a type are written."""
    if is_("integer", type_):
        return each(objects, str)
    if is_("float64", type_):
        return each(objects, text.float64_bare)
    if is_("floating", type_):
        return _float32_bare
    scale = type_.scale
    return each(unscaled(type_), lambda value: text.decimal_bare(value, scale))


def _float32_bare(array: Any) -> list[str | None]:
    floats = array.cast(pa.float32())  # a float16 is written as the float32 it equals
    # Arrow's text has the shortest digits that read back as the float32.
    shortest = floats.cast(pa.string()).to_pylist()
    return [
        None if value is None else text.float32_bare(value, digits)
        for value, digits in zip(floats.to_pylist(), shortest, strict=True)
    ]
