"""Which windows of a plan will meet what others of it require, and in which order they are run."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ubunye_core.names import fits, is_pattern
from ubunye_core.questions.planned import Action, PlannedWindow
from ubunye_core.questions.requirements import Requirement
from ubunye_core.questions.upstream import RequirementAnswer
from ubunye_core.questions.window_state import WindowState

UNDER_WAY = {WindowState.RUNNING, WindowState.OVERRUN}


class Prospects:
    """The windows of a plan so far, found by their task and by what names them."""

    def __init__(self) -> None:
        self.windows: list[PlannedWindow] = []
        self._by_task: dict[str, list[PlannedWindow]] = defaultdict(list)
        self._by_value: dict[tuple[str, str, str], list[PlannedWindow]] = defaultdict(list)
        self._waiting: dict[str, list[PlannedWindow]] = defaultdict(list)

    def add(self, planned: PlannedWindow) -> None:
        """Add one window more."""
        self.windows.append(planned)
        if planned.because_of != planned.task:
            self._waiting[planned.task].append(planned)
        if planned.action is Action.RUN or planned.state in UNDER_WAY:
            self._by_task[planned.task].append(planned)
            for name, text in planned.variables.items():
                self._by_value[planned.task, name, text].append(planned)

    def that_will_meet(self, answer: RequirementAnswer, planned: PlannedWindow) -> list[str]:
        """The windows that meet a requirement once they have run; none where something lacks.

        Args:
            answer: The requirement, of one task, which is not met yet.
            planned: The window that requires it.
        """
        requirement, tasks = answer.requirement, [answer.task]
        if is_pattern(answer.task):  # no task that fits it is known yet
            tasks = [each for each in self._by_task if fits(each, answer.task)]
            tasks = [each for each in tasks if each != planned.task]
        if requirement.windows is not None:
            return self._every_window(answer)
        wanted = _wanted(requirement, planned.variables)
        if not wanted:
            return []
        first, text = next(iter(wanted.items()))
        return [
            other.name
            for each in tasks
            for other in self._by_value.get((each, first, str(text)), ())
            if all(other.variables.get(name) == value for name, value in wanted.items())
        ]

    def at_the_root(self, task: str, planned: PlannedWindow) -> str:
        """The task that a window waits for in the end: what it requires may itself be waiting.

        Args:
            task: What the window requires.
            planned: The window.
        """
        for other in self._waiting[task]:
            shares_time = (
                other.window.start < planned.window.end and planned.window.start < other.window.end
            )
            if shares_time and other.because_of is not None:
                return other.because_of
        return task

    def _every_window(self, answer: RequirementAnswer) -> list[str]:
        """The windows of a task that are missing, if all of them are in the plan."""
        if answer.requirement.variables:
            return []  # whether their runs will agree on these cannot be told
        found = []
        for missing in answer.missing:
            covering = [
                other.name
                for other in self._by_task[answer.task]
                if other.window.start <= missing.start and missing.end <= other.window.end
            ]
            if not covering:
                return []
            found += covering
        return found


def in_turn(windows: Sequence[PlannedWindow]) -> list[PlannedWindow]:
    """Windows in the order given, but each after those that it waits for."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(windows):
        places[each.name].append(place)
    before = [{at for name in each.after for at in places[name]} for each in windows]
    then: dict[int, list[int]] = defaultdict(list)
    for place, needed in enumerate(before):
        for at in needed:
            then[at].append(place)
    ready = [place for place, needed in enumerate(before) if not needed]
    ordered = []
    while ready:
        place = heapq.heappop(ready)
        ordered.append(windows[place])
        for at in then[place]:
            before[at].discard(place)
            if not before[at]:
                heapq.heappush(ready, at)
    return ordered


def _wanted(requirement: Requirement, variables: Mapping[str, str]) -> Mapping[str, str | None]:
    """The variables that a run must have to meet a requirement of a window."""
    named = requirement.variables
    if named is None:
        return variables
    if isinstance(named, Mapping):
        return {name: str(text) for name, text in named.items()}
    return {name: variables.get(name) for name in named}
