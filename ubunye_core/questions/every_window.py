"""Has every window of an upstream succeeded that this run's window shares time with?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ubunye_core.batch import shown
from ubunye_core.counted import count
from ubunye_core.questions.answer import MEND, Moment, Verdict, named, view
from ubunye_core.questions.expected import Expected
from ubunye_core.questions.requirements import OnFailed, Requirement
from ubunye_core.questions.symptoms import Limits
from ubunye_core.questions.tasks import did_you_mean
from ubunye_core.questions.window_match import runs_by_window
from ubunye_core.questions.window_state import EARLY, Judge, WindowAnswer, WindowState
from ubunye_core.receipt import Receipt, Status, Window
from ubunye_core.schedules import ScheduledWindow
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.select import could_be_since
from ubunye_core.times import in_words, to_the_second

NAMED = 3
"""So many windows are named; of the others, how many they are."""


@dataclass(frozen=True, kw_only=True)
class EveryWindow:
    """How the windows of an upstream stand that a run needs."""

    verdict: Verdict
    reason: str
    decided: bool = False
    """Whether waiting cannot change it."""
    successes: tuple[Receipt, ...] = ()
    """The runs that met it, newest first; none unless all windows have one."""
    newest: Receipt | None = None
    """The newest run for any of the windows."""
    missing: tuple[ScheduledWindow, ...] = ()
    """The windows without a success."""
    unreadable: tuple[Unreadable, ...] = ()


def every_window(
    requirement: Requirement,
    task: str,
    wanted: Mapping[str, str],
    window: Window,
    store: ReceiptStore,
    moment: Moment,
) -> EveryWindow:
    """Whether each window has a success that is recent enough; not due yet is no success.

    Windows that the calendar excludes are passed over.

    Raises:
        StoreUnavailableError: the store cannot answer now.
    """
    expected = _expected(requirement, window)
    if not expected:
        return EveryWindow(
            verdict=Verdict.FAIL,
            reason=f"The schedule of {task} has no window in {_in_words(window)}, so nothing could "
            "ever meet this. Try: look at its schedule, or leave 'windows' out.",
            decided=True,
        )
    since = min(each.window.start for each in expected) - EARLY
    found = store.search(task, since=since, batch=wanted or None)
    seen = view(found, found.unreadable, moment)
    judge = Judge(moment.now, Limits(), seen.unreadable, None)
    runs_for = [
        [run for run in runs if isinstance(run, Receipt)]
        for runs in runs_by_window(seen.receipts, expected)
    ]
    lacking: list[WindowAnswer] = []
    successes: dict[str, Receipt] = {}
    for each, runs in zip(expected, runs_for, strict=True):
        success = next((run for run in runs if _counts(run, requirement, moment)), None)
        if success is not None:
            successes[success.run_id] = success
        elif each.window.excluded is None:
            lacking.append(judge.answer(each, runs))
    newest = max((run for runs in runs_for for run in runs), key=_order, default=None)
    if not lacking:
        met = tuple(sorted(successes.values(), key=_order, reverse=True))
        one = len(expected) == 1
        all_, have = ("The window", "has") if one else (f"All {len(expected):,} windows", "have")
        reason = f"{all_} of {task} in {_in_words(window)} {have} succeeded"
        return EveryWindow(
            verdict=Verdict.PASS,
            reason=f"{reason}{_batch(wanted)}.",
            decided=True,
            successes=met,
            newest=newest,
        )
    first = min(each.window.start for each in lacking) - EARLY
    missing = tuple(each.window for each in lacking)
    doubtful = tuple(bad for bad in seen.unreadable if could_be_since(bad, first))
    have = "has" if len(lacking) == 1 else "have"
    reason = (
        f"{len(lacking):,} of {count(len(expected), 'window')} of {task} in {_in_words(window)} "
        f"{have} not succeeded{_batch(wanted)}{_recently(requirement)}: {_named(lacking)}."
    )
    if doubtful:
        reason += f" What is unreadable may be a success: {named(doubtful)}. {MEND}"
        return EveryWindow(
            verdict=Verdict.UNKNOWN,
            reason=reason,
            newest=newest,
            missing=missing,
            unreadable=doubtful,
        )
    if newest is None and not store.list_runs(task, 1):
        return replace(_of_unknown(requirement, task, reason, store), missing=missing)
    return EveryWindow(
        verdict=Verdict.FAIL,
        reason=f"{reason} Try: 'ubunye-runs plan {task} --config FILE' tells what can "
        f"be caught up.",
        decided=_is_decided(lacking, requirement),
        newest=newest,
        missing=missing,
    )


def _expected(requirement: Requirement, window: Window) -> list[Expected]:
    """The windows that are needed; one that several versions have is needed once."""
    found = {
        (each.start, each.end): Expected(each, each.due, version)
        for version in reversed(requirement.versions)
        for each in version.touching(window.start, window.end)
    }
    return [found[key] for key in sorted(found)]


def _counts(run: Receipt, requirement: Requirement, moment: Moment) -> bool:
    age = requirement.max_age
    is_recent = age is None or isinstance(age, str) or moment.now - run.finished_at <= age
    return run.status is Status.SUCCESS and is_recent


def _of_unknown(
    requirement: Requirement, task: str, reason: str, store: ReceiptStore
) -> EveryWindow:
    return EveryWindow(
        verdict=Verdict.FAIL,
        reason=f"{reason} {task} is unknown: the store has no run of it."
        f"{did_you_mean(task, store)} Try: check the name and the store; 'allow_unknown: true' "
        "waits for a task that has never run.",
        decided=not requirement.allow_unknown,
    )


def _is_decided(lacking: Sequence[WindowAnswer], requirement: Requirement) -> bool:
    states = {each.state for each in lacking}
    if WindowState.SKIPPED in states:
        return True
    failed = states & {WindowState.FAILED, WindowState.INTERRUPTED}
    return bool(failed) and requirement.on_failed is OnFailed.FAIL


def _named(lacking: Sequence[WindowAnswer]) -> str:
    said = "; ".join(
        f"{each.window.name} ({_state(each)}: {each.reason.rstrip('.')})"
        for each in lacking[:NAMED]
    )
    more = len(lacking) - NAMED
    return f"{said}; and {more} more" if more > 0 else said


def _state(answer: WindowAnswer) -> str:
    """How a window stands that is lacking: one that succeeded did so too long ago."""
    has_succeeded = answer.state in (WindowState.SUCCEEDED, WindowState.SUCCEEDED_LATE)
    return "too old" if has_succeeded else answer.state.value


def _recently(requirement: Requirement) -> str:
    age = requirement.max_age
    return "" if age is None or isinstance(age, str) else f" within the last {in_words(age)}"


def _batch(wanted: Mapping[str, str]) -> str:
    return f" for {shown(wanted)}" if wanted else ""


def _in_words(window: Window) -> str:
    return f"{to_the_second(window.start)} to {to_the_second(window.end)}"


def _order(run: Receipt) -> tuple[object, ...]:
    return run.order
