"""Which missed windows can be caught up, in which order, and why not the others?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from graphlib import CycleError, TopologicalSorter

from ubunye_core.counted import count
from ubunye_core.errors import ConfigError
from ubunye_core.names import fits, one_of
from ubunye_core.questions.answer import Moment, Verdict, together
from ubunye_core.questions.planned import Action, Catchup, Include, PlannedWindow, ToCatchUp
from ubunye_core.questions.prospects import UNDER_WAY, Prospects, in_turn
from ubunye_core.questions.upstream import check_upstream
from ubunye_core.questions.window_state import WindowAnswer, WindowState
from ubunye_core.questions.windows import Windows, window_states
from ubunye_core.receipt import Window
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import LONGEST, in_words

NO_LIMIT = -1


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What can be caught up, and what cannot. True when it could be told."""

    verdict: Verdict
    """``PASS``, or ``UNKNOWN`` when something unreadable leaves a window open, or what it requires.
    """
    reason: str
    windows: tuple[PlannedWindow, ...]
    """In the order in which they are to run."""
    starts: tuple[PlannedWindow, ...]
    """Those to start now: as many as ``cap`` allows, and whose turn has come."""
    now: datetime
    unreadable: tuple[Unreadable, ...] = ()

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def to_run(self) -> tuple[PlannedWindow, ...]:
        """The windows that are to run."""
        return tuple(each for each in self.windows if each.action is Action.RUN)


_MISSED = frozenset({WindowState.MISSING, WindowState.REFUSED})
_FAILED = frozenset({WindowState.FAILED, WindowState.INTERRUPTED, WindowState.STUCK})
_SUCCEEDED = frozenset({WindowState.SUCCEEDED, WindowState.SUCCEEDED_LATE})
_TAKEN = {
    Include.MISSING: _MISSED,
    Include.MISSING_AND_FAILED: _MISSED | _FAILED,
    Include.ALL: _MISSED | _FAILED | _SUCCEEDED,
}


def plan_backfill(
    tasks: ToCatchUp | Sequence[ToCatchUp],
    *,
    since: datetime | str | timedelta,
    until: datetime | str | None = None,
    store: StoreLike = None,
    now: datetime | str | None = None,
    include: Include | str = Include.MISSING_AND_FAILED,
    backfill_limit: int = NO_LIMIT,
    recheck_days: int = 0,
    catchup: Catchup | str = Catchup.ALL,
    cap: int | None = None,
    max_runs: int | None = None,
    newest_first: bool = False,
    stuck_after: timedelta | str | None = None,
) -> Plan:
    """What to do about each window that was due and has no success. Starts nothing.

    Asking again after a part has run gives the rest, and no window twice.

    Args:
        tasks: The tasks, which may differ in how often they run and require each other.
        since: The first instant at which a window may have been due; or how long ago that is, such
            as ``30d``.
        until: What is due then or later is left out; None is ``now``.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        now: The instant to plan for; None is the clock.
        include: ``missing``, ``missing+failed`` or ``all``.
        backfill_limit: At most so many windows to run; 0 is none, -1 is no limit.
        recheck_days: Windows that began so few days ago run again although they succeeded; 0 is
            none.
        catchup: What may be started without being asked: ``none``, ``latest`` or ``all``.
        cap: How many may run at once, with those under way; None is no limit.
        max_runs: A window that failed after so many runs is blocked: it is left to people; None is
            no limit.
        newest_first: Begin with the newest windows; else with the oldest.
        stuck_after: How long a run may be silent; as for ``job_health``.

    Raises:
        ConfigError: an argument is wrong, or tasks require each other in a circle.
    """
    included = one_of(Include, include, "include")
    starting = one_of(Catchup, catchup, "catchup")
    at_least_one = (cap, max_runs)
    if (
        backfill_limit < NO_LIMIT
        or not 0 <= recheck_days <= LONGEST.days
        or any(n is not None and n < 1 for n in at_least_one)
    ):
        raise ConfigError(
            "backfill_limit is -1 or more, recheck_days 0 or more, cap and max_runs 1 or more."
        )
    moment, opened = Moment.of(now), store_of(store)
    given = _in_order([tasks] if isinstance(tasks, ToCatchUp) else list(tasks))
    found = {
        each.task: window_states(
            each.task, schedule=each.versions, since=since, until=until, store=opened,
            now=moment.now, stuck_after=stuck_after,
        )
        for each in given
    }  # fmt: skip
    planner = _Planner(opened, moment.now, included, recheck_days, max_runs, _owners(given))
    for each in given:
        planner.plan(each, found[each.task])
    windows = _limited(_sorted(planner.planned, given, newest_first), backfill_limit)
    return Plan(
        verdict=together([Verdict.PASS, *_open(found.values(), windows), *planner.in_doubt]),
        reason=_summary(windows, list(found.values()), planner.untold),
        windows=tuple(windows),
        starts=tuple(_starts(windows, starting, cap)),
        now=moment.now,
        unreadable=tuple(
            dict.fromkeys(
                [bad for each in found.values() for bad in each.unreadable] + planner.unreadable
            )
        ),
    )


class _Planner:
    """Decides about windows, upstream tasks first."""

    def __init__(
        self,
        store: ReceiptStore,
        now: datetime,
        include: Include,
        recheck_days: int,
        max_runs: int | None,
        owners: Mapping[str, str],
    ) -> None:
        self._owners = owners
        self._store, self._now, self._max_runs = store, now, max_runs
        self._taken, self._recheck = _TAKEN[include], timedelta(days=recheck_days)
        self._planned = Prospects()
        self.untold: list[str] = []
        """Why it cannot be told whether what a window requires has succeeded, for each."""
        self.unreadable: list[Unreadable] = []
        """What is unreadable of what windows require."""

    @property
    def in_doubt(self) -> list[Verdict]:
        """``UNKNOWN`` where a window is blocked only because something cannot be told."""
        return [Verdict.UNKNOWN] if self.untold else []

    @property
    def planned(self) -> list[PlannedWindow]:
        """The windows so far, those of upstream tasks first."""
        return self._planned.windows

    def plan(self, given: ToCatchUp, found: Windows) -> None:
        """Add the windows of one task."""
        for answer in found.windows:
            planned = self._decided(given, answer)
            if planned is not None:
                self._planned.add(planned)

    def _decided(self, given: ToCatchUp, answer: WindowAnswer) -> PlannedWindow | None:
        """What is to be done about a window; None where nothing is."""
        planned = PlannedWindow(
            task=given.task,
            window=answer.window,
            action=Action.RUN,
            reason=f"{answer.state}: {answer.reason}",
            state=answer.state,
            runs=answer.runs,
            variables=answer.variables,
            because_of=given.task,
            owner=self._owners.get(given.task),
        )
        age = self._now - answer.window.start
        if answer.state in UNDER_WAY:
            return replace(planned, action=Action.SKIP)
        if answer.state is WindowState.EXCLUDED:
            return replace(planned, action=Action.EXCLUDED, reason=answer.reason)
        if answer.state is WindowState.UNKNOWN:
            return replace(planned, action=Action.BLOCKED)
        rechecked = answer.state in _SUCCEEDED and age <= self._recheck
        if answer.state not in self._taken and not rechecked:
            return None
        if isinstance(given.retention, timedelta) and age > given.retention:
            reason = (
                f"it began {in_words(age)} ago, and its source keeps {in_words(given.retention)}"
            )
            return replace(planned, action=Action.TOO_OLD, reason=reason)
        ran = len(answer.runs)
        if answer.state in _FAILED and self._max_runs is not None and ran >= self._max_runs:
            reason = f"{planned.reason}; after {count(ran, 'run')} it is left to people"
            return replace(planned, action=Action.BLOCKED, reason=reason)
        return self._with_requirements(given, planned)

    def _with_requirements(self, given: ToCatchUp, planned: PlannedWindow) -> PlannedWindow:
        after: list[str] = []
        waits_for: str | None = None
        window = Window(start=planned.window.start, end=planned.window.end)
        for requirement in given.requirements:
            answer = check_upstream(
                requirement, variables=planned.variables, store=self._store, asker=given.task,
                window=window, now=self._now,
            )  # fmt: skip
            for each in answer.requirements:
                if each.verdict is Verdict.PASS:
                    continue
                before = self._planned.that_will_meet(each, planned)
                waits_for = waits_for or self._planned.at_the_root(each.task, planned)
                if not before:
                    if each.verdict is Verdict.UNKNOWN:
                        self.untold.append(each.reason)
                        self.unreadable += each.unreadable
                    root = self._planned.at_the_root(each.task, planned)
                    return self._blocked(planned, each.reason, root)
                after += before
        if waits_for is not None:
            planned = replace(planned, because_of=waits_for, owner=self._owners.get(waits_for))
        return replace(planned, after=tuple(dict.fromkeys(after)))

    def _blocked(self, planned: PlannedWindow, reason: str, root: str) -> PlannedWindow:
        """A window that waits for a task which is not in this plan, or cannot run either."""
        owner = self._owners.get(root)
        if owner is not None:
            reason = f"{reason} The owner of {root} is {owner}."
        return replace(planned, action=Action.BLOCKED, reason=reason, because_of=root, owner=owner)


def _owners(given: Iterable[ToCatchUp]) -> Mapping[str, str]:
    """Who owns tasks. What a task says of itself wins over what is said of it elsewhere."""
    of_others = {task: owner for each in given for task, owner in each.owners.items()}
    own = {each.task: each.owners[each.task] for each in given if each.task in each.owners}
    return of_others | own


def _in_order(given: Sequence[ToCatchUp]) -> list[ToCatchUp]:
    """The tasks, each after those that it requires.

    Raises:
        ConfigError: one stands twice, or they require each other in a circle.
    """
    by_name = {each.task: each for each in given}
    if not given or len(by_name) < len(given):
        raise ConfigError("A plan is for one or more tasks, each named once.")
    before = {
        each.task: [
            other
            for other in by_name
            for wanted in each.requirements
            if other != each.task and fits(other, wanted.task)
        ]
        for each in given
    }
    try:
        return [by_name[name] for name in TopologicalSorter(before).static_order()]
    except CycleError as error:
        circle = " requires ".join(reversed(error.args[1]))
        raise ConfigError(f"Tasks require each other in a circle: {circle}.") from error


def _sorted(
    planned: Sequence[PlannedWindow], given: Sequence[ToCatchUp], newest_first: bool
) -> list[PlannedWindow]:
    """By the end of the window, but none before what it waits for."""
    turn = {each.task: number for number, each in enumerate(given)}
    ordered = sorted(planned, key=lambda each: turn[each.task])
    ordered.sort(key=lambda each: each.window.end, reverse=newest_first)
    return in_turn(ordered)


def _limited(windows: Sequence[PlannedWindow], limit: int) -> list[PlannedWindow]:
    """The windows, of which no more than ``limit`` run."""
    running, found = 0, []
    for each in windows:
        if each.action is Action.RUN:
            running += 1
            if limit != NO_LIMIT and running > limit:
                reason = f"this plan runs at most {count(limit, 'window')}"
                each = replace(each, action=Action.SKIP, reason=reason)
        found.append(each)
    return found


def _starts(
    windows: Sequence[PlannedWindow], catchup: Catchup, cap: int | None
) -> list[PlannedWindow]:
    """The windows whose turn has come."""
    to_run = [each for each in windows if each.action is Action.RUN]
    if catchup is Catchup.NONE:
        return []
    if catchup is Catchup.LATEST:
        newest = {each.task: each for each in sorted(to_run, key=lambda each: each.window.end)}
        to_run = [each for each in to_run if newest[each.task] is each]
    ready = [each for each in to_run if not each.after]
    if cap is None:
        return ready
    under_way = sum(each.state in UNDER_WAY for each in windows)
    return ready[: max(0, cap - under_way)]


def _open(found: Iterable[Windows], windows: Iterable[PlannedWindow]) -> Iterator[Verdict]:
    """UNKNOWN where a store could not answer, or a window cannot be told."""
    if any(each.retryable for each in found) or any(
        each.state is WindowState.UNKNOWN for each in windows
    ):
        yield Verdict.UNKNOWN


def _summary(
    windows: Sequence[PlannedWindow], found: Sequence[Windows], untold: Sequence[str]
) -> str:
    """How many windows are planned how, and which is the oldest to run."""
    for each in found:
        if each.retryable:
            return each.reason
    counts = Counter(each.action for each in windows)
    if not windows:
        return "Nothing is to be caught up."
    text = ", ".join(
        f"{counts[action]} to {action}" if action is Action.RUN else f"{counts[action]} {action}"
        for action in Action
        if counts[action]
    )
    to_run = [each for each in windows if each.action is Action.RUN]
    if to_run:
        oldest = min(to_run, key=lambda each: each.window.start)
        text += f"; the oldest to run is {oldest.window.name} of {oldest.task}"
    if untold:
        more = f". So it is for {len(untold) - 1} more" if len(untold) > 1 else ""
        text += f". {untold[0].rstrip('.')}{more}"
    return " ".join([f"{text}.", *(each.unseen for each in found if each.unseen)])
