"""What a store does before a run takes over the claim of another, whose lease has run out."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ubunye_core.errors import (
    AmbiguousRunError,
    BadReceiptError,
    ReceiptConflictError,
    ReceiptNotFoundError,
)
from ubunye_core.receipt import Receipt, Status
from ubunye_core.runids import time_in
from ubunye_core.stores.claims import ClaimKey
from ubunye_core.stores.deciding import KnownClaim
from ubunye_core.stores.ends import TAKEN_OVER
from ubunye_core.stores.protocol import ReceiptStore


def end_of_the_old_holder(
    store: ReceiptStore, key: ClaimKey, lost: KnownClaim, *, now: datetime
) -> None:
    """Record that a run has lost its claim, so that its own end does not save any more.

    Called before the claim changes hands: of two runs that meet here, at most one can then be
    recorded as a success. A run that has ended by its own word keeps it. One that has no receipt
    yet gets one that says ``interrupted``.

    Args:
        store: Where the run is recorded.
        key: What was claimed.
        lost: The claim that has run out. A run that has no receipt began when it took it.
        now: When it is taken over.
    """
    task, run_id = key.task, lost.run_id
    try:
        known = store.load(task, run_id)
        if known.run_id != run_id:  # it only begins like this
            raise ReceiptNotFoundError(run_id)
    except (ReceiptNotFoundError, AmbiguousRunError, BadReceiptError):
        # Several others may begin like this; and an end replaces a damaged record of its own.
        known = Receipt(
            task=task,
            run_id=run_id,
            status=Status.RUNNING,
            started_at=time_in(run_id) or lost.claimed_at,
        )
    if known.status.is_final and known.ended_by is None:
        return
    ended = replace(
        known,
        status=Status.INTERRUPTED,
        ended_at=max(now, known.started_at),
        ended_by=TAKEN_OVER,
        error="Another run took over its claim: its lease had run out.",
    )
    try:
        store.save(ended)
    except ReceiptConflictError:  # it ended by its own word just now, and that stands
        return
