"""Which receipts belong to an answer. Stores that look at each receipt share this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from ubunye_core.batch import agrees
from ubunye_core.receipt import Receipt, Status
from ubunye_core.runids import A_NAME_SHOWS
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.times import as_utc


def select(
    receipts: Iterable[Receipt],
    unreadable: Iterable[Unreadable],
    *,
    status: Status | None = None,
    since: datetime | None = None,
    batch: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Found:
    """The answer to ``search``: those that fit, and what could be among them and is unreadable.

    Args:
        receipts: What could be read, in any order.
        unreadable: What could not.
        status: As for ``ReceiptStore.search``, and so are ``since``, ``batch`` and ``limit``.
        since: Runs that started at this instant or later.
        batch: Variables as text that must agree.
        limit: The newest so many; damage that is older than all of them is then left out.
    """
    first = None if since is None else as_utc(since)
    wanted = None if status is None else Status(status)
    fitting = sorted(
        (
            receipt
            for receipt in receipts
            if (wanted is None or receipt.status is wanted)
            and (first is None or receipt.started_at >= first)
            and (batch is None or agrees(receipt.variables, batch))
        ),
        key=lambda receipt: receipt.order,
        reverse=True,
    )
    if limit is not None and len(fitting) >= limit:
        fitting = fitting[: max(0, limit)]
        oldest = fitting[-1].started_at if fitting else None
        first = oldest if first is None or oldest is None else max(first, oldest)
    return Found(fitting, (bad for bad in unreadable if could_be_since(bad, first)))


def select_read(
    read: Iterable[Receipt | Unreadable],
    *,
    status: Status | None = None,
    since: datetime | None = None,
    batch: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Found:
    """``select``, of receipts among which stands what could not be read."""
    receipts: list[Receipt] = []
    unreadable: list[Unreadable] = []
    for each in read:
        if isinstance(each, Receipt):
            receipts.append(each)
        else:
            unreadable.append(each)
    return select(receipts, unreadable, status=status, since=since, batch=batch, limit=limit)


def could_be_since(bad: Unreadable, first: datetime | None) -> bool:
    """Whether an unreadable document may belong to a run that started at ``first`` or later."""
    return first is None or bad.started_at is None or first - bad.started_at < A_NAME_SHOWS
