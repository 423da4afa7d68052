"""The tasks that one page of health shows: so many by name, from one on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ubunye_core.errors import ConfigError
from ubunye_core.names import check_task, check_task_or_pattern, fits, is_pattern
from ubunye_core.questions.tasks import known_tasks
from ubunye_core.stores import ReceiptStore
from ubunye_core.web.access import SeenStore

TASKS_A_PAGE = 100
PASSED_OVER = 300
"""So many tasks that may not be seen are passed over for one page."""
_AND = "~"  # no task's name holds it


@dataclass(frozen=True)
class Listed:
    """The tasks of one page."""

    tasks: tuple[str, ...]
    following: str | None = None
    """Where the next page begins, for ``after``; None where there is none."""
    of: int | None = None
    """How many tasks there are in all; None where that may not be told."""


def list_tasks(store: ReceiptStore, wanted: Sequence[str], after: str | None) -> Listed:
    """The tasks that fit, by name, and for a restricted view are there to be seen.

    Args:
        store: The store, or what may be seen of it.
        wanted: Tasks and patterns; none are all. A task that is named is there in any case.
        after: The last task that a page before has shown. With ``~300``, so many tasks after it
            were passed over since: none of these is named to somebody who may not see it. None is
            the first page.

    Raises:
        ConfigError: a name is none, or the store cannot list its tasks.
        StoreUnavailableError: the store cannot answer now.
    """
    names = [check_task_or_pattern(each) for each in wanted]
    start, passed = _place(after or "")
    patterns = [name for name in names if is_pattern(name)]
    exact = {name for name in names if not is_pattern(name)}
    fitting = exact | set(_fitting(store, patterns) if patterns or not names else ())
    left = sorted(task for task in fitting if task > start)[passed:]
    if not isinstance(store, SeenStore):
        few = tuple(left[:TASKS_A_PAGE])
        return Listed(few, few[-1] if len(left) > len(few) else None, len(fitting))
    found: list[str] = []
    for number, task in enumerate(left):
        if len(found) == TASKS_A_PAGE or number == PASSED_OVER:
            following = found[-1] if found else f"{start}{_AND}{passed + number}"
            return Listed(tuple(found), following)
        if task in exact or store.knows(task):
            found.append(task)
    return Listed(tuple(found))


def _place(after: str) -> tuple[str, int]:
    """After which task a page begins, and how many more it leaves out.

    Raises:
        ConfigError: the text says neither.
    """
    task, separator, number = after.partition(_AND)
    if separator and not (number.isascii() and number.isdecimal()):
        raise ConfigError(f"'after' is {after!r}.", hint="Follow the link to the next page.")
    return check_task(task) if task else "", int(number[:9] or 0)


def _fitting(store: ReceiptStore, patterns: Sequence[str]) -> list[str]:
    whole = store.whole if isinstance(store, SeenStore) else store
    known = known_tasks(whole)
    if known is None:
        raise ConfigError("This store cannot list its tasks.", hint="Name each task.")
    if not patterns:
        return known
    return [task for task in known if any(fits(task, pattern) for pattern in patterns)]
