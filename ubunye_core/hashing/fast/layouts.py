"""Encodings and extensions turned into plain arrays, whose nulls stand where the rows' are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ubunye_core.hashing.types import is_, type_name


def plain_layout(array: Any) -> Any:
    """The values of a dictionary, of runs or of an extension, in an array of their own."""
    type_ = array.type
    if isinstance(type_, pa.BaseExtensionType):
        name = type_name(type_)
        if name == "extension<arrow.bool8>":
            return pc.not_equal(array.storage, 0)
        return array if name == "extension<arrow.uuid>" else plain_layout(array.storage)
    if is_("dictionary", type_):
        return plain_layout(plain_layout(array.dictionary).take(array.indices))
    if is_("run_end_encoded", type_):
        return _without_runs(array)
    if is_("string_view", type_):
        return array.cast(pa.string())
    if is_("binary_view", type_):
        return array.cast(pa.binary())
    return array


def _without_runs(array: Any) -> Any:
    # Arrow decodes runs of plain values only, so each row takes its run's value.
    first, count = array.find_physical_offset(), array.find_physical_length()
    ends = np.asarray(array.run_ends.slice(first, count)).astype(np.int64) - array.offset
    lengths = np.diff(np.minimum(ends, len(array)), prepend=0)
    values = plain_layout(array.values.slice(first, count))
    return values.take(pa.array(np.repeat(np.arange(count), lengths)))
