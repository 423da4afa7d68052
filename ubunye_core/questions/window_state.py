"""How one scheduled window stands: what its runs say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from ubunye_core.counted import count
from ubunye_core.questions.answer import MEND, how_it_stands, named, one_line
from ubunye_core.questions.expected import Expected, ExpectedWindows, variables_of
from ubunye_core.questions.symptoms import Limits, failures, stuck_runs
from ubunye_core.questions.window_runs import NONE, Run, RunsByWindow
from ubunye_core.receipt import Receipt, Status
from ubunye_core.schedules import Schedule, ScheduledWindow
from ubunye_core.stores.protocol import Unreadable
from ubunye_core.stores.select import could_be_since
from ubunye_core.stores.successes import Success, rows_of
from ubunye_core.times import in_words, to_the_second

_set = object.__setattr__

EARLY = timedelta(days=1)
"""How long before its window begins a run for it may have started."""
RUNS_TO_JUDGE_BY = 10
SLOWEST, TIMES_THE_SLOWEST = 0.95, 3


class WindowState(StrEnum):
    """How a window stands. Of several that fit, the first."""

    SUCCEEDED = "succeeded"
    SUCCEEDED_LATE = "succeeded_late"
    """It was missing before it succeeded."""
    RUNNING = "running"
    """A run is under way, or a failed one is to be attempted again by its scheduler."""
    OVERRUN = "overrun"
    """A run is under way for longer than it may."""
    STUCK = "stuck"
    """A run says that it is under way, and shows no sign of life."""
    EXCLUDED = "excluded"
    """The calendar has no work for it."""
    NOT_DUE = "not_due"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"
    """A run decided not to run: that is no miss."""
    REFUSED = "refused"
    """A gate stopped its run: it is still to be caught up."""
    DUE = "due"
    """It is due, and its run may still start."""
    LATE = "late"
    """Its run should have started."""
    MISSING = "missing"
    UNKNOWN = "unknown"
    """Something that could not be read could belong to it."""

    @property
    def is_missed(self) -> bool:
        """Whether a window in this state has been due, and has no success."""
        return self in MISSED

    @property
    def is_well(self) -> bool:
        """Whether nobody has to look at a window in this state."""
        return self in WELL


_SUCCEEDED = WindowState.SUCCEEDED  # to look it up for each answer takes as long as to make one
MISSED = frozenset(
    WindowState(name)
    for name in ("missing", "refused", "failed", "interrupted", "stuck", "overrun", "running")
)
WELL = frozenset(
    WindowState(name)
    for name in ("succeeded", "succeeded_late", "running", "excluded", "not_due", "skipped", "due")
)


@dataclass(frozen=True, kw_only=True)
class WindowAnswer:
    """How one window stands."""

    window: ScheduledWindow
    state: WindowState
    reason: str
    runs: tuple[str, ...] = field(default_factory=tuple)
    """The runs for it, newest first."""
    lateness: timedelta | None = None
    """How long after it was missing it succeeded."""
    doubts: tuple[str, ...] = ()
    """What is odd about its success: too fast, too few rows."""
    schedule: Schedule | None = field(default_factory=lambda: None, repr=False)  # none on the class
    """The schedule, or the version of it, that expects it."""

    @property
    def variables(self) -> Mapping[str, str]:
        """What names it for a run, where its schedule has a variable for that."""
        return {} if self.schedule is None else variables_of(self.schedule, self.window)

    @classmethod
    def of_success(cls, known: Known, at: int) -> WindowAnswer:
        """That a window has succeeded, by its only run: so stand tens of thousands, mostly.

        The answer is what the constructor would make, in a quarter of the time; all but its state
        is made when it is read. It keeps what is known of all, 300 bytes a window; a copy does not.

        Args:
            known: What is known of all windows.
            at: Which of them it is.
        """
        answer = object.__new__(cls)
        _set(answer, "state", _SUCCEEDED)
        _set(answer, "_known", known)
        _set(answer, "_at", at)
        return answer

    if not TYPE_CHECKING:  # what is not there at all stays an error to a type checker

        def __getattr__(self, name: str) -> object:
            known = self.__dict__.get("_known")
            if known is None or name not in _READ_LATER:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            made = _READ_LATER[name](known, self._at)
            _set(self, name, made)
            return made

        def __getstate__(self) -> dict[str, object]:
            # Not what is known of all other windows.
            return {each.name: getattr(self, each.name) for each in fields(self)}


class Known(NamedTuple):
    """What is known of all windows of a question."""

    expected: ExpectedWindows
    runs_for: RunsByWindow

    def success(self, at: int) -> Success:
        """The only run for a window, which succeeded."""
        return self.runs_for.seen.successes[self.runs_for.first[at]]


_READ_LATER: Mapping[str, Callable[[Known, int], object]] = {
    "window": lambda known, at: known.expected.windows[at],
    "schedule": lambda known, at: known.expected.schedules[at],
    "runs": lambda known, at: (known.success(at).run_id,),
    "reason": lambda known, at: _how_it_went(known.success(at)),
}
"""What a quick answer tells when it is read."""


@dataclass(frozen=True)
class Judge:
    """Says how windows stand, at one instant."""

    now: datetime
    limits: Limits
    unreadable: Sequence[Unreadable]
    usual_limit: timedelta | None
    """How long a run may take where the schedule does not say; None: as long as it likes."""

    def answers(self, expected: ExpectedWindows, runs_for: RunsByWindow) -> Iterator[WindowAnswer]:
        """How each of the windows stands."""
        known, several = Known(expected, runs_for), runs_for.several
        ended = runs_for.seen.successes.ended
        number = len(ended)
        versions = {id(each): each for each in expected.schedules}
        doubting = {at for at, each in versions.items() if each.doubts_successes}
        for at, (run, missing, schedule) in enumerate(
            zip(runs_for.first, expected.misses, expected.schedules, strict=True)
        ):
            if (
                NONE < run < number
                and ended[run] <= missing
                and at not in several
                and id(schedule) not in doubting
            ):
                yield WindowAnswer.of_success(known, at)
            else:
                yield self.answer(expected[at], runs_for[at])

    def answer(self, expected: Expected, given: Sequence[Run]) -> WindowAnswer:
        """How a window stands, by the runs for it, newest first."""
        successes = [
            run for run in given if isinstance(run, Success) or run.status is Status.SUCCESS
        ]
        if successes:
            return _succeeded(expected, given, successes)
        runs = [run for run in given if isinstance(run, Receipt)]
        answer = self._by_a_run_under_way(expected, runs) or self._by_the_calendar(expected, runs)
        if answer is not None:
            return answer
        doubtful = [
            bad for bad in self.unreadable if could_be_since(bad, expected.window.start - EARLY)
        ]
        if doubtful:
            reason = f"What is unreadable may belong to it: {named(doubtful)}. {MEND}"
            return _said(expected, runs, WindowState.UNKNOWN, reason)
        return self._by_its_last_run(expected, runs) or self._by_the_clock(expected, runs)

    def _by_a_run_under_way(
        self, expected: Expected, runs: Sequence[Receipt]
    ) -> WindowAnswer | None:
        silent = stuck_runs(runs, self.now, self.limits)
        live = [run for run in runs if run.status is Status.RUNNING and run not in silent]
        allowed = expected.schedule.max_runtime
        limit = allowed if isinstance(allowed, timedelta) else self.usual_limit
        if live:
            newest = live[0]
            took = self.now - newest.started_at
            reason = (
                f"run {newest.run_id} has been under way for {in_words(took)}, "
                f"since {to_the_second(newest.started_at)}"
            )
            if limit is None or took <= limit:
                return _said(expected, runs, WindowState.RUNNING, reason)
            reason += f"; it may take {in_words(limit)}"
            return _said(expected, runs, WindowState.OVERRUN, reason)
        _, retrying = failures(runs, self.now, self.limits)
        if retrying:
            reason = f"attempt {how_it_stands(runs[0])} is to be followed by another"
            return _said(expected, runs, WindowState.RUNNING, reason)
        if silent:
            quiet = in_words(self.now - silent[0].last_sign_of_life)
            reason = f"run {silent[0].run_id} says running, and has been silent for {quiet}"
            return _said(expected, runs, WindowState.STUCK, reason)
        return None

    def _by_the_calendar(self, expected: Expected, runs: Sequence[Receipt]) -> WindowAnswer | None:
        window = expected.window
        if window.excluded is not None:
            return _said(expected, runs, WindowState.EXCLUDED, f"no work: {window.excluded}")
        if self.now < window.due:
            reason = f"due at {to_the_second(window.due)}"
            return _said(expected, runs, WindowState.NOT_DUE, reason)
        return None

    def _by_its_last_run(self, expected: Expected, runs: Sequence[Receipt]) -> WindowAnswer | None:
        if not runs:
            return None
        last = runs[0]
        state = {
            Status.ERROR: WindowState.FAILED,
            Status.INTERRUPTED: WindowState.INTERRUPTED,
            Status.SKIPPED: WindowState.REFUSED if last.was_refused else WindowState.SKIPPED,
        }[last.status]
        why = f": {one_line(last.error)}" if last.error else ""
        return _said(expected, runs, state, f"run {how_it_stands(last)}{why}")

    def _by_the_clock(self, expected: Expected, runs: Sequence[Receipt]) -> WindowAnswer:
        due, missing_at = expected.window.due, expected.missing_at
        grace = expected.schedule.start_grace
        late_at = due + grace if isinstance(grace, timedelta) else due
        if self.now >= missing_at:
            reason = f"due at {to_the_second(due)}, and no run of it is on record"
            return _said(expected, runs, WindowState.MISSING, reason)
        if self.now >= late_at:
            reason = f"due at {to_the_second(due)}, {in_words(self.now - due)} ago"
            return _said(expected, runs, WindowState.LATE, reason)
        return _said(expected, runs, WindowState.DUE, f"due since {to_the_second(due)}")


def _succeeded(expected: Expected, runs: Sequence[Run], successes: Sequence[Run]) -> WindowAnswer:
    first = successes[0]
    if len(successes) > 1:
        first = min(successes, key=lambda run: run.finished_at)
    ended_at = first.finished_at
    reason = _how_it_went(first)
    doubts = _doubts(successes[0], expected)
    if ended_at <= expected.missing_at:
        return _said(expected, runs, WindowState.SUCCEEDED, reason, doubts)
    lateness = ended_at - expected.missing_at
    reason += f", {in_words(lateness)} after it was missing"
    return _said(expected, runs, WindowState.SUCCEEDED_LATE, reason, doubts, lateness)


def _how_it_went(success: Run) -> str:
    return f"run {success.run_id} succeeded at {to_the_second(success.finished_at)}"


def usual_limit(runs: Sequence[Run]) -> timedelta | None:
    """Three times what 95 of 100 successes took; None until there are ten."""
    took = sorted(
        run.ended_at - run.started_at
        for run in runs
        if run.status is Status.SUCCESS and run.ended_at is not None
    )
    if len(took) < RUNS_TO_JUDGE_BY:
        return None
    return TIMES_THE_SLOWEST * took[min(len(took) - 1, int(SLOWEST * len(took)))]


def _doubts(success: Run, expected: Expected) -> tuple[str, ...]:
    """What is odd about a success."""
    doubts, schedule, least = [], expected.schedule, expected.schedule.min_rows
    if not schedule.doubts_successes:
        return ()
    early, margin = expected.window.due - success.started_at, schedule.early_margin
    if isinstance(margin, timedelta) and early > margin:
        doubts.append(f"it started {in_words(early)} before it was due")
    took, shortest = success.finished_at - success.started_at, schedule.min_duration
    if isinstance(shortest, timedelta) and success.ended_at is not None and took < shortest:
        doubts.append(f"it took {in_words(took)}, and {in_words(shortest)} is expected at least")
    rows = success.rows if isinstance(success, Success) else rows_of(success)
    if least is not None and rows is not None and rows < least:
        doubts.append(f"it wrote {count(rows, 'row')}, and {least} are expected at least")
    return tuple(doubts)


def _said(
    expected: Expected,
    runs: Sequence[Run],
    state: WindowState,
    reason: str,
    doubts: tuple[str, ...] = (),
    lateness: timedelta | None = None,
) -> WindowAnswer:
    return WindowAnswer(
        window=expected.window,
        state=state,
        reason=reason,
        runs=(runs[0].run_id,) if len(runs) == 1 else tuple([run.run_id for run in runs]),
        lateness=lateness,
        doubts=doubts,
        schedule=expected.schedule,
    )
