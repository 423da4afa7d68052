"""Which runs are for which of the windows that are expected."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from ubunye_core.questions.expected import Expected, ExpectedWindows
from ubunye_core.questions.window_runs import RunsByWindow, RunsSeen, named_by, span_of
from ubunye_core.receipt import Receipt
from ubunye_core.stores.successes import Named, Successes

AFTER_ALL = 1 << 62
"""Microseconds: later than any instant."""
Span = tuple[int | None, int | None, Sequence[Named]]


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
    seen = RunsSeen(Successes(), tuple(receipts))
    return by_window(seen, ExpectedWindows.of(expected), NamedWindows(expected))


def by_window(
    seen: RunsSeen, expected: ExpectedWindows, by_value: Mapping[Named, Sequence[int]]
) -> RunsByWindow:
    """``runs_by_window``, where it is known already which values name which windows."""
    by_start = sorted(range(len(expected)), key=expected.starts.__getitem__)
    starts = [*sorted(expected.starts), AFTER_ALL]
    ends = [expected.ends[at] for at in by_start]
    places: dict[int | None, int] = dict(
        zip(reversed(starts), reversed(range(len(starts))), strict=True)
    )
    found = RunsByWindow(len(expected), seen)
    told = seen.successes
    others: list[tuple[int, Span]] = []
    for run, (index, end) in enumerate(zip(map(places.get, told.start), told.end, strict=True)):
        if index is not None and end == ends[index] and end <= starts[index + 1]:
            found.add(by_start[index], run)  # for one window, as nearly all are
        else:
            others.append((run, (told.start[run], end, told.named[run])))
    others += enumerate(map(_span, seen.others), len(told))
    for run, (start, end, named) in others:
        if start is None or end is None:
            for pair in named:
                for at in by_value.get(pair, ()):
                    found.add(at, run)
            continue
        index = places.get(start)
        if index is None:
            index = bisect_left(starts, start)
        while starts[index] < end:
            if ends[index] <= end:
                found.add(by_start[index], run)
            index += 1
    return found


def _span(run: Receipt) -> Span:
    """What a run says of its window: where it begins and ends, or else what names it."""
    start, end = span_of(run)
    return start, end, named_by(run) if start is None else ()
