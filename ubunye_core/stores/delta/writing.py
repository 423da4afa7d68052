"""Saves: look, decide by the rules about ends, append; again where another came first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from ubunye_core.errors import BadReceiptError, ReceiptConflictError
from ubunye_core.receipt import Receipt
from ubunye_core.stores.delta.reading import Reading
from ubunye_core.stores.delta.table import Snapshot, Table, until_it_holds
from ubunye_core.stores.events import (
    Event,
    election,
    needs_election,
    next_event,
    standing_events,
)
from ubunye_core.stores.refusals import raise_if_refused
from ubunye_core.times import utc_now

_IN_ONE_COMMIT = 10_000


def save(table: Table, receipt: Receipt) -> bool:
    """Save one receipt; whether anything was appended."""

    def once() -> bool:
        with table.lock:
            reading = Reading(Snapshot(table.place, table.made()), table.place.url)
            known = standing_events(reading.of_runs(receipt.task, [receipt.run_id]))
            current = known[0] if known else None
            following = _next(reading, current, receipt)
            if following is None:
                return False
            elected = [following] if needs_election(current, following) else []
            table.append([following.as_row()], elected_by=dict(map(election, elected)))
            return True

    return until_it_holds(table.place, once)


def save_many(table: Table, receipts: Iterable[Receipt]) -> None:
    """Save receipts, many in one commit; those that are refused are told of at the end.

    The table is made, also where there are none.
    """
    with table.lock:
        table.made()
    rest, refused = iter(receipts), list[ReceiptConflictError | BadReceiptError]()
    while some := list(islice(rest, _IN_ONE_COMMIT)):
        refused += until_it_holds(table.place, lambda some=some: _save_some(table, some))  # type: ignore[misc]
    raise_if_refused(refused)


def _save_some(
    table: Table, receipts: Sequence[Receipt]
) -> list[ReceiptConflictError | BadReceiptError]:
    """Save receipts in one commit; what was refused."""
    with table.lock:
        reading = Reading(Snapshot(table.place, table.made()), table.place.url)
        by_task = defaultdict[str, list[str]](list)
        for receipt in receipts:
            by_task[receipt.task].append(receipt.run_id)
        standing = {
            (event.task, event.run_id): event
            for task, run_ids in by_task.items()
            for event in standing_events(reading.of_runs(task, run_ids))
        }
        refused = list[ReceiptConflictError | BadReceiptError]()
        rows, elected = dict[tuple[str, str], Event](), dict[str, int]()
        for receipt in receipts:
            key = (receipt.task, receipt.run_id)
            try:
                following = _next(reading, standing.get(key), receipt)
            except (ReceiptConflictError, BadReceiptError) as error:
                refused.append(error)
                continue
            if following is not None:
                if needs_election(standing.get(key), following):
                    elected |= [election(following)]
                standing[key] = rows[key] = following
        if rows:
            in_order = sorted(rows.values(), key=lambda each: (each.task, each.event))
            table.append([event.as_row() for event in in_order], elected_by=elected)
        return refused


def _next(reading: Reading, current: Event | None, receipt: Receipt) -> Event | None:
    place = Event(task=receipt.task, run_id=receipt.run_id, event="")
    return next_event(current, receipt, where=reading.where(place), saved_at=utc_now())
