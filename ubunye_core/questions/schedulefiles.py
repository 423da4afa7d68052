"""The schedule that stands in a task's ``receipts.yaml``, and the calendar that it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

from ubunye_core.config import Written, path_given, read_yaml
from ubunye_core.errors import ConfigError
from ubunye_core.questions.taskfiles import RECEIPTS_FILE, entries_of, files_of
from ubunye_core.schedules import Calendar, Schedule
from ubunye_core.schedules.calendar import WEEKDAYS

KEYS = tuple(field.name for field in fields(Schedule) if field.init)
CALENDAR_KEYS = tuple(field.name for field in fields(Calendar))
_OF_A_COUNTRY = ("country", "subdivision")


def read_schedule(path: str | Path) -> tuple[Schedule, ...]:
    """The schedule of a task: its versions, or the only one.

    Args:
        path: A task's folder, or its ``config.yaml`` or ``receipts.yaml``. ``schedule`` stands in
            ``receipts.yaml``: one map, or a list of them, each with its ``start`` and ``end``.

    Raises:
        ConfigError: a file cannot be read, or an entry is wrong; names file and line.

    Returns:
        An empty tuple where the task has none.
    """
    for file in files_of(path):
        if file.name == RECEIPTS_FILE:
            written = entries_of(file).get("schedule")
            if written is None:
                return ()
            return read_versions(written, file.parent)
    return ()


def read_versions(written: Written, folder: Path) -> tuple[Schedule, ...]:
    """A schedule as it is written: one map, or a list of versions.

    Args:
        written: The map or the list.
        folder: Where a calendar is that it names by its file.

    Raises:
        ConfigError: an entry is wrong; names file and line.
    """
    versions = written.items("'schedule'") if isinstance(written.value, list) else [written]
    if not versions:
        raise written.wrong("'schedule' is empty.", hint="Leave it out if there is none.")
    return tuple(_schedule(version, folder) for version in versions)


def read_calendar(path: str | Path) -> Calendar:
    """The calendar in a YAML file: ``business_days``, ``holidays``, ``country``, ``subdivision``.

    Raises:
        ConfigError: it cannot be read, or an entry is wrong; names file and line.
        MissingExtraError: a country is named, and the package ``holidays`` is not installed.
    """
    return _calendar(read_yaml(path_given(path)))


def _schedule(written: Written, folder: Path) -> Schedule:
    entries = written.entries("a schedule", known=KEYS)
    values = {key: _value(key, entry, folder) for key, entry in entries.items()}
    firing: dict[str, Any] = {key: values[key] for key in ("cron", "every") if key in values}
    made = _made(firing, written)
    for key, value in values.items():  # one by one, so that an error names its line
        if key not in firing:
            beside = {"variable": values.get("variable")} if key == "format" else {}
            made = _made({**firing, **beside, key: value}, entries[key])
    return _made(values, written) if len(values) > len(firing) else made


def _value(key: str, entry: Written, folder: Path) -> Any:
    """The value of one key, as ``Schedule`` takes it."""
    if key == "min_rows":
        text = entry.text("'min_rows'")
        if not text.isdecimal():
            raise entry.wrong(f"'min_rows' is {text}, which is no number of rows.")
        try:
            return int(text)
        except ValueError as error:  # thousands of digits
            raise entry.wrong("'min_rows' is more rows than anything has.") from error
    if key == "calendar":
        if isinstance(entry.value, str):
            return read_calendar(folder / entry.text("'calendar'"))
        return _calendar(entry)
    return entry.text(f"'{key}'")


def _made(values: Mapping[str, Any], written: Written) -> Schedule:
    try:
        return Schedule(**values)
    except ConfigError as error:
        raise written.wrong(error.message, hint=error.hint) from error


def _calendar(written: Written) -> Calendar:
    entries = written.entries("a calendar", known=CALENDAR_KEYS)
    calendar = Calendar()
    if "business_days" in entries:
        days = read_weekdays(entries["business_days"], "'business_days'")
        calendar = replace(calendar, business_days=days)
    if "holidays" in entries:
        calendar = replace(calendar, holidays=_holidays(entries["holidays"]))
    country, subdivision = (
        entries[key].text(f"'{key}'") if key in entries else None for key in _OF_A_COUNTRY
    )
    try:
        return replace(calendar, country=country, subdivision=subdivision)
    except ConfigError as error:
        at = entries["subdivision" if "subdivision" in entries else "country"]
        raise at.wrong(error.message, hint=error.hint) from error


def read_weekdays(written: Written, what: str) -> frozenset[int]:
    """A list of days of the week, Monday is 0.

    Raises:
        ConfigError: one of them is none; names file and line.
    """
    return frozenset(_weekday(day) for day in written.items(what))


def _weekday(written: Written) -> int:
    name = written.text("a day of the week").lower()[:3]
    if name not in WEEKDAYS:
        raise written.wrong("This is no day of the week.", hint=f"Use {', '.join(WEEKDAYS)}.")
    return WEEKDAYS.index(name)


def _holidays(written: Written) -> dict[date, str]:
    """Days with their names: a map, or a list of days."""
    if isinstance(written.value, dict):
        days = [(name, entry, entry.text("a holiday")) for name, entry in written.value.items()]
    else:
        days = [(each.text("a day"), each, "") for each in written.items("'holidays'")]
    found = {}
    for text, entry, name in days:
        try:
            found[date.fromisoformat(text)] = name
        except ValueError as error:
            raise entry.wrong(f"{text!r} is no day.", hint="Write 2026-12-25.") from error
    return found
