"""The successes of a task that a check looks at, and why they may not be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from ubunye_core import CLOCK_SKEW, Batch, Found, Receipt, ReceiptStore, Status, Step

LOOKED_AT = 50
"""So many of the newest successes are looked at first for the one before."""


class CannotTellError(Exception):
    """What a check needs is not on record, or cannot be read."""


def newest_of(store: ReceiptStore, task: str, batch: Mapping[str, str] | None) -> Receipt:
    """The newest success of a batch.

    Raises:
        CannotTellError: there is none, or an unreadable receipt may be it.
    """
    found = store.search(task, Status.SUCCESS, batch=batch, limit=1)
    if found and not any(_believed(found)):
        found = store.search(task, Status.SUCCESS, batch=batch)
    for receipt in _believed(found):
        _check_readable(found, since=receipt)
        return receipt
    _check_readable(found, since=None)
    shown = Batch.of(batch or {})
    for_batch = f" for {shown}" if batch else ""
    raise CannotTellError(f"{task} has not succeeded{for_batch}: there is nothing to compare.")


def before(store: ReceiptStore, newest: Receipt, *, same_batch: bool) -> Receipt | None:
    """The newest success before another, of the same batch or of any other; None: none.

    Runs whose batch names nothing are each for other data.

    Raises:
        CannotTellError: an unreadable receipt may be it.
    """
    batch = newest.batch.as_dict() if same_batch else None
    for limit in (LOOKED_AT, None):  # most often the first is enough
        found = store.search(newest.task, Status.SUCCESS, batch=batch, limit=limit)
        for receipt in _believed(found):
            is_same = bool(newest.batch) and receipt.batch.is_same(newest.batch)
            if receipt.order < newest.order and is_same is same_batch:
                _check_readable(found, since=receipt)
                return receipt
        if len(found) < LOOKED_AT:
            break
    _check_readable(found, since=None)
    return None


def output_of(receipt: Receipt, name: str | None) -> Step:
    """An output of a run by its name, else its only one.

    Raises:
        CannotTellError: it has no such output, or several.
    """
    named = [each for each in receipt.outputs if name in (None, each.name)]
    if len(named) == 1:
        return named[0]
    names = ", ".join(each.name for each in receipt.outputs) or "none"
    which = "one output" if name is None else f"an output '{name}'"
    raise CannotTellError(
        f"Run {receipt.run_id} of {receipt.task} has not {which} on record; it has: {names}."
    )


def _believed(found: Found) -> Iterator[Receipt]:
    """Those that are not from the future."""
    latest = datetime.now(UTC) + CLOCK_SKEW
    return (each for each in found if each.started_at <= latest)


def _check_readable(found: Found, *, since: Receipt | None) -> None:
    """Complain of a receipt that cannot be read and may be newer than the one that decides."""
    for bad in found.unreadable:
        if since is None or bad.started_at is None or bad.started_at >= since.started_at:
            raise CannotTellError(f"{bad.where} cannot be read, and may be newer: {bad.why}")
