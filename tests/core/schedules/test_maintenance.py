"""When maintenance takes place, whatever the clocks do."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

import pytest

from ubunye_core import ConfigError, Maintenance

HOUR = timedelta(hours=1)


def times(maintenance: Maintenance, since: str, until: str) -> list[str]:
    """When it takes place, by its own clocks."""
    found = maintenance.between(datetime.fromisoformat(since), datetime.fromisoformat(until))
    return [
        f"{begin.astimezone(maintenance.zone):%m-%d %H:%M}–"
        f"{end.astimezone(maintenance.zone):%m-%d %H:%M} {(end - begin) / HOUR:g}h"
        for begin, end in found
    ]


def test_it_takes_place_every_day_between_two_times_of_its_zone() -> None:
    backup = Maintenance(name="backup", from_="00:00", to="01:00", time_zone="Asia/Jakarta")
    assert backup.between(
        datetime(2026, 10, 14, tzinfo=UTC), datetime(2026, 10, 15, tzinfo=UTC)
    ) == [(datetime(2026, 10, 14, 17, tzinfo=UTC), datetime(2026, 10, 14, 18, tzinfo=UTC))]
    assert backup.times == "00:00–01:00"


def test_what_has_begun_and_not_ended_is_among_it() -> None:
    night = Maintenance(name="night", from_="22:00", to="06:00")
    found = times(night, "2026-10-15T05:59+00:00", "2026-10-15T22:00+00:00")
    assert found == ["10-14 22:00–10-15 06:00 8h"]
    assert times(night, "2026-10-15T06:00+00:00", "2026-10-15T22:00+00:00") == []


def test_days_are_those_on_which_it_begins() -> None:
    patches = Maintenance(name="patches", from_="23:00", to="02:00", days=frozenset({5}))
    found = times(patches, "2026-10-12T00:00+00:00", "2026-10-26T00:00+00:00")
    assert found == ["10-17 23:00–10-18 02:00 3h", "10-24 23:00–10-25 02:00 3h"]
    assert date(2026, 10, 17).weekday() == 5


def test_a_whole_day_has_no_hole_when_clocks_change() -> None:
    closed = Maintenance(name="closed", from_="00:00", to="24:00", time_zone="Europe/London")
    found = closed.between(
        datetime(2026, 10, 23, 23, tzinfo=UTC), datetime(2026, 10, 27, tzinfo=UTC)
    )
    assert [(end - begin) / HOUR for begin, end in found] == [24, 25, 24]
    assert all(end == begin for (_, end), (begin, _) in pairwise(found))
    assert closed.times == "00:00–24:00"


@pytest.mark.parametrize(
    ("from_", "to", "found"),
    [
        ("01:00", "04:00", "03-14 01:00–03-14 04:00 2h"),
        ("02:00", "02:30", "03-14 03:00–03-14 03:30 0.5h"),
        ("02:30", "03:00", "03-14 03:00–03-14 03:30 0.5h"),
        ("01:30", "02:30", "03-14 01:30–03-14 03:30 1h"),
    ],
)
def test_in_the_night_that_has_no_hour_2_it_is_never_shorter_than_real(from_, to, found) -> None:
    maintenance = Maintenance(name="m", from_=from_, to=to, time_zone="America/New_York")
    assert times(maintenance, "2027-03-14T00:00-05:00", "2027-03-14T12:00-04:00") == [found]


@pytest.mark.parametrize(
    ("from_", "to", "found"),
    [
        ("00:30", "01:30", "11-01 00:30–11-01 01:30 2h"),
        ("01:00", "01:30", "11-01 01:00–11-01 01:30 1.5h"),
        ("01:30", "02:30", "11-01 01:30–11-01 02:30 2h"),
    ],
)
def test_an_hour_that_is_shown_twice_is_covered_twice(from_, to, found) -> None:
    maintenance = Maintenance(name="m", from_=from_, to=to, time_zone="America/New_York")
    assert times(maintenance, "2026-11-01T00:00-04:00", "2026-11-01T12:00-05:00") == [found]


def test_it_may_begin_when_a_cron_expression_fires() -> None:
    month_end = Maintenance(name="month end", cron="0 20 1 * *", takes="6h")
    found = times(month_end, "2026-10-02T01:00+00:00", "2026-12-01T00:00+00:00")
    assert found == ["10-01 20:00–10-02 02:00 6h", "11-01 20:00–11-02 02:00 6h"]
    assert month_end.times == "0 20 1 * * for 6h"


def test_it_takes_place_only_while_it_is_valid() -> None:
    moved = Maintenance(
        name="moved", from_=time(0), to=time(1), time_zone="Asia/Jakarta",
        start="2026-10-16", end="2026-10-18T00:00+07:00",
    )  # fmt: skip
    found = times(moved, "2026-10-01T00:00+07:00", "2026-11-01T00:00+07:00")
    assert found == ["10-16 00:00–10-16 01:00 1h", "10-17 00:00–10-17 01:00 1h"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"name": " ", "from_": "00:00", "to": "01:00"}, "has a name"),
        ({}, "either 'from' and 'to'"),
        ({"from_": "00:00"}, "either 'from' and 'to'"),
        ({"from_": "00:00", "to": "00:00"}, "when it begins"),
        ({"from_": "24:00", "to": "01:00"}, "no time of day"),
        ({"from_": "0:60", "to": "01:00"}, "no time of day"),
        ({"from_": time(0, 0, 5), "to": "01:00"}, "no plain time"),
        ({"from_": "00:00", "to": "01:00", "takes": "1h"}, "goes with 'cron'"),
        ({"from_": "00:00", "to": "01:00", "days": frozenset()}, "no day of the week"),
        ({"from_": "00:00", "to": "01:00", "days": frozenset({7})}, "no day of the week"),
        ({"from_": "00:00", "to": "01:00", "days": ["mon"]}, "no day of the week"),
        ({"from_": "00:00", "to": "01:00", "start": 5}, "not an instant for start"),
        ({"from_": "00:00", "to": "01:00", "time_zone": "Mars/Base"}, "no time zone"),
        ({"from_": "00:00", "to": "01:00", "start": "soon"}, "not an instant for start"),
        (
            {"from_": "00:00", "to": "01:00", "start": "2026-10-02", "end": "2026-10-02"},
            "never takes place",
        ),
        ({"cron": "0 0 * * *"}, "'takes' is missing"),
        ({"cron": "0 0 * * *", "takes": "0s"}, "from 1m to 7d"),
        ({"cron": "0 0 * * *", "takes": "8d"}, "from 1m to 7d"),
        ({"cron": "* * * * *", "takes": "1m"}, "more often"),
        ({"cron": "* * * 2 *", "takes": "1m"}, "more often"),
        ({"cron": "0 0 * * *", "takes": "1h", "from_": "00:00"}, "either 'cron'"),
        ({"cron": "midnight", "takes": "1h"}, "no cron expression"),
    ],
)
def test_what_cannot_be_is_refused(given, why) -> None:
    with pytest.raises(ConfigError, match=why):
        Maintenance(**{"name": "backup", **given})
