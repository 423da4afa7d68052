"""A morning for people: first what needs somebody, then what is well in one line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from ubunye_core.cli.output import moment, say, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, as_of
from ubunye_core.cli.receiptview import COLUMNS, line_of
from ubunye_core.cli.stats import short_length
from ubunye_core.cli.tables import table
from ubunye_core.counted import count
from ubunye_core.questions.morning import Morning, MorningTask
from ubunye_core.questions.planned import Action, PlannedWindow
from ubunye_core.questions.stats import in_days, percent
from ubunye_core.questions.telling import why_of
from ubunye_core.questions.window_state import WindowAnswer, WindowState

_WIDTH = 100
_TASKS = ("task", "verdict", "health", "success", "p95", "why")
_WINDOWS = ("task", "window", "number", "state", "to do", "more runs", "why")
_BY_HAND = (*COLUMNS, "why")
_MOST_BY_HAND, _MOST_RUNS = 10, 3
_UNDER_WAY = (WindowState.RUNNING, WindowState.OVERRUN)


@dataclass(frozen=True)
class _Line:
    """What is told of one window."""

    window: str
    state: str
    to_do: str
    runs: tuple[str, ...]
    why: str


def show_morning(answer: Morning, place: Place, now: datetime | None, *, days: int) -> None:
    """Print a morning, no wider than 100 columns where nothing in it is longer."""
    say_verdict(answer.verdict, _wrapped(answer.reason, indent=6))
    if now is not None:
        say(as_of(now))
    needing = [each for each in answer.tasks if not each]
    well = [each for each in answer.tasks if each]
    if needing:
        rows = [
            (
                each.task,
                each.verdict.value,
                each.health.verdict.value,
                *_numbers(each),
                _why(each),
            )
            for each in needing
        ]
        _titled(f"To look at; success and p95 of {in_days(days)}", _TASKS, rows)
        _say_how_to_close([run for each in needing for run in each.health.stuck])
    rows_of_windows = [
        (each.task, *row) for each in answer.tasks for row in _rows(_lines(each, answer))
    ]
    if rows_of_windows:
        title = f"Windows that were due since {moment(answer.since)}, and what can be done"
        _titled(title, _WINDOWS, rows_of_windows)
    _show_by_hand(answer)
    if well:
        say(f"\n{_in_one_line(f'Well ({len(well)}): ', [_well(each) for each in well])}")
    bare = [each.task for each in answer.tasks if each.windows is None]
    if bare:
        begin = "No schedule is known, so nothing is told of the windows of "
        say(_in_one_line(begin if well else f"\n{begin}", bare))
    if place.remark:
        say(place.remark)
    told = [answer.reason, *(each.reason for each in needing)]
    say_unreadable(answer.unreadable, told=told)


def _titled(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    say(f"\n{title}:")
    table(columns, rows, folds=("more runs", "batch", "took", "by", "why"), plain_width=_WIDTH)


def _say_how_to_close(stuck: Sequence[str]) -> None:
    if stuck:
        run, which = (stuck[0], "it") if len(stuck) == 1 else ("RUN", "a stuck run")
        say(f"Try: 'ubunye-runs close {run} --reason TEXT', if {which} is dead.")


def _why(each: MorningTask) -> str:
    text = each.reason.removeprefix(f"{each.task}: ").removeprefix(f"{each.task} ")
    return text.replace("?; ", "? ")


def _numbers(each: MorningTask) -> tuple[str, str]:
    """Which part of the runs succeeded, and how long they took."""
    stats = each.stats
    part = "-"
    if stats.runs:
        rate = percent(stats.succeeded, stats.runs) if stats.succeeded else "0%"
        part = f"{rate} of {count(stats.runs, 'run')}"
    return part, "-" if stats.durations is None else short_length(stats.durations.p95)


def _well(each: MorningTask) -> str:
    part, slow = _numbers(each)
    return f"{each.task} ({part}, p95 {slow})" if each.stats.runs else each.task


def _lines(each: MorningTask, answer: Morning) -> Iterator[_Line]:
    for window in each.to_tell:
        planned = answer.planned(each.task, window)
        yield _Line(
            window=window.window.name,
            state=window.state.value.replace("_", " "),
            to_do=_to_do(window, planned),
            runs=window.runs,
            why=_why_window(window, planned),
        )


def _to_do(window: WindowAnswer, planned: PlannedWindow | None) -> str:
    if window.state in _UNDER_WAY:
        return "under way"
    return "-" if planned is None else planned.action.value.replace("_", " ")


def _why_window(window: WindowAnswer, planned: PlannedWindow | None) -> str:
    parts = [window.reason, *window.doubts]
    if planned is not None and planned.action in (Action.TOO_OLD, Action.BLOCKED):
        if window.reason not in planned.reason:
            parts.append(planned.reason)
        elif planned.state is not WindowState.UNKNOWN:
            parts = [planned.reason, *window.doubts]
    if planned is not None and planned.after:
        parts.append(f"after {', '.join(planned.after[:_MOST_RUNS])}")
    return "; ".join(part.rstrip(".") for part in parts)


def _rows(lines: Iterator[_Line]) -> Iterator[tuple[str, ...]]:
    """Windows one after the other that stand alike share a row, with what is said of the first."""
    for (state, to_do), group in groupby(lines, key=lambda line: (line.state, line.to_do)):
        alike = list(group)
        first, last = alike[0], alike[-1]
        every = dict.fromkeys(run for line in alike for run in line.runs)
        runs = [run for run in every if run not in first.why]
        more = f" and {len(runs) - _MOST_RUNS} more" if len(runs) > _MOST_RUNS else ""
        yield (
            first.window if first is last else f"{first.window} to {last.window}",
            str(len(alike)),
            state,
            to_do,
            " ".join(runs[:_MOST_RUNS]) + more or "-",
            first.why if first is last else f"{first.window}: {first.why}",
        )


def _show_by_hand(answer: Morning) -> None:
    runs, since = answer.by_hand, moment(answer.since)
    untold = sum(each.untold for each in answer.tasks)
    if runs:
        rows = [(*line_of(run), why_of(run) or "none given") for run in runs[:_MOST_BY_HAND]]
        _titled(f"By hand since {since}", _BY_HAND, rows)
        if len(runs) > _MOST_BY_HAND:
            more = len(runs) - _MOST_BY_HAND
            say(f"and {more} more: ubunye-runs search --triggered-by manual --since {since}")
    elif not any(each.stats.retryable for each in answer.tasks):
        say(f"\nNo run by hand is on record since {since}.")
    if untold:
        which = count(untold, "run does", "runs do")
        say(f"{which} not say who or what started {'it' if untold == 1 else 'them'}.")


def _in_one_line(begin: str, names: Sequence[str]) -> str:
    """As many names as fit, at least one, and how many more there are."""
    for shown in range(len(names), 0, -1):
        more = f" and {len(names) - shown} more" if shown < len(names) else ""
        line = f"{begin}{', '.join(names[:shown])}{more}."
        if len(line) <= _WIDTH:
            break
    return line


def _wrapped(text: str, *, indent: int) -> str:
    return textwrap.fill(
        text,
        _WIDTH - indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
