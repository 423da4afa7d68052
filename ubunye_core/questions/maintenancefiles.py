"""The maintenance of a platform, as it stands in a YAML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from ubunye_core.config import Written, path_given, read_yaml
from ubunye_core.errors import ConfigError
from ubunye_core.questions.schedulefiles import read_weekdays
from ubunye_core.schedules.clocks import time_of_day, zone_named
from ubunye_core.schedules.firings import Cron
from ubunye_core.schedules.maintenance import END_OF_DAY, Maintenance
from ubunye_core.times import duration

KEYS = ("name", "from", "to", "days", "cron", "takes", "time_zone", "start", "end")
_SOME_ZONE = ZoneInfo("UTC")

_CHECKS: Mapping[str, Callable[[str], object]] = {
    "from": lambda text: time_of_day(text, what="from"),
    "to": lambda text: text == END_OF_DAY or time_of_day(text, what="to"),
    "cron": lambda text: Cron(text, _SOME_ZONE),
    "takes": lambda text: duration(text, what="takes"),
    "time_zone": zone_named,
}
"""What can be said of one key by itself, so that an error names its line."""


def read_maintenance(path: str | Path) -> tuple[Maintenance, ...]:
    """The maintenance in a YAML file: a list under ``maintenance``.

    Raises:
        ConfigError: it cannot be read, or an entry is wrong; names file and line.
    """
    file = path_given(path)
    entries = read_yaml(file).entries(file.name, known=("maintenance",))
    if "maintenance" not in entries:
        raise ConfigError(f"{file} has no 'maintenance'.", hint="Write a list of it, or [].")
    return tuple(_maintenance(each) for each in entries["maintenance"].items("'maintenance'"))


def _maintenance(written: Written) -> Maintenance:
    entries = written.entries("maintenance", known=KEYS)
    if "name" not in entries:
        raise written.wrong("It has no 'name'.", hint="Write name: backup warehouse.")
    values = {key: _value(key, entry) for key, entry in entries.items()}
    if "from" in values:
        values["from_"] = values.pop("from")
    try:
        return Maintenance(**values)
    except ConfigError as error:
        raise written.wrong(error.message, hint=error.hint) from error


def _value(key: str, entry: Written) -> Any:
    """The value of one key, as ``Maintenance`` takes it."""
    if key == "days":
        return read_weekdays(entry, "'days'")
    text = entry.text(f"'{key}'")
    try:
        if key in _CHECKS:
            _CHECKS[key](text)
    except ConfigError as error:
        raise entry.wrong(error.message, hint=error.hint) from error
    return text
