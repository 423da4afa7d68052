"""Questions to one snapshot of the table: first which events answer, then their documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ubunye_core.errors import BadReceiptError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.runids import time_in
from ubunye_core.stores.delta import sql
from ubunye_core.stores.delta.table import Snapshot
from ubunye_core.stores.events import Event, receipt_of
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.select import select

_BY_NAME = 500
"""So many events are asked for by their ids; of more, all of the task's rows are looked through."""
_MORE_THAN_ASKED = 8
"""Read beyond a limit at first, for those that turn out to be unreadable."""


class Reading:
    """One question's view of the table."""

    def __init__(self, snapshot: Snapshot, url: str) -> None:
        self._snapshot, self._url = snapshot, url

    def where(self, event: Event) -> str:
        """The place of a run's record, for people."""
        return f"{self._url}#{event.task}/{event.run_id}"

    def events(self, query: str) -> list[Event]:
        """The rows of a query."""
        return [Event.from_row(row) for row in self._snapshot.rows(query)]

    def tell(self, query: str) -> list[dict[str, Any]]:
        """The rows of a query that does not ask for events."""
        return list(self._snapshot.rows(query))

    def read(self, event: Event) -> Receipt | Unreadable:
        """The receipt of a whole row, or why it is none."""
        try:
            return receipt_of(event, where=self.where(event))
        except BadReceiptError as error:
            return Unreadable(
                where=error.where,
                why=error.why,
                task=event.task or None,
                started_at=time_in(event.run_id),
            )

    def search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        """The answer to ``ReceiptStore.search``."""
        of, fitting = sql.of_task(task), sql.that_fit(status, since, batch)
        if limit is not None and limit <= 0:
            return Found()
        asked = None if limit is None else limit + _MORE_THAN_ASKED
        while True:
            query = sql.newest(sql.standing(sql.KEYS, of=of, fitting=fitting), asked)
            standing = self.events(query)
            found = self.found(task, standing, status=status, since=since, batch=batch, limit=limit)
            if asked is None or len(standing) < asked or len(found) == limit:
                return found
            asked *= 4  # what cannot be read does not use up the limit

    def found(
        self,
        task: str | None,
        standing: Sequence[Event],
        *,
        status: Status | None = None,
        since: datetime | None = None,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        """The receipts of these events that fit, and what of them cannot be read."""
        receipts, unreadable = [], []
        for read in map(self.read, self.whole(task, standing)):
            if isinstance(read, Receipt):
                receipts.append(read)
            else:
                unreadable.append(read)
        return select(receipts, unreadable, status=status, since=since, batch=batch, limit=limit)

    def whole(self, task: str | None, standing: Sequence[Event]) -> Iterator[Event]:
        """These events with all columns, in any order, and not all at once in memory."""
        if not standing:
            return
        ids = {event.event for event in standing}
        where = [*sql.of_task(task), _within(ids)]
        if len(ids) <= _BY_NAME:
            where.append(sql.one_of("event", sorted(ids)))
        for row in self._snapshot.rows(sql.select(sql.WHOLE, where)):
            event = Event.from_row(row)
            if event.event in ids:
                ids.discard(event.event)
                yield event

    def every(self, task: str) -> Iterator[Event]:
        """Every run of a task, as ``whole``; only the names of its events are held in memory."""
        query = sql.standing(("task", "run_id", "event"), of=sql.of_task(task))
        yield from self.whole(task, self.events(query))

    def of_runs(self, task: str, run_ids: Iterable[str]) -> list[Event]:
        """All events of these runs, whole."""
        ids = sorted(set(run_ids))
        if not ids:
            return []
        where = [*sql.of_task(task), f"run_id >= {sql.quoted(ids[0])}"]
        where.append(f"run_id <= {sql.quoted(ids[-1])}")
        if len(ids) <= _BY_NAME:
            where.append(sql.one_of("run_id", ids))
        wanted = set(ids)
        rows = self._snapshot.rows(sql.select(sql.WHOLE, where))
        return [Event.from_row(row) for row in rows if row["run_id"] in wanted]


def _within(ids: Iterable[str]) -> str:
    """Ids sort by time: a range leaves out most files, and most of a file."""
    ordered = sorted(ids)
    return f"event >= {sql.quoted(ordered[0])} AND event <= {sql.quoted(ordered[-1])}"
