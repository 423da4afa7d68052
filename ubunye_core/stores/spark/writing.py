"""Saves: look, decide by the rules about ends, append; again where another came first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from pyspark.sql import functions as F  # noqa: N812

from ubunye_core.errors import BadReceiptError, ReceiptConflictError
from ubunye_core.receipt import Receipt
from ubunye_core.stores.events import (
    Event,
    election,
    needs_election,
    next_event,
    standing_events,
)
from ubunye_core.stores.refusals import raise_if_refused
from ubunye_core.stores.spark.reading import Reading, of_task
from ubunye_core.stores.spark.session import LostError
from ubunye_core.times import utc_now

_IN_ONE_COMMIT = 1_000

Refused = ReceiptConflictError | BadReceiptError
Runs = Mapping[tuple[str, str], Event]


def save(reading: Reading, receipt: Receipt) -> None:
    """Save one receipt."""
    table = reading.table

    def once() -> None:
        current = reading.current(receipt.task, receipt.run_id)
        following = _next(reading, current, receipt)
        if following is None:
            return
        if not needs_election(current, following):
            table.append([following])
            return
        table.append([following], elected_by=election(following))
        if not reading.holds(following):  # Spark drops the row of one that came too late
            raise LostError("another was elected")

    table.until_it_holds(once, makes=True)


def save_many(reading: Reading, receipts: Iterable[Receipt]) -> None:
    """Save receipts, many in one commit; those that are refused are told of at the end."""
    rest, refused = iter(receipts), list[Refused]()
    while some := list(islice(rest, _IN_ONE_COMMIT)):
        refused += _save_some(reading, some)
    raise_if_refused(refused)


def _save_some(reading: Reading, receipts: Sequence[Receipt]) -> list[Refused]:
    """Save receipts in one commit; what was refused."""

    def once() -> list[Refused]:
        rows, elected, refused = _decided(reading, receipts, _standing(reading, receipts))
        if not rows:
            return refused
        in_order = sorted(rows.values(), key=lambda each: (each.task, each.event))
        reading.table.append_new(
            [event for event in in_order if (event.task, event.run_id) in elected],
            [event for event in in_order if (event.task, event.run_id) not in elected],
        )
        there = {event.event for event in _events(reading, receipts)}
        if not there.issuperset(event.event for event in in_order):
            raise LostError("others were there first")
        return refused

    return reading.table.until_it_holds(once, makes=True)


def _decided(
    reading: Reading, receipts: Sequence[Receipt], standing: Runs
) -> tuple[Runs, set[tuple[str, str]], list[Refused]]:
    """The row to append for each run, the runs whose row must be elected, and what is refused."""
    known, rows = dict(standing), dict[tuple[str, str], Event]()
    elected, refused = set[tuple[str, str]](), list[Refused]()
    for receipt in receipts:
        run = (receipt.task, receipt.run_id)
        try:
            following = _next(reading, known.get(run), receipt)
        except (ReceiptConflictError, BadReceiptError) as error:
            refused.append(error)
            continue
        if following is not None:
            if needs_election(known.get(run), following):
                elected.add(run)
            known[run] = rows[run] = following
    return rows, elected, refused


def _standing(reading: Reading, receipts: Sequence[Receipt]) -> Runs:
    """The events that stand of the runs of these receipts, whole."""
    return {
        (event.task, event.run_id): event for event in standing_events(_events(reading, receipts))
    }


def _events(reading: Reading, receipts: Sequence[Receipt]) -> list[Event]:
    """All events of the runs of these receipts, whole."""
    ids_of = defaultdict[str, set[str]](set)
    for receipt in receipts:
        ids_of[receipt.task].add(receipt.run_id)
    of_these = F.lit(False)
    for task, ids in ids_of.items():
        of_these = of_these | (of_task(task) & F.col("run_id").isin(sorted(ids)))
    return reading.table.events(reading.table.rows().where(of_these))


def _next(reading: Reading, current: Event | None, receipt: Receipt) -> Event | None:
    where = reading.where(receipt.task, receipt.run_id)
    return next_event(current, receipt, where=where, saved_at=utc_now())
