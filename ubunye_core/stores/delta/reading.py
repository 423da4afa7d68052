"""Questions to one snapshot of the table: first which events answer, then their documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ubunye_core.errors import BadReceiptError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.delta import sql
from ubunye_core.stores.delta.table import Snapshot
from ubunye_core.stores.events import Event, receipt_of, standing_events
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.select import select_read

_BY_NAME = 500
"""So many events are asked for by their ids; of more, all of the task's rows are looked through."""
_AT_FIRST, _EVENTS_OF_A_RUN = 16, 3
"""So many events are looked at first for the newest runs: their ends, and a heartbeat or two."""
_TASK_BY_TASK = 8
"""Runs of so many tasks are read by one query each; of more, by one for all."""


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

    def read(self, event: Event) -> Receipt | Unreadable:
        """The receipt of a whole row, or why it is none."""
        try:
            return receipt_of(event, where=self.where(event))
        except BadReceiptError as error:
            return Unreadable.of(error, task=event.task or None, run_id=event.run_id)

    def search(
        self,
        task: str | None,
        status: Status | None = None,
        since: datetime | None = None,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
        *,
        more: Sequence[str] = (),
    ) -> Found:
        """The answer to ``ReceiptStore.search``; ``more`` are further conditions on the columns."""
        wanted = Wanted(status, since, batch, limit)
        open_only = [sql.not_ended(task)] if status is Status.RUNNING else []
        fitting = sql.or_damaged([*sql.that_fit(status, since, batch), *open_only, *more])
        where = [*sql.of_task(task), *fitting]
        if limit is None:
            return self._all(task, where, wanted)
        return Found() if limit <= 0 else self._newest(task, where, wanted, limit)

    def _newest(self, task: str | None, where: Sequence[str], wanted: Wanted, limit: int) -> Found:
        """The newest runs, from the newest events; more of these where they do not suffice.

        A run that fits has an event that fits and starts when it does. So whatever started after
        the last event that was seen is known.
        """
        count = _AT_FIRST + _EVENTS_OF_A_RUN * limit
        while True:
            events = self.events(sql.newest(sql.select(sql.KEYS, where), count))
            if len(events) < count:
                return self._all(task, where, wanted)
            known_after = events[-1].started_at
            runs = {
                (event.task, event.run_id) for event in events if event.started_at != known_after
            }
            if len(runs) >= limit:
                found = wanted.of(map(self.read, self.of_all(runs)))
                if sum(each.started_at > known_after for each in found if known_after) >= limit:
                    return found
            count *= 4

    def _all(self, task: str | None, where: Sequence[str], wanted: Wanted) -> Found:
        """All runs that fit."""
        rows = self._snapshot.rows(sql.select(("task", "run_id"), where))
        runs = {(row["task"] or "", row["run_id"] or "") for row in rows}
        if len(runs) <= _BY_NAME:
            return wanted.of(map(self.read, self.of_all(runs)))
        every = standing_events(self.events(sql.select(sql.KEYS, sql.of_task(task))))
        standing = [event for event in every if (event.task, event.run_id) in runs]
        return wanted.of(map(self.read, self.whole(task, standing)))

    def of_all(self, runs: Iterable[tuple[str, str]]) -> Iterator[Event]:
        """The events that stand, whole, of runs of any tasks."""
        by_task = defaultdict[str, list[str]](list)
        for task, run_id in runs:
            by_task[task].append(run_id)
        if len(by_task) > _TASK_BY_TASK:
            ids = {run_id for _, run_id in runs}
            wanted = set(runs)
            for event in standing_events(self._of_ids([], ids)):
                if (event.task, event.run_id) in wanted:
                    yield event
            return
        for task, ids_of_task in by_task.items():
            yield from standing_events(self.of_runs(task, ids_of_task))

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
        events = self.events(sql.select(sql.KEYS, sql.of_task(task)))
        yield from self.whole(task, standing_events(events))

    def of_runs(self, task: str, run_ids: Iterable[str]) -> list[Event]:
        """All events of these runs, whole."""
        return self._of_ids([_is(task)], run_ids)

    def _of_ids(self, where: Sequence[str], run_ids: Iterable[str]) -> list[Event]:
        ids, found = sorted(set(run_ids)), list[Event]()
        for first in range(0, len(ids), _BY_NAME):
            part = ids[first : first + _BY_NAME]
            if part[0]:
                low, high = sql.quoted(part[0]), sql.quoted(part[-1])
                named = f"run_id >= {low} AND run_id <= {high} AND {sql.one_of('run_id', part)}"
            else:  # a row without a name, which compares with nothing
                named = sql.one_of("coalesce(run_id, '')", part)
            found += self.events(sql.select(sql.WHOLE, [*where, named]))
        return found


@dataclass(frozen=True)
class Wanted:
    """What a search asks for."""

    status: Status | None = None
    since: datetime | None = None
    batch: Mapping[str, str] | None = None
    limit: int | None = None

    def of(self, read: Iterable[Receipt | Unreadable]) -> Found:
        """The answer, from what was read."""
        return select_read(
            read, status=self.status, since=self.since, batch=self.batch, limit=self.limit
        )


def _is(task: str) -> str:
    """The condition of a task, also of rows that name none."""
    return f"task = {sql.quoted(task)}" if task else "(task IS NULL OR task = '')"


def _within(ids: Iterable[str]) -> str:
    """Ids sort by time: a range leaves out most files, and most of a file."""
    ordered = sorted(ids)
    return f"event >= {sql.quoted(ordered[0])} AND event <= {sql.quoted(ordered[-1])}"
