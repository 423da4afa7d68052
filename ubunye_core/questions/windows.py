"""How do the scheduled windows of a task stand? Which have been missed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ubunye_core.counted import count
from ubunye_core.errors import BadReceiptError, ConfigError, StoreUnavailableError
from ubunye_core.names import check_task
from ubunye_core.questions.answer import Moment, Verdict, unavailable
from ubunye_core.questions.expected import expected_windows
from ubunye_core.questions.symptoms import Limits
from ubunye_core.questions.unseen import why_unseen
from ubunye_core.questions.window_match import NamedWindows, by_window
from ubunye_core.questions.window_runs import runs_since
from ubunye_core.questions.window_state import (
    EARLY,
    Judge,
    WindowAnswer,
    WindowState,
    usual_limit,
)
from ubunye_core.receipt import Status
from ubunye_core.schedules import Schedule
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import duration, instant, instant_or_ago, to_the_second


@dataclass(frozen=True, kw_only=True)
class Windows:
    """How the windows of a task stand. True only when nobody has to look at one of them."""

    task: str
    verdict: Verdict
    reason: str
    windows: tuple[WindowAnswer, ...]
    """In the order in which they are due."""
    now: datetime
    unreadable: tuple[Unreadable, ...] = ()
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""
    unseen: str = ""
    """Why no run was found for any window, where the question may be wrong: a misspelt task, or a
    schedule that names no variable. Part of the reason too."""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def missed(self) -> tuple[WindowAnswer, ...]:
        """Those that were due and have no success, a run that is under way included."""
        return tuple(each for each in self.windows if each.state.is_missed)


def window_states(
    task: str,
    *,
    schedule: Schedule | Sequence[Schedule],
    since: datetime | str | timedelta,
    until: datetime | str | None = None,
    store: StoreLike = None,
    now: datetime | str | None = None,
    stuck_after: timedelta | str | None = None,
) -> Windows:
    """How each window of a task stands that was due in a period.

    Args:
        task: The task.
        schedule: Its schedule; or the versions of it, each with its ``start`` and ``end``.
        since: The first instant at which a window may be due; or how long before ``now`` that is,
            such as ``30d``.
        until: What is due then or later is left out; None is ``now``.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        now: The instant to answer for; None is the clock. In the past: as it looked then.
        stuck_after: How long a run may be silent; as for ``job_health``.

    Returns:
        ``PASS`` when every window is well, ``FAIL`` when one is not, ``UNKNOWN`` when it cannot be
        told. Never raises for a store that cannot answer.

    Raises:
        ConfigError: an argument is wrong.
    """
    check_task(task)
    opened, moment = store_of(store), Moment.of(now)
    first = instant_or_ago(since, moment.now, what="since")
    last = moment.now if until is None else instant(until, what="until")
    if first > last:
        raise ConfigError(
            f"'since' ({to_the_second(first)}) is after 'until' ({to_the_second(last)}).",
            hint="Give an earlier 'since', too.",
        )
    limits = Limits(None if stuck_after is None else duration(stuck_after, what="stuck_after"))
    versions = [schedule] if isinstance(schedule, Schedule) else list(schedule)
    expected = expected_windows(versions, first, last)
    by_value = NamedWindows(expected)
    try:
        if not expected:
            return _nothing_due(task, first, moment, opened, until=None if until is None else last)
        earliest = min(expected.windows.start) - EARLY
        asks_rows = any(version.min_rows is not None for version in versions)
        seen = runs_since(
            task, earliest, opened, moment, variables=by_value, rows=asks_rows
        )  # fmt: skip
    except StoreUnavailableError as error:
        bad = unavailable(opened, error)
        return Windows(
            task=task, verdict=Verdict.UNKNOWN, reason=bad.why, windows=(), now=moment.now,
            unreadable=(bad,), retryable=True,
        )  # fmt: skip
    runs_for = by_window(seen, expected, by_value)
    is_running = any(run.status is Status.RUNNING for run in seen.others)
    usual = usual_limit([*seen.successes, *seen.others]) if is_running else None
    judge = Judge(moment.now, limits, seen.unreadable, usual)
    answers = tuple(judge.answers(expected, runs_for))
    verdict, unseen = _verdict(answers), ""
    if verdict is Verdict.FAIL and not runs_for.has_any:
        unseen = why_unseen(task, [*seen.successes, *seen.others], expected, opened)
    return Windows(
        task=task,
        verdict=verdict,
        reason=f"{_summary(task, answers)} {unseen}".rstrip(),
        windows=answers,
        now=moment.now,
        unreadable=seen.unreadable,
        unseen=unseen,
    )


def missed_windows(
    task: str,
    *,
    schedule: Schedule | Sequence[Schedule],
    since: datetime | str | timedelta,
    until: datetime | str | None = None,
    store: StoreLike = None,
    now: datetime | str | None = None,
    stuck_after: timedelta | str | None = None,
) -> tuple[WindowAnswer, ...]:
    """The windows that were due and have no success; the arguments are those of ``window_states``.

    For each, what became of it: ``missing``, ``refused``, ``failed``, ``interrupted``, ``stuck``;
    or ``running`` and ``overrun`` where a run is under way.

    Raises:
        ConfigError: an argument is wrong.
        StoreUnavailableError: the store cannot answer now.
        BadReceiptError: something unreadable could be a success that would otherwise be missed.
    """
    found = window_states(
        task, schedule=schedule, since=since, until=until, store=store, now=now,
        stuck_after=stuck_after,
    )  # fmt: skip
    if found.retryable:
        raise StoreUnavailableError(found.reason)
    if any(each.state is WindowState.UNKNOWN for each in found.windows):
        raise BadReceiptError(found.unreadable[0].where, found.unreadable[0].why)
    return found.missed


def _nothing_due(
    task: str, first: datetime, moment: Moment, store: ReceiptStore, *, until: datetime | None
) -> Windows:
    """The answer where no window was due, if there is a store at all.

    Raises:
        StoreUnavailableError: it cannot be read, or is not there.
    """
    store.list_runs(task, 1)
    to = "on" if until is None else f"to {to_the_second(until)}"
    reason = f"No window of {task} was due from {to_the_second(first)} {to}."
    return Windows(task=task, verdict=Verdict.PASS, reason=reason, windows=(), now=moment.now)


def _verdict(answers: Sequence[WindowAnswer]) -> Verdict:
    states = [state for state, number in _counted(answers) if number]
    if any(not state.is_well and state is not WindowState.UNKNOWN for state in states):
        return Verdict.FAIL
    if WindowState.UNKNOWN in states:
        return Verdict.UNKNOWN
    return Verdict.FAIL if any(answer.doubts for answer in answers) else Verdict.PASS


def _summary(task: str, answers: Sequence[WindowAnswer]) -> str:
    """How many windows stand how, and the first that somebody has to look at."""
    counts = _counted(answers)
    shown = ", ".join(f"{number:,} {state}" for state, number in counts if number)
    text = f"{task}: of {count(len(answers), 'window')} {shown}."
    bad = [state for state, number in counts if number and not state.is_well]
    first = next((answer for answer in answers if answer.doubts or answer.state in bad), None)
    if first is not None:
        why = "; ".join(each.rstrip(".") for each in (first.reason, *first.doubts))
        text += f" The first to look at is {first.window.name} ({first.state}): {why}."
    return text


def _counted(answers: Sequence[WindowAnswer]) -> list[tuple[WindowState, int]]:
    """How many windows stand how, in the order of precedence."""
    numbers = Counter([id(answer.state) for answer in answers])  # the hash of an enum takes long
    return [(state, numbers[id(state)]) for state in WindowState]
