"""Requirements of every window of an upstream: their schedules and windows as JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ubunye_core import Requirement, RequirementLike, Window

if TYPE_CHECKING:
    from ubunye_core import Schedule


def schedule_fields(schedule: Schedule) -> dict[str, Any]:
    """A schedule as JSON; ``requirement_read`` reads it back."""
    found = {}
    for each in fields(schedule):
        value = getattr(schedule, each.name)
        if each.init and value is not None and value != each.default:
            found[each.name] = _as_json(value)
    return found


def requirement_read(given: RequirementLike) -> Requirement:
    """A requirement from what an author wrote, or from JSON, in which a calendar is a map.

    Raises:
        ConfigError: it is wrong.
    """
    if isinstance(given, Mapping) and given.get("schedule") is not None:
        return Requirement.of({**given, "schedule": _schedule_read(given["schedule"])})
    return Requirement.of(given)


def window_fields(window: Window | None) -> dict[str, Any] | None:
    """A window as JSON; ``window_read`` reads it back."""
    if window is None:
        return None
    return {
        "start": window.start.isoformat(),
        "end": window.end.isoformat(),
        "time_zone": window.time_zone,
    }


def window_read(given: Mapping[str, Any] | None) -> Window | None:
    """The window that a trigger was given."""
    if given is None:
        return None
    return Window(
        start=datetime.fromisoformat(given["start"]),
        end=datetime.fromisoformat(given["end"]),
        time_zone=given["time_zone"],
    )


def _as_json(value: Any) -> object:
    if isinstance(value, timedelta):
        return f"{value.total_seconds():f}s"
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "business_days"):
        return {
            "business_days": sorted(value.business_days),
            "holidays": {day.isoformat(): name for day, name in value.holidays.items()},
            "country": value.country,
            "subdivision": value.subdivision,
        }
    return value if isinstance(value, int) else str(value)


def _schedule_read(given: Any) -> Any:
    if isinstance(given, list | tuple):
        return [_schedule_read(each) for each in given]
    if not isinstance(given, Mapping) or not isinstance(given.get("calendar"), Mapping):
        return given
    from ubunye_core import Calendar  # files of DAGs are read all day, and few of them need it

    written = given["calendar"]
    calendar = Calendar(
        business_days=frozenset(written["business_days"]),
        holidays={date.fromisoformat(day): name for day, name in written["holidays"].items()},
        country=written["country"],
        subdivision=written["subdivision"],
    )
    return {**given, "calendar": calendar}
