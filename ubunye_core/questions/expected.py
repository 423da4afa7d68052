"""Which windows a schedule expects, and when each of them counts as missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

from ubunye_core.columns import Columns
from ubunye_core.schedules import Schedule, ScheduledWindow, ScheduledWindows
from ubunye_core.times import microseconds


def variables_of(schedule: Schedule, window: ScheduledWindow) -> Mapping[str, str]:
    """What names a window for a run."""
    variable = schedule.variable
    return {} if variable is None else {variable: schedule.value_of(window)}


class Expected(NamedTuple):
    """A window that a schedule expects, and when it counts as missing."""

    window: ScheduledWindow
    missing_at: datetime
    schedule: Schedule

    @property
    def variables(self) -> Mapping[str, str]:
        """What names the window for a run."""
        return variables_of(self.schedule, self.window)


class ExpectedWindows(Columns[Expected]):
    """Windows that are expected, in columns."""

    def __init__(
        self,
        windows: ScheduledWindows,
        missing_at: Sequence[datetime],
        schedules: Sequence[Schedule],
    ) -> None:
        self.windows, self.missing_at, self.schedules = windows, missing_at, schedules

    @classmethod
    def of(cls, expected: Sequence[Expected]) -> ExpectedWindows:
        """The same windows, in columns."""
        if isinstance(expected, ExpectedWindows):
            return expected
        windows, missing_at, schedules = zip(*expected, strict=True) if expected else ((), (), ())
        return cls(ScheduledWindows.of(windows), missing_at, schedules)

    @cached_property
    def starts(self) -> Sequence[int]:
        """Where each window begins, in microseconds."""
        return list(map(microseconds, self.windows.start))

    @cached_property
    def ends(self) -> Sequence[int]:
        """Where each window ends, in microseconds: mostly where the next begins."""
        return _numbers(self.windows.end, self.windows.start[1:], self.starts[1:])

    @cached_property
    def misses(self) -> Sequence[int]:
        """When each window counts as missing, in microseconds: often when the next has ended."""
        return _numbers(self.missing_at, self.windows.end[1:], self.ends[1:])

    def _row(self, at: int) -> Expected:
        return Expected(self.windows[at], self.missing_at[at], self.schedules[at])

    def __len__(self) -> int:
        return len(self.windows)


def expected_windows(
    versions: Iterable[Schedule], since: datetime, until: datetime
) -> ExpectedWindows:
    """The windows that are due in a period, and when each counts as missing."""
    found: list[ExpectedWindows] = []
    for schedule in versions:
        windows = schedule.in_columns(since, until)
        if windows:
            found.append(
                ExpectedWindows(windows, _missing_at(windows, schedule), [schedule] * len(windows))
            )
    if len(found) == 1:
        return found[0]
    expected = [each for of_version in found for each in reversed(of_version)]
    expected.sort(key=lambda each: (each.window.due, each.window.start), reverse=True)
    # A window that two versions cover was expected by the one that was due first.
    by_window = {(each.window.start, each.window.end): each for each in expected}
    return ExpectedWindows.of(list(by_window.values())[::-1])


def _missing_at(windows: ScheduledWindows, schedule: Schedule) -> list[datetime]:
    """When each of a schedule's windows counts as missing."""
    allowed = schedule.finish_by
    if isinstance(allowed, timedelta):
        return [due + allowed for due in windows.due]
    following = schedule.next_due(windows.due[-1])
    missing_at = []
    for due, excluded in zip(reversed(windows.due), reversed(windows.excluded), strict=True):
        missing_at.append(following)
        if excluded is None:
            following = due
    missing_at.reverse()
    return missing_at


def _numbers(
    moments: Sequence[datetime], likely: Sequence[datetime], numbers: Sequence[int]
) -> list[int]:
    """Moments in microseconds, where it is known of others that may be equal to them.

    To compare two takes a tenth of what it takes to convert one.
    """
    told = zip_longest(moments, likely, numbers)
    return [number if moment == other else microseconds(moment) for moment, other, number in told]
