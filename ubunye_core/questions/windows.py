"""How do the scheduled windows of a task stand? Which have been missed?"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ubunye_core.batch import comparable
from ubunye_core.errors import BadReceiptError, ConfigError, StoreUnavailableError
from ubunye_core.names import check_task
from ubunye_core.questions.answer import Moment, Verdict, unavailable, view
from ubunye_core.questions.symptoms import Limits
from ubunye_core.questions.window_state import (
    EARLY,
    Expected,
    Judge,
    WindowAnswer,
    WindowState,
    usual_limit,
)
from ubunye_core.receipt import Receipt
from ubunye_core.schedules import Schedule
from ubunye_core.stores.protocol import Unreadable
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
            f"'since' ({to_the_second(first)}) is after 'until' ({to_the_second(last)})."
        )
    limits = Limits(None if stuck_after is None else duration(stuck_after, what="stuck_after"))
    versions = [schedule] if isinstance(schedule, Schedule) else list(schedule)
    expected = expected_windows(versions, first, last)
    if not expected:
        reason = f"No window of {task} was due from {to_the_second(first)} on."
        return Windows(task=task, verdict=Verdict.PASS, reason=reason, windows=(), now=moment.now)
    earliest = min(each.window.start for each in expected) - EARLY
    try:
        found = opened.search(task, since=earliest)
    except StoreUnavailableError as error:
        bad = unavailable(opened, error)
        return Windows(
            task=task, verdict=Verdict.UNKNOWN, reason=bad.why, windows=(), now=moment.now,
            unreadable=(bad,), retryable=True,
        )  # fmt: skip
    seen = view(found, found.unreadable, moment)
    runs_for = runs_by_window(seen.receipts, expected)
    judge = Judge(moment.now, limits, seen.unreadable, usual_limit(seen.receipts))
    answers = tuple(judge.answer(each, runs) for each, runs in zip(expected, runs_for, strict=True))
    return Windows(
        task=task,
        verdict=_verdict(answers),
        reason=_summary(task, answers),
        windows=answers,
        now=moment.now,
        unreadable=seen.unreadable,
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


def expected_windows(
    versions: Iterable[Schedule], since: datetime, until: datetime
) -> list[Expected]:
    """The windows that are due in a period, and when each counts as missing."""
    expected = []
    for schedule in versions:
        windows = schedule.due_between(since, until)
        following = None
        for window in reversed(windows):
            allowed = schedule.finish_by
            if following is None:
                following = schedule.next_due(window.due)
            missing_at = window.due + allowed if isinstance(allowed, timedelta) else following
            expected.append(Expected(window, missing_at, schedule))
            if window.excluded is None:
                following = window.due
    expected.sort(key=lambda each: (each.window.due, each.window.start), reverse=True)
    # A window that two versions cover was expected by the one that was due first.
    by_window = {(each.window.start, each.window.end): each for each in expected}
    return sorted(by_window.values(), key=lambda each: (each.window.due, each.window.start))


def runs_by_window(
    receipts: Sequence[Receipt], expected: Sequence[Expected]
) -> list[list[Receipt]]:
    """The runs for each window, newest first.

    A run that says its window is for every scheduled window inside it. One that does not is for
    the windows that its variable names.
    """
    by_start = sorted(range(len(expected)), key=lambda at: expected[at].window.start)
    starts = [expected[at].window.start for at in by_start]
    by_value: dict[tuple[str, str], list[int]] = {}
    for at, each in enumerate(expected):
        for named in each.variables.items():
            by_value.setdefault(named, []).append(at)
    found: list[list[Receipt]] = [[] for _ in expected]
    for run in receipts:
        if run.window is None:
            pairs = comparable(run.variables).items() if by_value else ()
            for pair in pairs:
                for at in by_value.get(pair, ()):
                    found[at].append(run)
            continue
        for index in range(bisect_left(starts, run.window.start), len(starts)):
            if starts[index] >= run.window.end:
                break
            if expected[by_start[index]].window.end <= run.window.end:
                found[by_start[index]].append(run)
    return found


def _verdict(answers: Sequence[WindowAnswer]) -> Verdict:
    states = {answer.state for answer in answers}
    if any(not state.is_well and state is not WindowState.UNKNOWN for state in states):
        return Verdict.FAIL
    if WindowState.UNKNOWN in states:
        return Verdict.UNKNOWN
    return Verdict.FAIL if any(answer.doubts for answer in answers) else Verdict.PASS


def _summary(task: str, answers: Sequence[WindowAnswer]) -> str:
    """How many windows stand how, and the first that somebody has to look at."""
    counts = Counter(answer.state for answer in answers)
    shown = ", ".join(f"{counts[state]} {state}" for state in WindowState if counts[state])
    text = f"{task}: of {len(answers)} windows {shown}."
    bad = [answer for answer in answers if not answer.state.is_well or answer.doubts]
    if bad:
        first = bad[0]
        why = "; ".join((first.reason, *first.doubts))
        text += f" The first to look at is {first.window.name} ({first.state}): {why}."
    return text
