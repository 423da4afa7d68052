"""Which of many questions have a task in common, and so must be asked by the same look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ubunye_core import is_pattern

Asking = TypeVar("Asking")


def apart(
    asking: Iterable[Asking], tasks_of: Callable[[Asking], Sequence[str]]
) -> list[list[Asking]]:
    """Shares that have no task in common, the longest first.

    A pattern may name any task, so all that is asked beside one is one share.
    """
    by_tasks: dict[frozenset[str], list[Asking]] = {}
    for each in asking:
        by_tasks.setdefault(frozenset(tasks_of(each)), []).append(each)
    if any(is_pattern(task) for tasks in by_tasks for task in tasks):
        return [[each for some in by_tasks.values() for each in some]]
    share_of: dict[str, _Share[Asking]] = {}
    for tasks, some in by_tasks.items():
        share = _Share(set(tasks), list(some))
        common = {id(share_of[task]): share_of[task] for task in tasks & share_of.keys()}
        for other in common.values():
            share = share.with_all_of(other)
        share_of.update(dict.fromkeys(share.tasks, share))
    found = {id(share): share.asking for share in share_of.values()}
    return sorted(found.values(), key=len, reverse=True)


@dataclass
class _Share(Generic[Asking]):
    """Questions that must be asked together, and the tasks that they name."""

    tasks: set[str]
    asking: list[Asking]

    def with_all_of(self, other: _Share[Asking]) -> _Share[Asking]:
        return _Share(self.tasks | other.tasks, self.asking + other.asking)
