"""Which runs are for which of the windows that are expected."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ubunye_core.questions.window_runs import Run, RunsByWindow, named_by, span_of
from ubunye_core.questions.window_state import Expected, ExpectedWindows
from ubunye_core.receipt import Receipt
from ubunye_core.stores.successes import Named, Success
from ubunye_core.times import microseconds

AFTER_ALL = 1 << 62
"""Microseconds: later than any instant."""


class NamedWindows(Mapping[Named, Sequence[int]]):
    """Which windows a variable and its value name, by their places; told when that is asked."""

    def __init__(self, expected: Sequence[Expected]) -> None:
        self._expected = expected
        schedules = ExpectedWindows.of(expected).schedules
        self._are_named = any(each.variable is not None for each in schedules)

    @cached_property
    def _by_value(self) -> dict[Named, list[int]]:
        found: dict[Named, list[int]] = {}
        for at, each in enumerate(self._expected):
            for named in each.variables.items():
                found.setdefault(named, []).append(at)
        return found

    def __getitem__(self, named: Named) -> Sequence[int]:
        return self._by_value[named]

    def __iter__(self) -> Iterator[Named]:
        return iter(self._by_value)

    def __len__(self) -> int:
        return len(self._by_value)

    def __bool__(self) -> bool:
        """Whether any of the windows is named."""
        return self._are_named


def runs_by_window(receipts: Sequence[Receipt], expected: Sequence[Expected]) -> RunsByWindow:
    """The runs for each window, newest first.

    A run that says its window is for every scheduled window inside it. One that does not is for
    the windows that its variable names.
    """
    return by_window(receipts, ExpectedWindows.of(expected), NamedWindows(expected))


def by_window(
    runs: Iterable[Run], expected: ExpectedWindows, by_value: Mapping[Named, Sequence[int]]
) -> RunsByWindow:
    """``runs_by_window``, where it is known already which values name which windows."""
    windows = expected.windows
    starts = [microseconds(window.start) for window in windows]
    by_start = sorted(range(len(starts)), key=starts.__getitem__)
    ends = [microseconds(windows[at].end) for at in by_start]
    starts.sort()
    starts.append(AFTER_ALL)
    places = dict(zip(reversed(starts), reversed(range(len(starts))), strict=True))
    found = RunsByWindow(len(windows))
    for run in runs:
        span = (run.start, run.end) if isinstance(run, Success) else span_of(run)
        start, end = span
        if start is None or end is None:
            for named in named_by(run) if by_value else ():
                for at in by_value.get(named, ()):
                    found.add(at, run)
            continue
        index = places.get(start)
        if index is None:
            index = bisect_left(starts, start)
        while starts[index] < end:
            if ends[index] <= end:
                found.add(by_start[index], run)
            index += 1
    found.sort()
    return found
