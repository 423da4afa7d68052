"""Runs in the order of a schedule: has the window before succeeded?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ubunye_core.batch import comparable, shown
from ubunye_core.errors import ConfigError
from ubunye_core.masking import MASK
from ubunye_core.questions.answer import Moment, Verdict, view
from ubunye_core.questions.expected import Expected, expected_windows
from ubunye_core.questions.symptoms import Limits
from ubunye_core.questions.window_match import runs_by_window
from ubunye_core.questions.window_state import (
    EARLY,
    Judge,
    WindowAnswer,
    WindowState,
    usual_limit,
)
from ubunye_core.receipt import Receipt, Window
from ubunye_core.schedules import Of, Period, Schedule, ScheduledWindow
from ubunye_core.schedules.periods import reach_of
from ubunye_core.stores.claims import ClaimKey
from ubunye_core.stores.protocol import ReceiptStore, Unreadable

MICROSECOND = timedelta(microseconds=1)
DAYS_BACK = (2, 70, 800, 9000)
"""How far back the window before is looked for, in steps."""
_FORMATS = {
    Period.HOUR: "%Y-%m-%dT%H",
    Period.DAY: "%Y-%m-%d",
    Period.WEEK: "%G-W%V",
    Period.MONTH: "%Y-%m",
    Period.TICK: "%Y-%m-%dT%H:%M",
}
_OFFSET = re.compile(r"[+-]\d\d:\d\d$", re.ASCII)
_SUCCEEDED = (WindowState.SUCCEEDED, WindowState.SUCCEEDED_LATE)
_PASSED_OVER = (WindowState.EXCLUDED, WindowState.SKIPPED)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Whether it is the turn of a run, by the windows before its own."""

    verdict: Verdict
    reason: str
    before: WindowAnswer | None = None
    """The window that decides: the last one before that is to be run at all."""
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True)
class Order:
    """The order in which the windows of a task are run.

    Raises:
        ConfigError: there is no schedule, or none of its windows is the first.
    """

    versions: tuple[Schedule, ...]
    window: Window | None
    """The window of the run that asks; None where its batch names it."""

    def __post_init__(self) -> None:
        if not self.versions:
            raise ConfigError(
                "In which order windows are run, their schedule says, and none is given.",
                hint="Give schedule=..., or write 'schedule' into the task's receipts.yaml.",
            )
        if any(version.start is None for version in self.versions):
            raise ConfigError(
                "A schedule without 'start' has no first window, so each would wait for another.",
                hint="Say from when on windows are run in order: start: 2026-01-01T00:00:00Z.",
            )

    def check(self, key: ClaimKey) -> None:
        """Complain of a run that does not say which window it is for; looks nowhere.

        Raises:
            ConfigError: it does not.
        """
        if self.window is None:
            self._own(key)

    def turn(self, key: ClaimKey, store: ReceiptStore, moment: Moment) -> Turn:
        """Whether the window before that of a run has succeeded.

        Windows that the calendar excludes, and those whose run decided not to run, are passed
        over. The first window of the schedule has none before it.

        Raises:
            ConfigError: the batch does not name a window.
            StoreUnavailableError: the store cannot answer now.
        """
        own = self._own(key)
        if own is None:
            return Turn(
                verdict=Verdict.FAIL,
                reason=f"What {key.task} is to run{self._for(key)} is no window of its schedule, "
                "so what comes before it cannot be told. Try: an earlier 'start' of the schedule, "
                "or a run without 'ordered'.",
            )
        for expected in self._before(own.window):
            answer, unreadable = _stands(expected, own, key, store, moment)
            if answer.state in _PASSED_OVER:
                continue
            name = f"{key.task} {answer.window.name}"
            if answer.state in _SUCCEEDED:
                return Turn(verdict=Verdict.PASS, reason=f"{name} {answer.reason}.", before=answer)
            is_unknown = answer.state is WindowState.UNKNOWN
            return Turn(
                verdict=Verdict.UNKNOWN if is_unknown else Verdict.FAIL,
                reason=f"{key.task} is run in order, and {answer.window.name}, which comes before "
                f"{own.window.name}, has no success ({answer.state}): "
                f"{answer.reason.rstrip('.')}. Try: run {answer.window.name} first.",
                before=answer,
                unreadable=unreadable if is_unknown else (),
            )
        return Turn(verdict=Verdict.PASS, reason=f"{own.window.name} is the first window.")

    def _own(self, key: ClaimKey) -> Expected | None:
        """The first of the windows that the run is for."""
        found = list(self._inside(self.window) if self.window is not None else self._named(key))
        return min(found, key=lambda each: (each.window.due, each.window.start), default=None)

    def _inside(self, window: Window) -> Iterator[Expected]:
        for version in self.versions:
            for each in version.windows(window.start, window.end):
                yield Expected(each, each.due, version)

    def _named(self, key: ClaimKey) -> Iterator[Expected]:
        """The windows that the batch names."""
        batch = key.batch.as_dict()
        naming = [version for version in self.versions if version.variable in batch]
        if not naming:
            raise ConfigError(
                f"A run of {key.task} that is to be in order must say which window it is for.",
                hint="Give its window, or name the batch variable that does with 'variable' in "
                "the schedule.",
            )
        for version in naming:
            text = batch[str(version.variable)]
            for each in _around(version, text):
                if version.value_of(each) == text:
                    yield Expected(each, each.due, version)

    def _before(self, own: ScheduledWindow) -> Iterator[Expected]:
        """The windows before one, the last of them first."""
        starts = [version.start for version in self.versions]
        first = min(start for start in starts if isinstance(start, datetime))
        until = own.due
        for days in DAYS_BACK:
            since = max(own.due - timedelta(days=days), first)
            if since >= until:
                return
            found = expected_windows(self.versions, since, until)
            yield from (each for each in reversed(found) if each.window.start < own.start)
            until = since

    def _for(self, key: ClaimKey) -> str:
        return f" for {shown(key.batch.as_dict())}" if key.batch else ""


def _around(schedule: Schedule, text: str) -> Iterable[ScheduledWindow]:
    """The windows near the instant that a text names; none where it names no instant."""
    for start in _starts(schedule, text):
        if schedule.window is not Period.TICK:
            reach = reach_of(schedule.window)
            yield from schedule.windows(start - reach, start + reach + reach)
            continue
        due = start
        if schedule.of is Of.PREVIOUS:
            due = next(schedule.firings.after(start + MICROSECOND), start)
        yield from schedule.due_between(due, due + MICROSECOND)


def _starts(schedule: Schedule, text: str) -> Iterator[datetime]:
    """The instants that a window's name may stand for: two where the clocks show it twice."""
    format_ = schedule.format or _FORMATS[schedule.window]
    if schedule.format is None:
        text = _OFFSET.sub("", text)
    if "%V" in format_ and "%u" not in format_:
        text, format_ = f"{text} 1", f"{format_} %u"
    try:
        named = datetime.strptime(text, format_)  # noqa: DTZ007  # the zone comes next
        for fold in (0, 1):
            local = named if named.tzinfo else named.replace(tzinfo=schedule.zone, fold=fold)
            yield local.astimezone(UTC)
    except (ValueError, OverflowError):
        return


def _stands(
    expected: Expected, own: Expected, key: ClaimKey, store: ReceiptStore, moment: Moment
) -> tuple[WindowAnswer, tuple[Unreadable, ...]]:
    """How a window stands, by runs of the same mode and, but for their window, the same batch."""
    others = _without(key.batch.as_dict(), own.schedule.variable)
    since = expected.window.start - EARLY
    found = store.search(key.task, since=since, batch=others or None)
    seen = view(found, found.unreadable, moment)
    variable = expected.schedule.variable
    runs = [run for run in seen.receipts if _is_like(run, key, others, variable)]
    judge = Judge(moment.now, Limits(), seen.unreadable, usual_limit(runs))
    return judge.answer(expected, runs_by_window(runs, [expected])[0]), seen.unreadable


def _is_like(run: Receipt, key: ClaimKey, others: Mapping[str, str], variable: str | None) -> bool:
    same_mode = comparable(run.variables).get("mode") == key.mode
    is_known = MASK not in others.values()  # what is masked is never the same
    return same_mode and is_known and _without(run.batch.as_dict(), variable) == others


def _without(texts: Mapping[str, str], name: str | None) -> dict[str, str]:
    return {each: text for each, text in texts.items() if each != name}
