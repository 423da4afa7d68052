"""Instants and durations: from text once, at the door; datetimes and timedeltas inside."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from ubunye_core.errors import ConfigError

LONGEST = timedelta(days=36_525)
"""A hundred years: nobody means a longer time, and sums stay in the calendar."""
FIRST_YEAR, LAST_YEAR = 1900, 9000

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([wdhms])", re.ASCII)


def utc_now() -> datetime:
    """The clock, in UTC."""
    return datetime.now(UTC)


def as_utc(moment: datetime) -> datetime:
    """``moment`` in UTC; a ``ValueError`` when it has no zone or leaves the calendar."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone")
    try:
        utc = moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{moment.isoformat()} is out of range in UTC") from error
    if type(utc) is datetime:
        return utc
    # Those of pendulum and pandas subtract and add in ways of their own.
    day = (utc.year, utc.month, utc.day)
    return datetime(*day, utc.hour, utc.minute, utc.second, utc.microsecond, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    """An instant as a whole number of microseconds since 1970."""
    return (moment - EPOCH) // _MICROSECOND


def instant_of(number: int) -> datetime:
    """The instant that so many microseconds stand for."""
    return EPOCH + timedelta(microseconds=number)


def parse_instant(text: str) -> datetime:
    """An ISO-8601 instant with an offset or ``Z``, in UTC. ``ValueError`` otherwise."""
    return as_utc(datetime.fromisoformat(text))


def instant(
    value: datetime | str,
    *,
    what: str = "instant",
    forms: str = "2026-10-15T06:00:00Z or with an offset",
) -> datetime:
    """An argument that is an instant, as a datetime in UTC.

    Raises:
        ConfigError: it is not ISO-8601, has no zone, or is of no year that anybody means.
    """
    try:
        moment = as_utc(value) if isinstance(value, datetime) else parse_instant(value)
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"{value!r} is not an instant for {what}.",
            hint=f"Write it as {forms}.",
        ) from error
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ConfigError(
            f"{what} is in the year {moment.year}.",
            hint=f"Use one from {FIRST_YEAR} to {LAST_YEAR}.",
        )
    return moment


def duration(value: timedelta | str, *, what: str = "duration") -> timedelta:
    """An argument that is a length of time: a timedelta, or text such as ``2h`` or ``1d12h``.

    Units are w, d, h, m and s.

    Raises:
        ConfigError: it is not a length of time, is negative, or is more than a hundred years.
    """
    if isinstance(value, timedelta):
        if value < timedelta(0):
            raise ConfigError(f"{what} is negative: {value}.")
        if value > LONGEST:
            raise ConfigError(f"{str(value)!r} is too long a time for {what}.")
        return value
    text = value.strip() if isinstance(value, str) else ""
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text).strip():
        raise ConfigError(
            f"{value!r} is not a length of time for {what}.",
            hint="Write it as 90s, 15m, 2h, 1d12h or 1w.",
        )
    try:
        length = sum((timedelta(**{_UNITS[unit]: float(n)}) for n, unit in parts), timedelta(0))
    except OverflowError:
        length = timedelta.max
    if length > LONGEST:
        raise ConfigError(f"{value!r} is too long a time for {what}.")
    return length


def check_format(text: str) -> str:
    """A format as for ``strftime``.

    Raises:
        ConfigError: nothing can be written by it.
    """
    try:
        datetime(2026, 10, 15, tzinfo=UTC).strftime(text)
    except (ValueError, TypeError) as error:  # half a character; no text
        raise ConfigError(f"{text!r} is no format.", hint="Write it as %Y-%m-%d.") from error
    return text


def instant_or_ago(value: datetime | str | timedelta, now: datetime, *, what: str) -> datetime:
    """An argument that is an instant, or how long before ``now`` it is: ``30d``.

    Raises:
        ConfigError: it is neither.
    """
    if isinstance(value, timedelta):
        return now - duration(value, what=what)
    if isinstance(value, str) and _PART.match(value.strip()) and not _PART.sub("", value).strip():
        return now - duration(value, what=what)
    return instant(value, what=what, forms="2026-10-15T06:00:00Z, with an offset, or 30d")


def in_words(length: timedelta) -> str:
    """A length of time for people, in its two largest units: ``2h``, ``1d 4h``, ``45s``."""
    seconds = max(0, round(length.total_seconds()))
    words = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            words.append(f"{count}{unit}")
    return " ".join(words[:2]) or "0s"


def to_the_second(moment: datetime) -> str:
    """An instant for a sentence, cut to the second."""
    return moment.astimezone(UTC).isoformat("T", "seconds")[:19] + "Z"


def in_iso(moment: datetime) -> str:
    """An instant as UTC text, with all its digits: ``2026-10-15T06:00:00.274670Z``."""
    text = moment.astimezone(UTC).isoformat(
        timespec="microseconds" if moment.microsecond else "seconds"
    )
    return text.replace("+00:00", "Z")
