"""Days on which a task has nothing to do: weekends, holidays, days that are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """Which local days count. A window is excluded when every day that it touches is."""

    business_days: frozenset[int] = frozenset(range(7))
    """Days of the week that count, Monday is 0."""
    holidays: Mapping[date, str] = field(default_factory=dict)
    """Days that do not count, with their names."""

    def why_not(self, day: date) -> str | None:
        """Why a day does not count; None where it does."""
        if day in self.holidays:
            return self.holidays[day] or "a holiday"
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
