"""All that a store holds, one receipt at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ubunye_core.errors import ReceiptNotFoundError
from ubunye_core.names import check_task_or_pattern, fits, near
from ubunye_core.questions.tasks import known_tasks
from ubunye_core.receipt import Receipt
from ubunye_core.stores import ReceiptStore, Unreadable

Told = Callable[[str, int], None]
"""Told of progress: the task that is being worked on, and how many receipts were read so far."""


def nobody(task: str, receipts: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class Holdings:
    """The tasks of a store, and the damage that shows no task."""

    tasks: tuple[str, ...]
    of_no_task: tuple[Unreadable, ...] = ()


def holdings(store: ReceiptStore, pattern: str | None = None) -> Holdings:
    """The tasks that a store holds and a task or pattern names; all of them without one.

    A store that cannot list its tasks, or lists none, is read as a whole for it.

    Raises:
        ReceiptNotFoundError: it holds no such task.
        StoreUnavailableError: it could not be read.
    """
    wanted = None if pattern is None else check_task_or_pattern(pattern)
    listed = known_tasks(store)
    of_no_task: tuple[Unreadable, ...] = ()
    if not listed:  # damage may show no task
        found = store.search()
        named = {receipt.task for receipt in found}
        named |= {bad.task for bad in found.unreadable if bad.task is not None}
        listed = sorted(named)
        of_no_task = tuple(bad for bad in found.unreadable if bad.task is None)
    tasks = tuple(task for task in listed if wanted is None or fits(task, wanted))
    if wanted is not None and not tasks:
        close = near(wanted, listed)
        raise ReceiptNotFoundError(
            f"{store.url} holds no receipts of {wanted}.",
            hint=f"Did you mean {' or '.join(close)}?" if close else None,
        )
    return Holdings(tasks, of_no_task)


def receipts_of(store: ReceiptStore, task: str) -> Iterator[Receipt | Unreadable]:
    """Every receipt of a task, in any order, and in its place what cannot be read."""
    scan = getattr(store, "scan", None)
    if scan is not None:
        yield from scan(task)
        return
    found = store.search(task)
    yield from found
    yield from found.unreadable


class Counter:
    """Counts what is read, and tells of it."""

    def __init__(self, told: Told | None) -> None:
        self._told = told or nobody
        self.receipts = 0

    def of(self, store: ReceiptStore, task: str) -> Iterator[Receipt | Unreadable]:
        """``receipts_of``, counted."""
        self._told(task, self.receipts)
        for found in receipts_of(store, task):
            self.receipts += 1
            self._told(task, self.receipts)
            yield found
