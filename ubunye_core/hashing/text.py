"""The text of one value in rows-v1: every rule about characters and digits is in this file.

The functions take plain Python values and know nothing of tables. A text without quotes is a
*bare* one: as a value it gets its quotes from the caller, as a map key it goes through
``string_text``.
"""

from __future__ import annotations

import base64
import datetime
import math
import re
import struct
from collections.abc import Callable
from functools import lru_cache

from ubunye_core.hashing.problems import UnhashableError

MICROS_PER_SECOND = 1_000_000
MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND
MILLIS_PER_DAY = 86_400_000

_NEEDS_ESCAPE = re.compile('[\x00-\x1f"\\\\]')
_ESCAPES = {code: f"\\u{code:04X}" for code in range(0x20)} | {
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    ord("\b"): "\\b",
    ord("\t"): "\\t",
    ord("\n"): "\\n",
    ord("\f"): "\\f",
    ord("\r"): "\\r",
}


def string_text(value: str) -> str:
    """A quoted string. Only controls, the quote and the backslash are escaped."""
    if _NEEDS_ESCAPE.search(value):
        value = value.translate(_ESCAPES)
    return f'"{value}"'


def boolean_text(value: object) -> str:
    """``true`` or ``false``; a number is true unless zero."""
    return "true" if value else "false"


def binary_text(value: bytes) -> str:
    """Standard base64 with padding, in quotes."""
    return f'"{base64.b64encode(value).decode("ascii")}"'


def float_value_text(bare: str) -> str:
    """The bare text of a float as a value: what is not a number is written as a string."""
    return f'"{bare}"' if bare[-1] in "Ny" else bare  # NaN, Infinity, -Infinity


def float64_bare(value: float) -> str:
    """The text that Java 19 and later give a double."""
    if 1e-3 <= abs(value) < 1e7 or value == 0:
        return repr(value)
    return _java_float(value, repr(value), _same_as_float64)


def float32_bare(value: float, shortest: str) -> str:
    """The text that Java 19 and later give a float.

    Args:
        value: The float32, widened to a Python float.
        shortest: The shortest decimal that reads back as that float32, in any notation.
    """
    if 1e-3 <= abs(value) < 1e7 or value == 0:
        return shortest if "." in shortest else f"{shortest}.0"
    return _java_float(value, shortest, _same_as_float32)


def _same_as_float64(decimal: str, value: float) -> bool:
    return float(decimal) == value


def _same_as_float32(decimal: str, value: float) -> bool:
    # The decimal is rounded twice, to a double and then to a float. For the two-digit decimals
    # this is asked about, that gives the same float as rounding once: the tests try them all.
    return bool(struct.unpack("<f", struct.pack("<f", float(decimal)))[0] == value)


def _java_float(value: float, shortest: str, same: Callable[[str, float], bool]) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign = "-" if value < 0 else ""
    digits, exponent = _digits(shortest)
    if len(digits) == 1:
        # Java weighs two digits where one would do: 4.9E-324, not 5E-324.
        two_digits = f"{abs(value):.1e}"
        if same(two_digits, abs(value)):
            digits, exponent = _digits(two_digits)
    if not -3 <= exponent <= 6:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return (
        f"{sign}{digits[: exponent + 1].ljust(exponent + 1, '0')}.{digits[exponent + 1 :] or '0'}"
    )


def _digits(decimal: str) -> tuple[str, int]:
    """The digits ``d1 d2 .. dk`` and the exponent ``e`` of ``|x| = d1.d2..dk x 10^e``."""
    mantissa, _, power = decimal.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    padded = whole + fraction
    digits = padded.lstrip("0")
    exponent = len(whole) - 1 - (len(padded) - len(digits)) + int(power or 0)
    return digits.rstrip("0"), exponent


def decimal_bare(unscaled: int, scale: int) -> str:
    """Java's ``BigDecimal.toString``: the scale is kept, tiny values are scientific."""
    sign = "-" if unscaled < 0 else ""
    digits = str(abs(unscaled))
    adjusted = len(digits) - 1 - scale
    if scale == 0:
        return sign + digits
    if scale > 0 and adjusted >= -6:
        padded = digits.rjust(scale + 1, "0")
        return f"{sign}{padded[:-scale]}.{padded[-scale:]}"
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{sign}{mantissa}E{adjusted:+d}" if adjusted else f"{sign}{mantissa}"


_DAYS_IN_CYCLE = 146_097  # 400 Gregorian years
_DAYS_BEFORE_1970 = datetime.date(1970, 1, 1).toordinal() - 1


@lru_cache(maxsize=65_536)
def date_bare(days: int) -> str:
    """Days since 1970-01-01 as ``yyyy-MM-dd``, proleptic Gregorian in every year."""
    # Python's dates end at years 1 and 9999; the calendar repeats every 400 years.
    cycle, day = divmod(days + _DAYS_BEFORE_1970, _DAYS_IN_CYCLE)
    date = datetime.date.fromordinal(day + 1)
    year = date.year + 400 * cycle
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{date.month:02d}-{date.day:02d}"


def date_text(days: int) -> str:
    """A date in quotes."""
    return f'"{date_bare(days)}"'


def timestamp_text(micros: int) -> str:
    """An instant, microseconds since 1970-01-01T00:00:00Z."""
    return f'"{_date_and_clock(micros)}Z"'


def timestamp_ntz_text(micros: int) -> str:
    """A wall time without a zone, counted the same way."""
    return f'"{_date_and_clock(micros)}"'


def _date_and_clock(micros: int) -> str:
    days, rest = divmod(micros, MICROS_PER_DAY)
    seconds, fraction = divmod(rest, MICROS_PER_SECOND)
    return f"{date_bare(days)}T{_clock(seconds)}.{fraction:06d}"


def _clock(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02d}:{minute:02d}:{second:02d}"


def time_text(micros: int) -> str:
    """A time of day; the fraction is left out when it is zero."""
    if not 0 <= micros < MICROS_PER_DAY:
        raise UnhashableError("holds a time that is not within a day")
    seconds, fraction = divmod(micros, MICROS_PER_SECOND)
    return f'"{_clock(seconds)}.{fraction:06d}"' if fraction else f'"{_clock(seconds)}"'


def duration_text(micros: int) -> str:
    """Spark's text of an interval: one sign for the whole, no trailing zeros."""
    sign = "-" if micros < 0 else ""
    days, rest = divmod(abs(micros), MICROS_PER_DAY)
    seconds, fraction = divmod(rest, MICROS_PER_SECOND)
    clock = _clock(seconds)
    if fraction:
        clock = f"{clock}.{fraction:06d}".rstrip("0")
    return f"\"INTERVAL '{sign}{days} {clock}' DAY TO SECOND\""


def uuid_text(value: bytes) -> str:
    """A UUID in lower-case hex, 8-4-4-4-12."""
    digits = value.hex()
    return f'"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"'
