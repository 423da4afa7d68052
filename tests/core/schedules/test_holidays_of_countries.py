"""A calendar that names a country has no work on its public holidays."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from ubunye_core import Calendar, ConfigError, Schedule
from ubunye_core.questions.schedulefiles import read_calendar

WORKDAYS = frozenset(range(5))


def test_a_public_holiday_of_the_country_does_not_count() -> None:
    calendar = Calendar(business_days=WORKDAYS, country="ID")
    assert calendar.why_not(date(2026, 8, 17)) == "Independence Day"
    assert calendar.why_not(date(2026, 8, 18)) is None
    assert calendar.why_not(date(2026, 8, 22)) == "Saturday"


def test_a_subdivision_has_holidays_that_its_country_has_not() -> None:
    epiphany = date(2026, 1, 6)
    assert Calendar(country="DE").why_not(epiphany) is None
    assert Calendar(country="DE", subdivision="BY").why_not(epiphany) == "Epiphany"


def test_days_of_ones_own_come_beside_those_of_the_country() -> None:
    calendar = Calendar(country="ID", holidays={date(2026, 8, 18): "move of the office"})
    assert calendar.why_not(date(2026, 8, 18)) == "move of the office"
    assert calendar.why_not(date(2026, 8, 17)) == "Independence Day"


def test_a_new_year_that_is_kept_in_the_old_one_is_a_holiday() -> None:
    assert Calendar(country="US").why_not(date(2021, 12, 31)) is not None


def test_the_names_do_not_depend_on_the_language_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LANG"):
        monkeypatch.setenv(name, "id_ID.UTF-8")
    assert Calendar(country="ID").why_not(date(2027, 8, 17)) == "Independence Day"


def test_a_window_on_such_a_day_is_excluded_by_its_name() -> None:
    nightly = Schedule(
        cron="0 2 * * *", time_zone="Asia/Jakarta", window="day", calendar=Calendar(country="ID")
    )
    (window,) = nightly.due_between(
        datetime(2026, 8, 17, 12, tzinfo=UTC), datetime(2026, 8, 18, tzinfo=UTC)
    )
    assert (window.name, window.excluded) == ("2026-08-17", "Independence Day")


def test_a_year_without_known_holidays_is_no_year_without_holidays() -> None:
    calendar = Calendar(country="ID")
    with pytest.raises(ConfigError, match="not of 2150"):
        calendar.why_not(date(2150, 12, 25))


@pytest.mark.parametrize(
    ("country", "subdivision", "why"),
    [
        ("XX", None, "No holidays are known of 'XX'"),
        ("DE", "QQ", "'QQ in DE'"),
        (None, "BY", "no country"),
        (1, None, "are texts"),
    ],
)
def test_what_nobody_knows_is_refused_at_once(country, subdivision, why) -> None:
    with pytest.raises(ConfigError, match=why):
        Calendar(country=country, subdivision=subdivision)


def test_a_calendar_in_yaml_may_name_a_country(tmp_path: Path) -> None:
    path = tmp_path / "calendar.yaml"
    path.write_text("business_days: [mon, tue, wed, thu, fri]\ncountry: NO\nsubdivision: '03'\n")
    assert read_calendar(path) == Calendar(business_days=WORKDAYS, country="NO", subdivision="03")


def test_without_the_package_the_error_names_the_extra() -> None:
    code = """
import sys
sys.modules["holidays"] = None
from ubunye_core import Calendar, MissingExtraError
Calendar(holidays={})
try:
    Calendar(country="ID")
except MissingExtraError as error:
    print(error)
"""
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert "pip install 'ubunye-receipts[holidays]'" in told


def test_a_calendar_without_a_country_does_not_import_it() -> None:
    code = """
import sys
from datetime import date
from ubunye_core import Calendar
Calendar(holidays={date(2026, 12, 25): "Christmas"}).why_not(date(2026, 12, 25))
print("holidays" in sys.modules)
"""
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert told == "False\n"
