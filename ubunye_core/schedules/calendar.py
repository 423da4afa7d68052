"""Days on which a task has nothing to do: weekends, holidays, days that are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from ubunye_core.errors import ConfigError
from ubunye_core.schedules.countries import check_country, holiday_in

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """Which local days count. A window is excluded when every day that it touches is.

    Raises:
        ConfigError: no holidays are known of the country, or a subdivision has no country.
        MissingExtraError: a country is named, and the package ``holidays`` is not installed.
    """

    business_days: frozenset[int] = frozenset(range(7))
    """Days of the week that count, Monday is 0."""
    holidays: Mapping[date, str] = field(default_factory=dict)
    """Days that do not count, with their names."""
    country: str | None = None
    """A country whose public holidays do not count either: its ISO 3166 code, such as ``ID``."""
    subdivision: str | None = None
    """The part of the country whose holidays are meant: ``BY`` in ``DE``."""

    def __post_init__(self) -> None:
        if self.country is not None:
            check_country(self.country, self.subdivision)
        elif self.subdivision is not None:
            raise ConfigError(
                f"A calendar names the subdivision {self.subdivision!r} and no country.",
                hint="Name its country too: DE for BY.",
            )

    def why_not(self, day: date) -> str | None:
        """Why a day does not count; None where it does.

        Raises:
            ConfigError: the country's holidays of that year are not known.
        """
        if day in self.holidays:
            return self.holidays[day] or "a holiday"
        if self.country is not None:
            holiday = holiday_in(self.country, self.subdivision, day)
            if holiday is not None:
                return holiday
        if day.weekday() not in self.business_days:
            return day.strftime("%A")
        return None

    def excludes(self, start: datetime, end: datetime, zone: ZoneInfo) -> str | None:
        """Why no day of a window counts; None where one does.

        Args:
            start: Where the window begins, included.
            end: Where it ends, excluded.
            zone: Whose days count.
        """
        first = start.astimezone(zone).date()
        last = max(first, (end - timedelta(microseconds=1)).astimezone(zone).date())
        reasons = []
        for number in range((last - first).days + 1):
            reason = self.why_not(first + timedelta(days=number))
            if reason is None:
                return None
            if reason not in reasons:
                reasons.append(reason)
        return " and ".join(reasons)
