"""The store: its four methods, and what it offers beyond them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from ubunye_core.names import check_run_id, check_task
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.base import BaseStore, HasClaims, checked, in_parts, of_the_attempt
from ubunye_core.stores.capabilities import Finding, Settled
from ubunye_core.stores.claims import ClaimKey, Held
from ubunye_core.stores.delta import sql, upkeep, writing
from ubunye_core.stores.delta.claims import Claims
from ubunye_core.stores.delta.place import Place, place_of
from ubunye_core.stores.delta.reading import Reading
from ubunye_core.stores.delta.settled import settled
from ubunye_core.stores.delta.shape import of_events
from ubunye_core.stores.delta.table import Table, telling, until_it_holds
from ubunye_core.stores.events import (
    PARTITIONED_BY,
    attempt_key,
    batch_key,
    receipt_of,
    standing_events,
)
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.refusals import only_run

_REMOVED_AT_ONCE = 1_000


class DeltaStore(HasClaims, BaseStore):
    """Receipts in a Delta table, one row for each save.

    A save is a commit: whole, and seen by every process at once. Threads may share a store;
    a process that was forked from one that had used it may not. A table that does not exist is
    ``StoreUnavailableError`` to a reader; a writer makes it.
    """

    heartbeat_every = timedelta(minutes=10)

    def __init__(self, place: Place) -> None:
        self.url = place.url
        self._reads, self._writes = Table(place, of_events(place)), Table(place, of_events(place))
        self._claims: Claims = Claims(self, place)

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends."""
        if writing.save(self._writes, checked(receipt)):
            upkeep.after_an_append(self._writes, (PARTITIONED_BY, receipt.task))

    def save_many(self, receipts: Iterable[Receipt]) -> None:
        """Keep receipts, thousands in one commit."""
        writing.save_many(self._writes, map(checked, receipts))

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        check_task(task)
        check_run_id(run_id)
        reading = self._reading()
        whole = standing_events(reading.of_runs(task, [run_id]))
        if not whole:
            fitting = [*sql.of_task(task), sql.begins_with(run_id)]
            begins = standing_events(reading.events(sql.select(sql.KEYS, fitting)))
            ids = sorted(event.run_id for event in begins)
            only = only_run(ids, run_id, task=task, url=self.url)
            whole = standing_events(reading.of_runs(task, [only]))
        return receipt_of(whole[0], where=reading.where(whole[0]))

    def _search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        return self._reading().search(task, status, since, batch, limit)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        with self._reads.lock:
            table = self._reads.now()
            with telling(self._reads.place, "read"):
                named = {partition["task"] for partition in table.partitions()}
        return sorted(filter(None, named))

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and the newest run of it."""
        check_task(task)
        reading = self._reading()
        key = [f"batch_key = {sql.quoted(batch_key(batch))}"] if whole else []
        newest = reading.search(task, batch=batch, limit=1, more=key)
        if newest.unreadable or not newest:
            return None
        if newest[0].status is Status.SUCCESS:
            return newest
        wins = reading.search(task, Status.SUCCESS, batch=batch, limit=1, more=key)
        return Found([newest[0], *wins]) if wins and not wins.unreadable else None

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a task that stand for this attempt."""
        check_task(task)
        reading = self._reading()
        found = reading.search(task, more=[f"attempt_key = {sql.quoted(attempt_key(attempt))}"])
        return of_the_attempt([*found, *found.unreadable], attempt)

    def settled(self, tasks: Sequence[str]) -> Mapping[str, Settled]:
        """Those of the tasks whose newest run is a success, with that run."""
        names = sorted({check_task(task) for task in tasks})
        return settled(self._reading(), names) if names else {}

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        """Every receipt of a task."""
        check_task(task)
        reading = self._reading()
        yield from map(reading.read, reading.every(task))

    def remove(self, task: str, run_ids: Sequence[str]) -> int:
        """Remove the receipts of these runs, up to a thousand in one commit."""
        parts = in_parts(task, run_ids, at_once=_REMOVED_AT_ONCE)
        return sum(
            until_it_holds(self._writes.place, partial(self._remove, task, part)) for part in parts
        )

    def _remove(self, task: str, run_ids: Sequence[str]) -> int:
        where = [*sql.of_task(task), sql.one_of("run_id", run_ids)]
        with self._writes.lock:
            found = self._writes.snapshot().rows(sql.select(["run_id"], where))
            count = len({row["run_id"] for row in found})
            if count:
                self._writes.delete(" AND ".join(where))
            return count

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now."""
        self._reads.snapshot()  # no table of receipts, no answer
        return super().holder(key)

    def examine(self) -> Iterator[Finding]:
        """Whether it may write, what it promises, and whether its files should be joined."""
        return upkeep.examine(self._reads)

    def compact(self) -> None:
        """Join the small files of all tasks; remove those joined more than a day ago."""
        until_it_holds(self._writes.place, lambda: upkeep.compact(self._writes))
        until_it_holds(self._writes.place, self._claims.compact)

    def _reading(self) -> Reading:
        return Reading(self._reads.snapshot(), self.url)


def open_delta(url: str, *, credentials: Mapping[str, str] | None = None) -> DeltaStore:
    """The store in the Delta table that ``delta+file://`` or ``delta+s3://`` names."""
    return DeltaStore(place_of(url, credentials))
