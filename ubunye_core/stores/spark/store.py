"""The store: its four methods, and what it offers beyond them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from pyspark.sql import functions as F  # noqa: N812

from ubunye_core.names import check_run_id, check_task
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.base import BaseStore, checked, in_parts, of_the_attempt
from ubunye_core.stores.capabilities import RUNS_READ, Finding, Settled
from ubunye_core.stores.events import Event, attempt_key, batch_key, receipt_of
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.refusals import not_found, only_run
from ubunye_core.stores.select import select_read
from ubunye_core.stores.spark import upkeep, writing
from ubunye_core.stores.spark.name import SCHEME, table_of
from ubunye_core.stores.spark.reading import WHOLE, Reading, begins_with, of_task, that_fit
from ubunye_core.stores.spark.session import active_session
from ubunye_core.stores.spark.summing import FIRST_OF_TASK, newest_and_success, newest_of_each
from ubunye_core.stores.spark.table import Table

_NAMED_AT_MOST = 1_000
"""Run ids that begin alike, of which a refusal tells."""
_REMOVED_AT_ONCE = 1_000


class SparkStore(BaseStore):
    """Receipts in a Delta table, one row for each save, through the active session of Spark.

    A save is a commit: whole, and seen by every process at once. Each question is one or two
    queries. A table that does not exist is ``StoreUnavailableError`` to a reader; a writer makes
    it. Claims are not given.
    """

    heartbeat_every = timedelta(minutes=10)

    def __init__(self, table: str) -> None:
        self.url = SCHEME + table
        self._table = Table(table)
        self._of_table = Reading(self._table, self.url)

    @property
    def _reading(self) -> Reading:
        """What asks the table. Without a session not even a condition can be written down."""
        active_session()
        return self._of_table

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends."""
        writing.save(self._reading, checked(receipt))

    def save_many(self, receipts: Iterable[Receipt]) -> None:
        """Keep receipts, a thousand in one commit."""
        writing.save_many(self._reading, map(checked, receipts))

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        check_task(task)
        check_run_id(run_id)
        event = self._reading.current(task, run_id)
        if event is None:
            event = self._reading.current(task, self._only_run(task, run_id))
        if event is None:
            raise not_found(run_id, task=task, url=self.url)
        return receipt_of(event, where=self._reading.where(task, event.run_id))

    def _only_run(self, task: str, prefix: str) -> str:
        """The one run id that begins so."""
        runs = self._table.rows().where(begins_with(task, prefix)).select("run_id").distinct()
        rows = self._table.told(runs.limit(_NAMED_AT_MOST), ("run_id",))
        ids = sorted(str(row["run_id"]) for row in rows)
        return only_run(ids, prefix, task=task, url=self.url)

    def _search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        return self._reading.search(task, status, since, batch, limit)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        rows = self._table.told(self._table.rows().select("task").distinct(), ("task",))
        return sorted(row["task"] for row in rows if row["task"])

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and the newest run of it."""
        check_task(task)
        reading = self._reading
        key = F.col("batch_key") == F.lit(batch_key(batch))
        standing = reading.fitting(task, key if whole else that_fit(None, None, batch))
        (told,) = self._table.told(newest_and_success(standing), ("newest", "success", "in_doubt"))
        if told["in_doubt"] or told["success"] is None:
            return None
        ids = {told["newest"], told["success"]}
        events = [Event.from_row({"event": each}) for each in ids]
        found = select_read(map(reading.read, reading.whole(task, events)), batch=batch)
        return found if len(found) == len(ids) else None

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a task that stand for this attempt."""
        check_task(task)
        reading = self._reading
        fits = F.col("attempt_key") == F.lit(attempt_key(attempt))
        events = self._table.events(reading.fitting(task, fits))
        return of_the_attempt(map(reading.read, events), attempt)

    def settled(self, tasks: Sequence[str]) -> Mapping[str, Settled]:
        """Those of the tasks whose newest run is a success, with that run."""
        names = [check_task(task) for task in tasks]
        if not names:
            return {}
        standing = self._reading.table.standing(F.col("task").isin(names))
        rows = self._table.told(
            newest_of_each(standing, looked_at=RUNS_READ),
            ("task", *FIRST_OF_TASK, "in_doubt"),
        )
        return {
            str(row["task"]): Settled(
                run_id=str(row["run_id"]),
                started_at=row["started_at"],
                finished_at=row["ended_at"] or row["started_at"],
                window_end=row["window_end"],
            )
            for row in rows
            if not row["in_doubt"] and row["status"] == Status.SUCCESS and row["started_at"]
        }

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        """Every receipt of a task, a part at a time."""
        check_task(task)
        reading = self._reading
        frame = self._table.standing(of_task(task))
        yield from map(reading.read, self._table.each_event(frame, WHOLE))

    def remove(self, task: str, run_ids: Sequence[str]) -> int:
        """Remove the receipts of these runs, up to a thousand in one commit."""
        parts = in_parts(task, run_ids, at_once=_REMOVED_AT_ONCE)
        return sum(self._table.until_it_holds(partial(self._remove, task, part)) for part in parts)

    def _remove(self, task: str, run_ids: Sequence[str]) -> int:
        runs = self._table.rows().where(of_task(task) & F.col("run_id").isin(list(run_ids)))
        found = self._table.told(runs.select("run_id").distinct(), ("run_id",))
        if found:
            self._table.delete(task, [row["run_id"] for row in found])
        return len(found)

    def compact(self) -> None:
        """Join the small files of all tasks; remove those joined more than a day ago."""
        self._table.until_it_holds(lambda: upkeep.compact(self._table))

    def examine(self) -> Iterator[Finding]:
        """What can be told of the table, and what this store promises."""
        return upkeep.examine(self._table)


def _checked(receipt: Receipt) -> Receipt:
    check_task(receipt.task)
    check_run_id(receipt.run_id)
    return receipt


def open_spark(url: str) -> SparkStore:
    """The store in the table that ``spark:///catalog.schema.table`` names."""
    return SparkStore(table_of(url))
