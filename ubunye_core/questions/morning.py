"""What needs somebody this morning, of a set of tasks, and what is well?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial

from ubunye_core.counted import count
from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.names import check_task_or_pattern, fits, is_pattern
from ubunye_core.questions.answer import Moment, Verdict, named, together, view
from ubunye_core.questions.expected import expected_windows
from ubunye_core.questions.health import job_health
from ubunye_core.questions.misread import MisreadTask
from ubunye_core.questions.plan import Plan, plan_backfill
from ubunye_core.questions.plannable import plan_plannable
from ubunye_core.questions.planned import PlannedWindow, ToCatchUp
from ubunye_core.questions.search import StartedBy
from ubunye_core.questions.sharedlook import SharedLook
from ubunye_core.questions.stats import MOST_DAYS, TaskStats, task_stats
from ubunye_core.questions.task_health import TaskHealth, cannot_be_told
from ubunye_core.questions.tasks import fitting_tasks
from ubunye_core.questions.window_state import EARLY, WindowAnswer, WindowState
from ubunye_core.questions.windows import Windows, window_states
from ubunye_core.receipt import Receipt, TriggerKind
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import instant_or_ago

ALL_TASKS = "*/*/*"
_BY_HAND = StartedBy(kind=TriggerKind.MANUAL)
WEEK = timedelta(days=7)
_FEW = 3


@dataclass(frozen=True, kw_only=True)
class MorningTask:
    """How one task stands this morning. True only when it needs nobody."""

    task: str
    verdict: Verdict
    """Of its health, its windows and its numbers together."""
    reason: str
    health: TaskHealth
    windows: Windows | None
    """None where no schedule of it is known."""
    stats: TaskStats
    by_hand: tuple[Receipt, ...] = ()
    """The runs that somebody started by hand, newest first."""
    untold: int = 0
    """How many runs do not say who or what started them."""
    unreadable: tuple[Unreadable, ...] = ()
    """What could not be read and could change the answer."""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def to_tell(self) -> tuple[WindowAnswer, ...]:
        """The windows that somebody has to look at, or that are missed although one runs."""
        windows = () if self.windows is None else self.windows.windows
        return tuple(
            each
            for each in windows
            if each.state.is_missed or not each.state.is_well or each.doubts
        )


@dataclass(frozen=True, kw_only=True)
class Morning:
    """What needs somebody, and what is well. True only when nothing needs anybody."""

    verdict: Verdict
    reason: str
    tasks: tuple[MorningTask, ...]
    """Those that fail first, then those that cannot be told, then those that are well."""
    plan: Plan | None
    """What can be caught up; None where no task has a schedule."""
    since: datetime
    """Windows that were due then or later are told, and runs by hand that started then or later."""
    stats_since: datetime
    """The first instant of the period that the numbers are of."""
    now: datetime

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What could not be read and could change the answer, each once."""
        of_plan = () if self.plan is None else self.plan.unreadable
        of_tasks = (bad for task in self.tasks for bad in task.unreadable)
        return tuple(dict.fromkeys((*of_tasks, *of_plan)))

    @property
    def by_hand(self) -> tuple[Receipt, ...]:
        """The runs of all tasks that somebody started by hand, newest first."""
        runs = (run for task in self.tasks for run in task.by_hand)
        return tuple(sorted(runs, key=lambda run: run.order, reverse=True))

    def planned(self, task: str, answer: WindowAnswer) -> PlannedWindow | None:
        """What is to be done about a window of a task; None where nothing is."""
        return self._planned.get((task, answer.window.start, answer.window.end))

    @cached_property
    def _planned(self) -> Mapping[tuple[str, datetime, datetime], PlannedWindow]:
        windows = () if self.plan is None else self.plan.windows
        return {(each.task, each.window.start, each.window.end): each for each in windows}


def morning(
    tasks: str | Sequence[str] = (),
    *,
    schedules: Iterable[ToCatchUp] = (),
    store: StoreLike = None,
    now: datetime | str | None = None,
    since: datetime | str | timedelta = WEEK,
    days: int = 30,
    stuck_after: timedelta | str | None = None,
    max_age: timedelta | str | None = None,
) -> Morning:
    """What somebody on call has to know of tasks: health, windows, a plan, numbers, runs by hand.

    It is made of ``job_health``, ``window_states``, ``plan_backfill`` and ``task_stats``, and says
    what they say, of one look at the runs of each task. Starts nothing.

    Args:
        tasks: Tasks and patterns such as ``pay/*/*``. None are all in ``schedules``, or else all
            in the store.
        schedules: The schedules of tasks, with what they require and how long their sources keep
            their data. Of a task without one no windows are told; a schedule may be empty.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        now: The instant to answer for; None is the clock. In the past: as it looked then.
        since: The first instant at which a window may have been due, and a run by hand may have
            started; or how long ago that is, such as ``3d``.
        days: The numbers are of so many times 24 hours, counted back from ``now``.
        stuck_after: How long a run may be silent; as for ``job_health``.
        max_age: How old the newest success may be; as for ``job_health``.

    Returns:
        ``FAIL`` when something needs somebody, ``UNKNOWN`` when something cannot be told, and
        ``PASS`` when everything is well. Never raises for a store that cannot answer, nor for what
        is wrong in the files of one task, as ``read_tasks`` gives them.

    Raises:
        ConfigError: an argument is wrong, or tasks require each other in a circle.
    """
    moment, opened = Moment.of(now), store_of(store)
    first = instant_or_ago(since, moment.now, what="since")
    if first > moment.now:
        raise ConfigError("'since' is after 'now'.", hint="Name an instant in the past.")
    given = _by_task(schedules)
    found = _named(tasks, given, opened)
    names = [task for task, health in found.items() if health is None]
    expected = [given[task] for task in names if task in given]
    to_plan = [each for each in expected if not isinstance(each, MisreadTask) and each.versions]
    stats_since = moment.now - timedelta(days=min(max(days, 1), MOST_DAYS))
    look = SharedLook(opened, _reach(names, to_plan, min(first, stats_since), first, moment.now))
    told = _Told(look, moment, first, stuck_after)
    if names:
        told.stats = {
            each.task: each
            for each in task_stats(names, store=look, days=days, now=moment.now).tasks
        }
        health = job_health(
            names, store=look, now=moment.now, stuck_after=stuck_after, max_age=max_age
        )
        found |= {each.task: each for each in health.tasks}
    plan, told.not_planned = plan_plannable(
        to_plan,
        partial(plan_backfill, since=first, store=look, now=moment.now, stuck_after=stuck_after),
    )
    every = [
        told.task(health, given.get(task)) for task, health in found.items() if health is not None
    ]
    order = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.PASS)
    every.sort(key=lambda each: order.index(each.verdict))
    verdicts = [each.verdict for each in every]
    return Morning(
        verdict=together(verdicts if plan is None else [*verdicts, plan.verdict]),
        reason=_summary(every, plan),
        tasks=tuple(every),
        plan=plan,
        since=first,
        stats_since=stats_since,
        now=moment.now,
    )


class _Told:
    """Puts together what the questions say of each task."""

    def __init__(
        self,
        store: ReceiptStore,
        moment: Moment,
        since: datetime,
        stuck_after: timedelta | str | None,
    ) -> None:
        self._store, self._moment, self._since = store, moment, since
        self._stuck_after = stuck_after
        self.stats: Mapping[str, TaskStats] = {}
        self.not_planned: Mapping[str, ConfigError] = {}

    def task(self, health: TaskHealth, given: ToCatchUp | None) -> MorningTask:
        """One task, whose health is known."""
        task = health.task
        stats = self.stats.get(task)
        if stats is None:  # a pattern that names no task
            stats = TaskStats(
                task=task, verdict=Verdict.UNKNOWN, reason=health.reason, retryable=health.retryable
            )
        windows = self._windows(given)
        runs, doubtful = self._runs(task) if task in self.stats else ((), ())
        verdicts = [health.verdict, stats.verdict]
        verdicts += [] if windows is None else [windows.verdict]
        wrong = self._wrong(task, given)
        verdicts += [Verdict.UNKNOWN] if doubtful or wrong else []
        unreadable = [*health.unreadable, *stats.unreadable, *doubtful]
        unreadable += [given.unreadable] if isinstance(given, MisreadTask) else []
        if windows is not None and windows.verdict is Verdict.UNKNOWN:
            unreadable += windows.unreadable
        return MorningTask(
            task=task,
            verdict=together(verdicts),
            reason=_why(health, windows, stats, [*stats.unreadable, *doubtful], wrong),
            health=health,
            windows=windows,
            stats=stats,
            by_hand=tuple(run for run in runs if _BY_HAND.fits(run)),
            untold=sum(run.triggered_by is None for run in runs),
            unreadable=tuple(dict.fromkeys(unreadable)),
        )

    def _wrong(self, task: str, given: ToCatchUp | None) -> str:
        """What cannot be told where the files or requirements of a task are wrong; else empty."""
        if isinstance(given, MisreadTask):
            return f"its windows cannot be told: {named([given.unreadable])}"
        if task in self.not_planned:
            return f"what to do about its windows cannot be told: {self.not_planned[task]}"
        return ""

    def _windows(self, given: ToCatchUp | None) -> Windows | None:
        if given is None or isinstance(given, MisreadTask) or not given.versions:
            return None
        return window_states(
            given.task, schedule=given.versions, since=self._since, store=self._store,
            now=self._moment.now, stuck_after=self._stuck_after,
        )  # fmt: skip

    def _runs(self, task: str) -> tuple[tuple[Receipt, ...], tuple[Unreadable, ...]]:
        """What started in the period; where the store cannot answer, the others say so."""
        try:
            found = self._store.search(task, since=self._since)
        except StoreUnavailableError:
            return (), ()
        seen = view(found, found.unreadable, self._moment)
        return seen.receipts, seen.unreadable


def _by_task(schedules: Iterable[ToCatchUp]) -> dict[str, ToCatchUp]:
    """The schedules by their tasks.

    Raises:
        ConfigError: a task stands twice.
    """
    every = list(schedules)
    by_task = {each.task: each for each in every}
    if len(by_task) < len(every):
        twice = next(task for task, n in Counter(each.task for each in every).items() if n > 1)
        raise ConfigError(f"{twice} has two schedules.", hint="Give one, with its versions.")
    return by_task


def _named(
    tasks: str | Sequence[str], given: Mapping[str, ToCatchUp], store: ReceiptStore
) -> dict[str, TaskHealth | None]:
    """The tasks to look at, each once; and patterns that name none, with what is to say of them."""
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    found: dict[str, TaskHealth | None] = {}
    for name in map(check_task_or_pattern, names or given or [ALL_TASKS]):
        if not is_pattern(name):
            found.setdefault(name, None)
            continue
        fitting = [task for task in given if fits(task, name)]
        try:
            fitting += fitting_tasks(name, store)
        except StoreUnavailableError as error:
            found[name] = cannot_be_told(name, store, error)
        else:
            if not fitting:
                reason = f"No task in {store.url} fits {name}."
                found[name] = TaskHealth(task=name, verdict=Verdict.UNKNOWN, reason=reason)
        for task in fitting:
            found.setdefault(task, None)
    return found


def _reach(
    names: Iterable[str],
    scheduled: Iterable[ToCatchUp],
    at_least: datetime,
    since: datetime,
    now: datetime,
) -> dict[str, datetime]:
    """How far back a look at the runs of each task goes: as far as its oldest window may have."""
    reach = dict.fromkeys(names, at_least)
    for each in scheduled:
        expected = expected_windows(each.versions, since, now)
        if expected:
            earliest = min(window.window.start for window in expected) - EARLY
            reach[each.task] = min(earliest, at_least)
    return reach


def _why(
    health: TaskHealth,
    windows: Windows | None,
    stats: TaskStats,
    doubtful: Sequence[Unreadable],
    wrong: str,
) -> str:
    """What is wrong with a task, or why it is well."""
    # Of a task that never ran, the numbers also say which one may have been meant.
    ill = stats.reason if stats.reason.startswith(health.reason) else health.reason
    parts = [] if health else [ill.removeprefix(f"{health.task}: ").rstrip(".")]
    if windows is not None and windows.retryable:
        parts.append(windows.reason.rstrip("."))
    elif windows is not None and not windows:
        parts.append(f"windows: {', '.join(_counted(windows.windows))}")
    if doubtful and not any(named(doubtful[:1]) in part for part in parts):
        parts.append(f"not all of its runs can be read: {named(doubtful)}")
    parts += [wrong] if wrong else []
    text = "; ".join(dict.fromkeys(parts)).rstrip(".")
    return health.reason if not text else text if text.endswith("?") else f"{text}."


def _counted(windows: Sequence[WindowAnswer]) -> Iterator[str]:
    """How many windows somebody has to look at, by their state."""
    counts = Counter(each.state for each in windows)
    for state in WindowState:
        if counts[state] and not state.is_well:
            yield f"{counts[state]} {state}"
    doubted = sum(bool(each.doubts) for each in windows)
    if doubted:
        yield f"{doubted} doubted"


def _summary(tasks: Sequence[MorningTask], plan: Plan | None) -> str:
    """How many tasks need somebody, and what can be caught up."""
    bad = [each.task for each in tasks if each.verdict is Verdict.FAIL]
    dark = [each.task for each in tasks if each.verdict is Verdict.UNKNOWN]
    number = count(len(tasks), "task")
    parts = []
    if bad:
        parts.append(
            f"{len(bad)} of {number} need{'s' if len(bad) == 1 else ''} somebody: {_few(bad)}"
        )
    if dark:
        parts.append(f"{len(dark)} of {number} cannot be told: {_few(dark)}")
    text = "; ".join(parts) or f"Nothing needs anybody: {number}, all well"
    to_run = () if plan is None else plan.to_run
    if to_run:
        oldest = min(to_run, key=lambda each: each.window.start)
        text += (
            f". {count(len(to_run), 'window')} can be caught up, the oldest "
            f"is {oldest.window.name} of {oldest.task}"
        )
    return f"{text}."


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more
