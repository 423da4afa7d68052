"""A store as somebody sees it who may not see every receipt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from ubunye_core.errors import BadReceiptError, ReceiptNotFoundError, StoreUnavailableError
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores import Found, ReceiptStore, Settled, select
from ubunye_core.stores.attempts import receipts_of_attempt

Sees = Callable[[Receipt], bool]
"""Whether a receipt may be seen."""

LOOKED_AT = 50
"""A task is there for somebody who may see one of so many of its newest runs."""
NEWEST = 1000
"""Where a store cannot look for an attempt, so many of the newest runs are looked through."""


class SeenStore:
    """A store that holds nothing but what may be seen; it cannot be written to.

    What cannot be read does not say whose it is. It is told to whoever may see another receipt of
    its task: a damaged one could change what is said of those.
    """

    def __init__(self, store: ReceiptStore, sees: Sees) -> None:
        self._store, self._sees = store, sees
        self._known: dict[str, bool] = {}

    @property
    def url(self) -> str:
        """Where the store is."""
        return self._store.url

    @property
    def whole(self) -> ReceiptStore:
        """The store with all its receipts: for what is filtered afterwards."""
        return self._store

    def knows(self, task: str) -> bool:
        """Whether any of the task's newest receipts may be seen."""
        if task not in self._known:
            self._known[task] = any(map(self._sees, self._store.list_runs(task, 1))) or any(
                map(self._sees, self._store.list_runs(task, LOOKED_AT))
            )
        return self._known[task]

    def save(self, receipt: Receipt) -> None:
        """Refused."""
        raise StoreUnavailableError("This view of a store is only for reading.")

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run; one that may not be seen is not found."""
        if self.knows(task):
            receipt = self._store.load(task, run_id)
            if self._sees(receipt):
                return receipt
        raise ReceiptNotFoundError(f"{self.url} holds no run '{run_id}' of {task}.")

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a scheduler's attempt that may be seen."""
        if not self.knows(task):
            return Found()
        found = receipts_of_attempt(attempt, task, self._store, newest=NEWEST)
        return Found(filter(self._sees, found), found.unreadable)

    def settled(self, tasks: Sequence[str]) -> Mapping[str, Settled]:
        """Of the tasks whose newest run may be seen, how that stands, where the store tells it.

        Runs that may not be seen and say ``running`` are among its open ones: health looks closer.
        """
        tell: Callable[[Sequence[str]], Mapping[str, Settled]] | None
        tell = getattr(self._store, "settled", None)
        told = {} if tell is None else tell(tasks)
        return {task: last for task, last in told.items() if self._may_see(task, last.run_id)}

    def _may_see(self, task: str, run_id: str) -> bool:
        try:
            return self._sees(self._store.load(task, run_id))
        except (ReceiptNotFoundError, BadReceiptError):
            return False

    def list_runs(self, task: str, n: int = 20) -> Found:
        """The newest ``n`` receipts of a task that may be seen."""
        return self.search(task, limit=n)

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        """The receipts that fit everything given and may be seen."""
        if task is None:
            raise StoreUnavailableError("This view of a store answers about one task at a time.")
        if not self.knows(task):
            return Found()
        asked = limit
        while True:
            found = self._store.search(task, status, since, batch=batch, limit=asked)
            seen = [receipt for receipt in found if self._sees(receipt)]
            is_whole = asked is None or len(found) < asked
            if is_whole or (limit is not None and len(seen) >= limit):
                return select(seen, found.unreadable, limit=limit)
            asked = 4 * max(asked or 0, 1)
