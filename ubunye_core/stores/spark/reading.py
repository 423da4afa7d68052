"""Questions to the table: first which events answer, then their documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from ubunye_core.errors import BadReceiptError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.events import Event, asked_variables, receipt_of
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.select import select_read
from ubunye_core.stores.spark.table import Table, instant

KEYS = ("task", "run_id", "event", "turn", "status", "started_at")
"""What tells which event of a run stands, and its place among the runs."""
WHOLE = (*KEYS, "batch_key", "document")
"""What a receipt is read and checked from."""
DAMAGED = "(status IS NULL OR started_at IS NULL OR batch_key IS NULL)"
"""Our writers always fill these; whatever else a row is, it is no receipt."""
_BY_NAME = 500
"""So many documents are asked for by the ids of their events; of more, all are looked through."""
_MORE_THAN_ASKED = 4
"""Read beyond a limit at first, for those that turn out to be unreadable."""


def of_run(task: str, run_id: str) -> Any:
    """The condition of one run."""
    return of_task(task) & (F.col("run_id") == F.lit(run_id))


def of_task(task: str) -> Any:
    """The condition of one task."""
    return F.col("task") == F.lit(task)


def begins_with(task: str, prefix: str) -> Any:
    """The condition of the runs of a task whose ids begin so."""
    return of_task(task) & F.col("run_id").startswith(F.lit(prefix))


def that_fit(status: Status | None, since: datetime | None, batch: Mapping[str, str] | None) -> Any:
    """The condition of a search. It leaves out only what cannot fit; None: everything fits."""
    conditions = []
    if status is not None:
        conditions.append(F.col("status") == F.lit(status.value))
    if since is not None:
        conditions.append(F.col("started_at") >= instant(since))
    if batch:
        asked = asked_variables(batch)
        conditions += (
            [F.lit(False)]
            if asked is None
            else [F.col("variables")[name] == F.lit(text) for name, text in asked.items()]
        )
    fits = None
    for condition in conditions:
        fits = condition if fits is None else fits & condition
    return fits


class Reading:
    """Answers from the table, which may grow meanwhile: rows are only ever added."""

    def __init__(self, table: Table, url: str) -> None:
        self.table, self._url = table, url

    def where(self, task: str, run_id: str) -> str:
        """The place of a run's record, for people."""
        return f"{self._url}#{task}/{run_id}"

    def current(self, task: str, run_id: str) -> Event | None:
        """The event of a run that stands, whole."""
        events = self.table.events(self.table.standing(of_run(task, run_id)))
        return events[0] if events else None

    def holds(self, event: Event) -> bool:
        """Whether a row is there."""
        rows = self.table.rows().where(of_run(event.task, event.run_id))
        found = rows.where(F.col("event") == F.lit(event.event)).limit(1)
        return bool(self.table.told(found, ("event",)))

    def read(self, event: Event) -> Receipt | Unreadable:
        """The receipt of a whole row, or why it is none."""
        try:
            return receipt_of(event, where=self.where(event.task, event.run_id))
        except BadReceiptError as error:
            return Unreadable.of(error, task=event.task or None, run_id=event.run_id)

    def search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        """The answer to ``ReceiptStore.search``."""
        if limit is not None and limit <= 0:
            self.table.rows()
            return Found()
        frame = self.fitting(task, that_fit(status, since, batch))
        how: dict[str, Any] = {"status": status, "since": since, "batch": batch, "limit": limit}
        if limit is None:
            return select_read(map(self.read, self.table.events(frame, WHOLE)), **how)
        asked = limit + _MORE_THAN_ASKED
        while True:
            standing = self.table.events(self.newest(frame, asked), KEYS)
            found = select_read(map(self.read, self.whole(task, standing)), **how)
            if len(standing) < asked or len(found) == limit:
                return found
            asked *= 4  # what cannot be read does not use up the limit

    def fitting(self, task: str | None, fits: Any) -> Any:
        """The rows of a task that stand, and that fit or are damaged."""
        frame = self.table.standing(None if task is None else of_task(task))
        return frame if fits is None else frame.where(fits | F.expr(DAMAGED))

    def newest(self, frame: Any, limit: int) -> Any:
        """The newest rows of a frame first."""
        first = (F.col(name).desc_nulls_first() for name in ("started_at", "run_id"))
        return frame.orderBy(*first).limit(limit)

    def whole(self, task: str | None, standing: Sequence[Event]) -> Iterator[Event]:
        """These events with what a receipt is read from, in any order."""
        ids = {event.event for event in standing}
        if not ids:
            return
        # Ids sort by time: a range leaves out most files, and most of a file.
        where = F.col("event").between(F.lit(min(ids)), F.lit(max(ids)))
        if task is not None:
            where = where & of_task(task)
        if len(ids) <= _BY_NAME:
            where = where & F.col("event").isin(sorted(ids))
        for event in self.table.events(self.table.rows().where(where), WHOLE):
            if event.event in ids:
                ids.discard(event.event)
                yield event
