"""The values of an Arrow array as exact Python objects.

Raw integers are read wherever a Python object would be less exact: nanoseconds, years before 1 and
after 9999, wide decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from ubunye_core.hashing import text
from ubunye_core.hashing.problems import UnhashableError
from ubunye_core.hashing.types import is_

T = TypeVar("T")
V = TypeVar("V")
Reader = Callable[[Any], Sequence[T | None]]
"""Maps an array to something for each of its values, None for a null."""


def each(read: Reader[V], write: Callable[[V], T]) -> Reader[T]:
    """Write each value that is not null."""
    return lambda array: [None if value is None else write(value) for value in read(array)]


def objects(array: Any) -> Sequence[Any]:
    """The values as Arrow gives them to Python, where that is exact."""
    values: Sequence[Any] = array.to_pylist()
    return values


def days(type_: Any) -> Reader[int]:
    """The days of a date since 1970-01-01."""
    if is_("date32", type_):
        return lambda array: array.view(pa.int32()).to_pylist()
    return each(
        lambda array: array.view(pa.int64()).to_pylist(),
        lambda millis: millis // text.MILLIS_PER_DAY,
    )


def micros(type_: Any) -> Reader[int]:
    """The microseconds of a timestamp, a time or a duration."""
    raw = pa.int32() if is_("time32", type_) else pa.int64()

    def read(array: Any) -> Sequence[int | None]:
        values: Sequence[int | None] = array.view(raw).to_pylist()
        return values

    if type_.unit == "us":
        return read
    if type_.unit == "ns":
        # Only the text of timestamps is defined for nanoseconds: cut, downwards. Two times or
        # durations that differ must not share a text, so there a part of a microsecond is refused.
        return each(read, _floor_micros if is_("timestamp", type_) else _whole_micros)
    factor = 1_000_000 if type_.unit == "s" else 1_000
    return each(read, lambda value: _checked_micros(value * factor))


def _floor_micros(nanos: int) -> int:
    return nanos // 1_000


def _whole_micros(nanos: int) -> int:
    micros, rest = divmod(nanos, 1_000)
    if rest:
        raise UnhashableError("holds parts of a microsecond, which rows-v1 can't write")
    return micros


def _checked_micros(micros: int) -> int:
    if not -(2**63) <= micros < 2**63:
        raise UnhashableError("holds a time beyond 64 bits of microseconds")
    return micros


def unscaled(type_: Any) -> Reader[int]:
    """The integer behind a decimal, which its scale divides."""
    width = type_.bit_width // 8

    def read(array: Any) -> list[int | None]:
        if not len(array):
            return []
        raw = array.buffers()[1].slice(array.offset * width, len(array) * width).to_pybytes()
        return [
            int.from_bytes(raw[at : at + width], "little", signed=True) if valid else None
            for at, valid in zip(
                range(0, len(raw), width), array.is_valid().to_pylist(), strict=True
            )
        ]

    return read
