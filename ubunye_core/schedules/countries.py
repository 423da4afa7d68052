"""The public holidays of countries, as the package ``holidays`` knows them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from ubunye_core.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from holidays import HolidayBase

ENGLISH = "en_US"


def check_country(country: str, subdivision: str | None) -> None:
    """Refuse a country or a part of it of which no holidays are known.

    Raises:
        ConfigError: nothing is known of it.
        MissingExtraError: the package ``holidays`` is not installed.
    """
    if not isinstance(country, str) or not (subdivision is None or isinstance(subdivision, str)):
        raise ConfigError("A country and its subdivision are texts, such as DE and BY.")
    try:
        _known(country, subdivision)
    except NotImplementedError as error:
        hint = "Write its ISO 3166 code, such as ID; of a subdivision, such as BY in DE."
        place = country if subdivision is None else f"{subdivision} in {country}"
        raise ConfigError(f"No holidays are known of {place!r}.", hint=hint) from error


def holiday_in(country: str, subdivision: str | None, day: date) -> str | None:
    """The name of a public holiday, in English where it has one; None for any other day.

    Raises:
        ConfigError: the holidays of that year are not known.
        MissingExtraError: the package ``holidays`` is not installed.
    """
    return _of_year(country, subdivision, day.year).get(day)


@lru_cache(maxsize=1024)
def _of_year(country: str, subdivision: str | None, year: int) -> Mapping[date, str]:
    """All of one year. One that begins in the year before, and is kept in this, is among them."""
    found = _known(country, subdivision, year)
    if not found.start_year <= year <= found.end_year:
        raise ConfigError(
            f"The holidays of {country} are known from {found.start_year} to {found.end_year}, "
            f"and not of {year}.",
            hint="Ask for other years, or name the days themselves under 'holidays'.",
        )
    return {day: name for day, name in found.items() if day.year == year}


def _known(country: str, subdivision: str | None, year: int | None = None) -> HolidayBase:
    try:
        from holidays import country_holidays
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"The holidays of {country} need the package 'holidays'.", "holidays"
        ) from error
    years = () if year is None else (year - 1, year, year + 1)
    return country_holidays(
        country, subdiv=subdivision, years=years, expand=False, language=ENGLISH
    )
