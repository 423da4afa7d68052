"""The rules about ends: which of two records of one run stands.

Every store asks this under a lock of its own, before it writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ubunye_core.errors import BadReceiptError, ReceiptConflictError
from ubunye_core.receipt import Receipt
from ubunye_core.runids import shows_its_start

TAKEN_OVER = "takeover"
"""``ended_by`` of a run whose claim another run has taken over: its own word comes too late."""


def standing(current: Receipt | None, offered: Receipt) -> Receipt | None:
    """What to write, or None when the record that is there stands.

    Args:
        current: What is on record for the run (``on_record``); None where nothing is.
        offered: What is to be saved. Its start gives way to the one on record.

    Raises:
        ReceiptConflictError: the run has ended, and is offered another end; or it is on record
            with other variables, so that it is another run of the same id; or its id shows
            another start than its own, so that no store could find it by its name.
    """
    if current is None:
        _check_that_its_id_shows_its_start(offered)
        return offered
    if current.variables and offered.variables and current.variables != offered.variables:
        raise ReceiptConflictError(
            f"Run {current.run_id} of {current.task} is on record for other data, so this is not "
            f"recorded. A run id stands for one run."
        )
    offered = replace(offered, started_at=current.started_at)  # a start is never reset
    if not current.status.is_final:
        return offered
    if not offered.status.is_final:
        return None
    if _gives_way(current, offered):
        return offered
    if current.status is offered.status:
        return None
    raise ReceiptConflictError(
        f"Run {current.run_id} of {current.task} has ended as {current.status}; "
        f"{offered.status} is not recorded."
    )


def on_record(read: Callable[[], Receipt | None], offered: Receipt) -> Receipt | None:
    """What counts as on record for a run, whose record may be damaged.

    Args:
        read: Reads that record; None where there is none.
        offered: What is to be saved. To a run that ends, a damaged record of its own is none; who
            replaces it keeps a copy.

    Raises:
        BadReceiptError: the record is damaged, and the run goes on.
    """
    try:
        return read()
    except BadReceiptError:
        if not offered.status.is_final:
            raise
        return None


def _gives_way(current: Receipt, offered: Receipt) -> bool:
    """Whether an end on record yields to one that comes later."""
    if current.ended_by in (None, TAKEN_OVER):
        return False
    return offered.ended_by in (None, TAKEN_OVER)


def _check_that_its_id_shows_its_start(receipt: Receipt) -> None:
    if not shows_its_start(receipt.run_id, receipt.started_at):
        raise ReceiptConflictError(
            f"Run id {receipt.run_id} of {receipt.task} is a UUID of version 7, and shows another "
            f"start than {receipt.started_at.isoformat()}, so this is not recorded.",
            hint="Give a run id that shows no time, or none.",
        )
