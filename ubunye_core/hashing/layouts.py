"""Encodings that store a value once for several rows: they never show in a hash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pyarrow as pa

from ubunye_core.hashing.types import is_
from ubunye_core.hashing.values import Reader

T = TypeVar("T")


def through_layouts(type_: Any, make: Callable[[Any], Reader[T]]) -> Reader[T]:
    """Read the values behind dictionary and run-end encoding."""
    if is_("dictionary", type_):
        of_dictionary = through_layouts(type_.value_type, make)
        return lambda array: _from_dictionary(array, of_dictionary)
    if is_("run_end_encoded", type_):
        of_runs = through_layouts(type_.value_type, make)
        return lambda array: _from_runs(array, of_runs)
    return make(type_)


def _from_dictionary(array: Any, of_values: Reader[T]) -> list[T | None]:
    indices = array.indices.to_pylist()
    used = sorted(set(indices) - {None})
    # Only what the slice uses: a dictionary can be longer, and may hold what no row does.
    values = dict(zip(used, of_values(_picked(array.dictionary, used)), strict=True))
    return [None if index is None else values[index] for index in indices]


def _picked(values: Any, indices: list[int]) -> Any:
    if len(indices) == len(values):
        return values
    if is_("string_view", values.type):  # Arrow can't take from the views,
        values = values.cast(pa.large_string())
    elif is_("binary_view", values.type):
        values = values.cast(pa.large_binary())
    try:
        return values.take(pa.array(indices, pa.int64()))
    except pa.ArrowNotImplementedError:  # nor from what holds them
        return pa.concat_arrays([values.slice(index, 1) for index in indices])


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
