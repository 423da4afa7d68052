"""The receipts of a scheduler's attempt, in a store of any kind."""

from __future__ import annotations

from collections.abc import Callable

from ubunye_core.receipt import Orchestrator
from ubunye_core.stores.protocol import Found, ReceiptStore


def receipts_of_attempt(
    attempt: Orchestrator, task: str, store: ReceiptStore, *, newest: int | None = None
) -> Found:
    """The receipts of an attempt, the newest first.

    Args:
        attempt: The scheduler's names for it.
        task: Its task.
        store: Where they are.
        newest: Where the store cannot look for an attempt, look through so many of the task's
            newest runs; None is all.

    Raises:
        StoreUnavailableError: the store cannot be read.
    """
    find: Callable[[str, Orchestrator], Found] | None = getattr(store, "of_attempt", None)
    if find is not None:
        return find(task, attempt)
    runs = store.search(task, limit=newest)
    mine = [run for run in runs if attempt.is_same_attempt(run.orchestrator)]
    return Found(mine, runs.unreadable)
