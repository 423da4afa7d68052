"""Floats: DataFusion knows the shortest digits; rows-v1 puts them down in Java's way.

DataFusion writes the shortest digits that read back as the value, and of those the closest, which
is rule 1 of rows-v1 save for subnormals. Between 1e-3 and 1e7 it also places the point as we do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ubunye_core.hashing.columns import writer
from ubunye_core.hashing.fast.query import AS_TEXT, Column
from ubunye_core.hashing.types import is_

_MAGNITUDE = "cast(abs({}) as varchar)"

# 1e16 and 2.5e-7 lack a ".0" and have a small letter.
_SCIENTIFIC = "replace([], 'e', case when strpos([], '.') > 0 then 'E' else '.0E' end)"
# 12345678.9 is written in full up to 1e16 (a float32 to 1e13): the point goes after the first
# digit, zeros at the end go, and the exponent counts the digits before the point.
_LARGE = (
    "concat(substr([], 1, 1), '.',"
    " coalesce(nullif(rtrim(replace(substr([], 2), '.', ''), '0'), ''), '0'),"
    " 'E', cast(strpos([], '.') - 2 as varchar))"
)


def _small(zeros: int) -> str:
    """0.000123, in full down to 1e-5 (a float32 to 1e-6): zeros after the point, then digits."""
    first = 3 + zeros
    return (
        f"concat(substr([], {first}, 1), '.',"
        f" coalesce(nullif(substr([], {first + 1}), ''), '0'), 'E-{zeros + 1}')"
    )


def parts(array: Any) -> list[Column]:
    """The parts of each value's text: one column where all are plain, else a few."""
    if is_("float16", array.type):
        array = array.cast(pa.float32())  # a float16 is written as the float32 it equals
    values = np.asarray(array.fill_null(0)) if array.null_count else np.asarray(array)
    width = values.dtype.type
    size = np.abs(values)
    plain = ((size >= width(1e-3)) & (size < width(1e7))) | (size == 0)
    if plain.all():
        return [Column(array, AS_TEXT)]
    finite = np.isfinite(values)
    columns = [Column(pc.if_else(pa.array(np.signbit(values) & finite), "-", ""))]
    if array.null_count:
        columns = [Column(pc.if_else(pc.is_valid(array), columns[0].array, ""))]
    numbers = array
    special = ~finite | ((size > 0) & (size < np.finfo(width).tiny))
    if special.any():
        # Written one by one: what is no number, and subnormals, whose sign is in their text too.
        mask = pa.array(special)
        nothing = pa.scalar(None, array.type)
        numbers = pc.if_else(mask, nothing, array)
        texts = writer(array.type)(pc.if_else(mask, array, nothing))
        columns = [
            Column(pc.if_else(mask, "", columns[0].array)),
            Column(pa.array(texts, pa.string())),
        ]
    return [*columns, Column(numbers, _any_size(array.type), _MAGNITUDE)]


def _any_size(type_: Any) -> str:
    number = "real" if is_("float32", type_) else "double"

    def limit(value: str) -> str:
        return f"cast('{value}' as {number})"

    # Compared in total order, in which -0.0 is not 0.0, hence abs.
    return (
        "case when {} is null then null"
        f" when abs({{}}) >= {limit('1e-3')} and abs({{}}) < {limit('1e7')} then []"
        f" when abs({{}}) = {limit('0.0')} then []"
        f" when strpos([], 'e') > 0 then {_SCIENTIFIC}"
        f" when abs({{}}) >= {limit('1e7')} then {_LARGE}"
        f" when abs({{}}) >= {limit('1e-4')} then {_small(3)}"
        f" when abs({{}}) >= {limit('1e-5')} then {_small(4)}"
        f" else {_small(5)} end"
    )
