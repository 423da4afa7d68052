"""The windows of a schedule: one by one, and many in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from ubunye_core.columns import Columns


class ScheduledWindow(NamedTuple):
    """A period of data that a run is expected for.

    A tuple, for there are tens of thousands of them: name its fields when you make one.
    """

    start: datetime
    """Included, UTC."""
    end: datetime
    """Excluded, UTC."""
    due: datetime
    """When its run is to start."""
    name: str
    """For people: ``2026-10-15`` for a day, and so on."""
    excluded: str | None = None
    """Why no run is expected: the calendar's word for its days."""


class ScheduledWindows(Columns[ScheduledWindow]):
    """Windows in columns, named as the fields."""

    def __init__(self) -> None:
        self.start: list[datetime] = []
        self.end: list[datetime] = []
        self.due: list[datetime] = []
        self.name: list[str] = []
        self.excluded: list[str | None] = []

    @classmethod
    def of(cls, windows: Iterable[ScheduledWindow]) -> ScheduledWindows:
        """The same windows, in columns."""
        if isinstance(windows, ScheduledWindows):
            return windows
        found = cls()
        for window in windows:
            found.add(*window)
        return found

    def add(
        self, start: datetime, end: datetime, due: datetime, name: str, excluded: str | None
    ) -> None:
        """Add one at the end."""
        self.start.append(start)
        self.end.append(end)
        self.due.append(due)
        self.name.append(name)
        self.excluded.append(excluded)

    def extend(self, windows: Iterable[ScheduledWindow]) -> None:
        """Add some at the end."""
        more = ScheduledWindows.of(windows)
        self.start += more.start
        self.end += more.end
        self.due += more.due
        self.name += more.name
        self.excluded += more.excluded

    def _row(self, at: int) -> ScheduledWindow:
        return ScheduledWindow(
            self.start[at], self.end[at], self.due[at], self.name[at], self.excluded[at]
        )

    def __len__(self) -> int:
        return len(self.start)

    def __iter__(self) -> Iterator[ScheduledWindow]:
        columns = (self.start, self.end, self.due, self.name, self.excluded)
        return map(ScheduledWindow._make, zip(*columns, strict=True))
