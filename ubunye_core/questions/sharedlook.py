"""One look at the runs of tasks, which several questions of one answer share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.protocol import Found, ReceiptStore
from ubunye_core.stores.select import select

_FROM_THE_LOOK = frozenset({"summaries"})
"""What the store may tell in another way, and the look holds already."""


class SharedLook:
    """A store whose newest runs of some tasks are read once.

    It lives as long as one answer: its parts then speak of the same runs, also while others are
    being written, and a store that cannot answer is asked once. What it does not hold, such as
    older runs and those of other tasks, is asked of the store.
    """

    def __init__(self, store: ReceiptStore, since: Mapping[str, datetime]) -> None:
        """A look that has not been taken yet.

        Args:
            store: Where the runs are.
            since: The tasks, and from which start on their runs are read.
        """
        self._store, self._since = store, since
        self._found: dict[str, Found | StoreUnavailableError] = {}

    def __getattr__(self, name: str) -> Any:
        """What else the store offers."""
        if name in _FROM_THE_LOOK:
            raise AttributeError(name)
        return getattr(self._store, name)

    @property
    def url(self) -> str:
        """Where the store is."""
        return self._store.url

    def save(self, receipt: Receipt) -> None:
        """As the store does; the look does not see it."""
        self._store.save(receipt)

    def load(self, task: str, run_id: str) -> Receipt:
        """As the store does."""
        return self._store.load(task, run_id)

    def list_runs(self, task: str, n: int = 20) -> Found:
        """The newest runs: from the look, and where it holds too few, older ones of the store."""
        if task not in self._since:
            return self._store.list_runs(task, n)
        look = self._look(task)
        if len(look) >= n:
            return select(look, look.unreadable, limit=n)
        found = self._store.list_runs(task, n)
        older = [run for run in found if run.started_at < self._since[task]]
        unreadable = dict.fromkeys([*look.unreadable, *found.unreadable])
        together = select([*look, *older], unreadable, limit=n)
        # Runs that came in since the look may have pushed out older ones, which it cannot know.
        return found if len(together) < n <= len(found) else together

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        """The runs that fit, from the look if it reaches back so far."""
        if task is None or since is None or task not in self._since or since < self._since[task]:
            return self._store.search(task, status, since, batch=batch, limit=limit)
        found = self._look(task)
        return select(found, found.unreadable, status=status, since=since, batch=batch, limit=limit)

    def _look(self, task: str) -> Found:
        """The runs of a task, as they were when they were looked at first."""
        known = self._found.get(task)
        if known is None:
            try:
                known = self._store.search(task, since=self._since[task])
            except StoreUnavailableError as error:
                known = error
            self._found[task] = known
        if isinstance(known, StoreUnavailableError):
            raise known
        return known
