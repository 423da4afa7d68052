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

# For 1e16 it is "1e16", for 2.5e-7 "2.5e-7": only the letter and the missing ".0" differ.
_SCIENTIFIC = (
    f"case when strpos({AS_TEXT}, '.') > 0 then replace({AS_TEXT}, 'e', 'E')"
    f" else replace({AS_TEXT}, 'e', '.0E') end"
)
# Plain where Java is scientific. 12345678.9 is written in full: its digits without the point and
# without zeros at the end, a point after the first, and an exponent counted from the point.
_DIGITS_OF_LARGE = f"rtrim(replace(replace({AS_TEXT}, '-', ''), '.', ''), '0')"
_LARGE = (
    "concat(case when {} < 0 then '-' else '' end,"
    f" substr({_DIGITS_OF_LARGE}, 1, 1), '.',"
    f" case when length({_DIGITS_OF_LARGE}) > 1 then substr({_DIGITS_OF_LARGE}, 2) else '0' end,"
    f" 'E', cast(strpos(replace({AS_TEXT}, '-', ''), '.') - 2 as varchar))"
)
# 0.000123 is "0.", zeros, digits: the exponent is counted from the zeros.
_DIGITS_OF_SMALL = f"ltrim(replace(replace({AS_TEXT}, '-', ''), '.', ''), '0')"
_SMALL = (
    "concat(case when {} < 0 then '-' else '' end,"
    f" substr({_DIGITS_OF_SMALL}, 1, 1), '.',"
    f" case when length({_DIGITS_OF_SMALL}) > 1 then substr({_DIGITS_OF_SMALL}, 2) else '0' end,"
    f" 'E', cast(length({_DIGITS_OF_SMALL}) - length(replace({AS_TEXT}, '-', '')) + 1 as varchar))"
)


def parts(array: Any) -> list[Column]:
    """The parts of each value's text: one column, two where there are subnormals."""
    if is_("float16", array.type):
        array = array.cast(pa.float32())  # a float16 is written as the float32 it equals
    values = np.asarray(array.fill_null(0)) if array.null_count else np.asarray(array)
    width = values.dtype.type
    size = np.abs(values)
    plain = ((size >= width(1e-3)) & (size < width(1e7))) | (size == 0)
    if plain.all():
        return [Column(array, AS_TEXT)]
    subnormal = (size > 0) & (size < np.finfo(width).tiny)
    if not subnormal.any():
        return [Column(array, _any_size(array.type))]
    # Java weighs two digits where one would do (4.9E-324), which only bites here.
    mask = pa.array(subnormal)
    missing = pa.scalar(None, array.type)
    tiny = pc.if_else(mask, array, missing)
    return [
        Column(pc.if_else(mask, missing, array), _any_size(array.type)),
        Column(pa.array(writer(array.type)(tiny), pa.string())),
    ]


def _any_size(type_: Any) -> str:
    number = "real" if is_("float32", type_) else "double"

    def limit(value: str) -> str:
        return f"cast('{value}' as {number})"

    # Compared in total order: NaN is above infinity, and -0.0 is not 0.0, hence abs.
    return (
        "case when {} is null then null"
        f" when abs({{}}) >= {limit('1e-3')} and abs({{}}) < {limit('1e7')} then {AS_TEXT}"
        f" when abs({{}}) = {limit('0.0')} then {AS_TEXT}"
        " when isnan({}) then '\"NaN\"'"
        f" when {{}} = {limit('inf')} then '\"Infinity\"'"
        f" when {{}} = {limit('-inf')} then '\"-Infinity\"'"
        f" when strpos({AS_TEXT}, 'e') > 0 then {_SCIENTIFIC}"
        f" when abs({{}}) >= {limit('1e7')} then {_LARGE}"
        f" else {_SMALL} end"
    )
