"""One look at the runs of tasks, which several questions of one answer share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.capabilities import RUNS_READ
from ubunye_core.stores.protocol import Found, ReceiptStore
from ubunye_core.stores.select import select

_FROM_THE_LOOK = frozenset({"summaries"})
"""What the store may tell in another way, and the look holds already."""


@dataclass(frozen=True)
class _Look:
    found: Found
    is_whole: bool
    """Whether the task has no other runs."""


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
        self._looks: dict[str, _Look | StoreUnavailableError] = {}

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
        """The newest runs, from the look if it holds so many, or all there are."""
        if task in self._since:
            look = self._look(task)
            if len(look.found) >= n or look.is_whole:
                return select(look.found, look.found.unreadable, limit=n)
        return self._store.list_runs(task, n)

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
        if task is not None and task in self._since:
            look, first = self._look(task), self._since[task]
            if look.is_whole or (since is not None and since >= first):
                return select(
                    look.found, look.found.unreadable, status=status, since=since, batch=batch,
                    limit=limit,
                )  # fmt: skip
        return self._store.search(task, status, since, batch=batch, limit=limit)

    def _look(self, task: str) -> _Look:
        """The runs of a task, as they were when they were looked at first."""
        known = self._looks.get(task)
        if known is None:
            try:
                known = self._looked(task)
            except StoreUnavailableError as error:
                known = error
            self._looks[task] = known
        if isinstance(known, StoreUnavailableError):
            raise known
        return known

    def _looked(self, task: str) -> _Look:
        """The runs that health looks at; or all of the period, where these are more."""
        newest = self._store.list_runs(task, RUNS_READ)
        if len(newest) < RUNS_READ:
            return _Look(newest, is_whole=True)
        if newest[-1].started_at < self._since[task]:
            return _Look(newest, is_whole=False)
        return _Look(self._store.search(task, since=self._since[task]), is_whole=False)
