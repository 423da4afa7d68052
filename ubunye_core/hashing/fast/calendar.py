"""Dates and timestamps, looked up in tables and written into rows of one width.

Within the years 0 to 9999 every text has the same width. Other years are rare: the plain definition
writes them, value by value.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ubunye_core.hashing import text
from ubunye_core.hashing.columns import writer
from ubunye_core.hashing.types import is_

_FIRST_DAY = -719_528  # 0000-01-01
_LAST_DAY = 2_932_896  # 9999-12-31
_USUAL = (-36_524, 54_787)  # 1870 to 2119: looked up in a table that is kept
_CYCLE_DAYS = 146_097  # 400 years

_MICROS_PER_DAY = text.MICROS_PER_DAY


def _digits(count: int, width: int) -> Any:
    """The numbers below ``count`` as rows of ASCII digits."""
    numbers = np.arange(count)
    places = [numbers // 10**place % 10 for place in reversed(range(width))]
    return (np.stack(places, axis=1) + ord("0")).astype(np.uint8)


def texts(array: Any, before: str) -> Any:
    """The quoted texts of dates or timestamps, each after ``before``."""
    days, micros = _day_and_micros(array)
    outside = None
    if days.min() < _FIRST_DAY or days.max() > _LAST_DAY:
        outside = (days < _FIRST_DAY) | (days > _LAST_DAY)
        days = np.where(outside, 0, days)
    if micros is None:
        rows = _written(days, None, before, '"')
    else:
        rows = _written(days, micros, before, 'Z"' if array.type.tz else '"')
    result = _rows_of_text(rows, array)
    if outside is not None:
        mask = pa.array(outside)
        by_value = writer(array.type)(array.filter(mask))
        others = [None if value is None else before + value for value in by_value]
        result = pc.replace_with_mask(result, mask, pa.array(others, pa.string()))
    return result


def _written(days: Any, micros: Any, before: str, after: str) -> Any:
    pattern = f'{before}"yyyy-MM-dd{"" if micros is None else "THH:mm:ss.SSSSSS"}{after}'
    template = np.frombuffer(pattern.encode(), np.uint8)
    rows = np.empty((len(days), len(template)), np.uint8)
    rows[:] = template
    at = len(before.encode()) + 1
    months, day = _day_words(days)
    _put(rows, at, months)
    _put(rows, at + 8, day)
    if micros is not None:
        seconds = micros // 1_000_000
        fraction = (micros - seconds * 1_000_000).astype(np.int32)
        millis = fraction // 1_000
        _put(rows, at + 11, _clock_words()[seconds])
        # Four bytes for three digits: the fourth is overwritten, or what stands there anyway.
        three = _three_digits()
        _put(rows, at + 20, three[millis])
        _put(rows, at + 23, three[fraction - millis * 1_000] | np.uint32(ord(after[0]) << 24))
    return rows


def _day_words(days: Any) -> tuple[Any, Any]:
    """The texts ``yyyy-MM-`` and ``dd`` of each day, as words to be written."""
    first, last = int(days.min()), int(days.max())
    if _USUAL[0] <= first and last < _USUAL[-1]:
        start, months, of_month = _USUAL[0], *_usual_words()
    elif last - first < len(days):
        start, months, of_month = first, *_words(np.arange(first, last + 1))
    else:
        return _words(days)
    places = days - start
    return months[places], of_month[places]


@cache
def _usual_words() -> tuple[Any, Any]:
    return _words(np.arange(_USUAL[0], _USUAL[-1]))


def _put(rows: Any, at: int, words: Any) -> None:
    """Write a word into each row from byte ``at`` on."""
    count, width = rows.shape
    field = np.ndarray((count,), words.dtype, buffer=rows.data, offset=at, strides=(width,))
    field[:] = words


def _rows_of_text(rows: Any, array: Any) -> Any:
    count, width = rows.shape
    if count * width >= 2**31:
        raise OverflowError("the texts are too long for one slice")
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    validity = array.is_valid().buffers()[1] if array.null_count else None
    return pa.Array.from_buffers(
        pa.string(), count, [validity, pa.py_buffer(offsets), pa.py_buffer(rows)]
    )


@cache
def _clock_words() -> Any:
    """``HH:mm:ss`` for each second of a day."""
    two = _digits(60, 2)
    rows = np.full((24, 60, 60, 8), ord(":"), np.uint8)
    rows[..., 0:2] = two[:24, None, None]
    rows[..., 3:5] = two[None, :, None]
    rows[..., 6:8] = two[None, None, :]
    return rows.reshape(86_400, 8).view(np.uint64).ravel()


@cache
def _three_digits() -> Any:
    rows = np.zeros((1_000, 4), np.uint8)
    rows[:, :3] = _digits(1_000, 3)
    return rows.view("<u4").ravel()


def _words(days: Any) -> tuple[Any, Any]:
    """Year, month and day by the rules of the Gregorian calendar, in years from March to March."""
    shifted = days.astype(np.int64) - (_FIRST_DAY + 60)  # days since 0000-03-01
    cycle = shifted // _CYCLE_DAYS
    of_cycle = shifted - cycle * _CYCLE_DAYS
    year = (of_cycle - of_cycle // 1_460 + of_cycle // 36_524 - of_cycle // 146_096) // 365
    of_year = of_cycle - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153  # 0 is March
    day = of_year - (153 * month + 2) // 5 + 1
    year = year + 400 * cycle + (month >= 10)
    month = np.where(month < 10, month + 3, month - 9)
    rows = np.full((len(days), 8), ord("-"), np.uint8)
    for place in range(4):
        rows[:, place] = year // 10 ** (3 - place) % 10 + ord("0")
    rows[:, 5] = month // 10 + ord("0")
    rows[:, 6] = month % 10 + ord("0")
    two = np.stack([day // 10, day % 10], axis=1).astype(np.uint8) + np.uint8(ord("0"))
    return rows.view(np.uint64).ravel(), two.view(np.uint16).ravel()


def _day_and_micros(array: Any) -> tuple[Any, Any]:
    """Days since 1970-01-01, rounded down, and the microseconds of that day."""
    type_ = array.type
    raw = array.view(pa.int32() if is_("date32", type_) else pa.int64())
    values = np.asarray(raw.fill_null(0) if raw.null_count else raw)  # numpy's // rounds down
    if is_("date32", type_):
        return values, None
    if is_("date64", type_):
        return values // text.MILLIS_PER_DAY, None
    micros = micros_of(values, type_.unit)
    days = micros // _MICROS_PER_DAY
    return days, micros - days * _MICROS_PER_DAY


def micros_of(values: Any, unit: str) -> Any:
    """Timestamps of any unit in microseconds."""
    if unit == "us":
        return values
    if unit == "ns":
        return values // 1_000
    factor = 1_000_000 if unit == "s" else 1_000
    limit = (2**63 - 1) // factor
    if len(values) and not (-limit <= values.min() and values.max() <= limit):
        raise OverflowError("a time is beyond 64 bits of microseconds")
    return values * factor
