"""The windows of a task for a page: how each stands, newest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile

from ubunye_core.errors import ConfigError
from ubunye_core.questions.window_state import WindowAnswer, WindowState
from ubunye_core.questions.windows import Windows, window_states
from ubunye_core.schedules import Schedule
from ubunye_core.web.asked import Asked

USUAL = timedelta(days=7)
MOST_WINDOWS, MOST_FIRINGS = 1000, 20_000


@dataclass(frozen=True)
class Grid:
    """What a page shows of windows; no answer where no schedule is known."""

    answer: Windows | None = None
    newest_first: tuple[WindowAnswer, ...] = ()
    counts: tuple[tuple[WindowState, int], ...] = ()
    since: datetime | None = None


def grid_of(asked: Asked, task: str) -> Grid:
    """The windows of a task that were due since a time; the last 7 days unless one is given.

    Raises:
        ConfigError: the schedule is wrong, or there are more windows than a page shows.
    """
    schedule = asked.schedule(task)
    if not schedule:
        return Grid()
    since = asked.since() or asked.now - USUAL
    _check_not_too_many(schedule, since, asked.now)
    answer = window_states(
        task, schedule=schedule, since=min(since, asked.now), store=asked.store, now=asked.now
    )
    numbers = Counter(each.state for each in answer.windows)
    counts = tuple((state, numbers[state]) for state in WindowState if numbers[state])
    return Grid(answer, answer.windows[::-1], counts, since)


def _check_not_too_many(versions: Sequence[Schedule], since: datetime, now: datetime) -> None:
    """Refuse a period of more windows than somebody looks at, before any is looked up."""
    number = 0
    for schedule in versions:
        firings = takewhile(lambda firing: firing < now, schedule.firings.after(since))
        if sum(1 for _ in islice(firings, MOST_FIRINGS + 1)) > MOST_FIRINGS:
            raise ConfigError("This schedule fires too often.", hint="Give a later 'since'.")
        number += len(schedule.due_between(since, max(since, now)))
    if number > MOST_WINDOWS:
        raise ConfigError(
            f"{number:,} windows were due; a page shows {MOST_WINDOWS:,}.",
            hint="Give a later 'since'.",
        )
