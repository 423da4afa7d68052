"""Instants and lengths of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubunye_core import ConfigError
from ubunye_core.times import as_utc, duration, in_iso, in_words, instant, parse_instant

SIX = datetime(2026, 10, 15, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["2026-10-15T06:00:00Z", "2026-10-15T06:00Z", "2026-10-15T13:00:00+07:00", "2026-10-15 06:00Z",
     "2026-10-15T01:30:00-04:30"],
)  # fmt: skip
def test_an_instant_has_an_offset_and_becomes_utc(text: str) -> None:
    assert instant(text) == SIX
    assert instant(text).utcoffset() == timedelta(0)


class OddMoment(datetime):
    """As those of pendulum and pandas: its differences are something of its own."""

    def __sub__(self, other: object) -> object:  # type: ignore[override]
        return "a difference"


def test_an_instant_of_another_librarys_kind_becomes_a_plain_one() -> None:
    odd = OddMoment(2026, 10, 15, 13, 0, 0, 7, tzinfo=timezone(timedelta(hours=7)))
    plain = instant(odd)
    assert type(plain) is datetime
    assert plain - SIX == timedelta(microseconds=7)


@pytest.mark.parametrize(
    "wrong",
    ["2026-10-15T06:00:00", "2026-10-15", "yesterday", "", "2026-13-01T00:00Z",
     "0001-01-01T00:00:00+10:00", datetime(2026, 10, 15)],  # noqa: DTZ001
    ids=str,
)  # fmt: skip
def test_what_is_no_instant_is_told(wrong: str | datetime) -> None:
    with pytest.raises(ConfigError, match="is not an instant for --now"):
        instant(wrong, what="--now")


@pytest.mark.parametrize(
    ("text", "length"),
    [("90s", timedelta(seconds=90)), ("15m", timedelta(minutes=15)), ("2h", timedelta(hours=2)),
     ("1d12h", timedelta(days=1, hours=12)), ("1w", timedelta(weeks=1)), ("0s", timedelta(0)),
     (" 1d 12h ", timedelta(days=1, hours=12)), ("1.5h", timedelta(minutes=90)),
     (timedelta(3), timedelta(3))],
    ids=str,
)  # fmt: skip
def test_a_length_of_time_is_a_timedelta_or_text(text: str | timedelta, length: timedelta) -> None:
    assert duration(text) == length


@pytest.mark.parametrize(
    "wrong",
    ["", "2", "h", "2x", "-5m", "2 hours", "2h, 3m", "1e3s", "٣h", 60, None, timedelta(-1),
     "9" * 400 + "s", "36526d", "999999999d", timedelta.max],
    ids=lambda wrong: str(wrong)[:20],
)  # fmt: skip
def test_what_is_no_length_of_time_is_told(wrong: object) -> None:
    with pytest.raises(ConfigError, match="wait"):
        duration(wrong, what="wait")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "far", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "1899-12-31T23:59:59Z"]
)
def test_an_instant_is_of_a_year_with_room_for_sums(far: str) -> None:
    for moment in (far, datetime.fromisoformat(far)):
        with pytest.raises(ConfigError, match="--now is in the year"):
            instant(moment, what="--now")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0s"), (45, "45s"), (60, "1m"), (3599.6, "1h"), (5400, "1h 30m"), (-5, "0s"),
     (100_000, "1d 3h"), (86_401, "1d 1s")],
)  # fmt: skip
def test_people_read_the_two_largest_units(seconds: float, words: str) -> None:
    assert in_words(timedelta(seconds=seconds)) == words


def test_an_instant_is_written_with_z() -> None:
    assert in_iso(SIX) == "2026-10-15T06:00:00Z"
    assert in_iso(SIX.replace(microsecond=5)) == "2026-10-15T06:00:00.000005Z"
    assert in_iso(SIX.astimezone(timezone(timedelta(hours=7)))) == "2026-10-15T06:00:00Z"


@given(st.datetimes(timezones=st.timezones()))
def test_an_instant_survives_being_written(moment: datetime) -> None:
    try:
        utc = as_utc(moment)
    except ValueError:
        return
    assert parse_instant(in_iso(utc)) == utc
