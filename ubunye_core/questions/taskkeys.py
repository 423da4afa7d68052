"""Which keys every part of a task's files may have, whoever reads which part of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields

from ubunye_core.config import Written
from ubunye_core.questions.policy import Policy
from ubunye_core.questions.requirements import KEYS


def check_keys(entries: Mapping[str, Written]) -> None:
    """Refuse an unknown key in what is read of a task, so that no reader passes it over.

    Args:
        entries: The parts of a file by their names. What they are worth is for their readers.

    Raises:
        ConfigError: a key is not known; names file and line.
    """
    for part, written in entries.items():
        known = _known(part)
        for each in written.value if isinstance(written.value, list) else [written]:
            if known is not None and isinstance(each.value, dict):
                check_keys(each.entries(*known))


def _known(part: str) -> tuple[str, Collection[str]] | None:
    """What one entry of a part is called, and its keys; None where it has none of its own."""
    if part == "policy":
        return "a policy", tuple(each.name for each in fields(Policy))
    if part == "requires":
        return "a requirement", KEYS
    if part in ("schedule", "calendar"):
        # Not at the top: files of DAGs are read all day, and few of them have a schedule.
        from ubunye_core.questions import schedulefiles

        if part == "schedule":
            return "a schedule", schedulefiles.KEYS
        return "a calendar", schedulefiles.CALENDAR_KEYS
    return None
