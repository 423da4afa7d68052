"""The rules about ends: which of two records of one run stands.

Every store asks this under a lock of its own, before it writes.
"""

from __future__ import annotations

from dataclasses import replace

from ubunye_core.errors import ReceiptConflictError
from ubunye_core.receipt import Receipt


def standing(current: Receipt | None, offered: Receipt) -> Receipt | None:
    """What to write, or None when the record that is there stands.

    Args:
        current: What is on record for the run; None where nothing is. A damaged record counts as
            nothing to a run that ends, and is an error to one that goes on.
        offered: What is to be saved. Its start gives way to the one on record.

    Raises:
        ReceiptConflictError: the run has ended, and is offered another end; or it is on record
            with other variables, so that it is another run of the same id.
    """
    if current is None:
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
    if current.ended_by is not None and offered.ended_by is None:
        return offered
    if current.status is offered.status:
        return None
    raise ReceiptConflictError(
        f"Run {current.run_id} of {current.task} has ended as {current.status}; "
        f"{offered.status} is not recorded."
    )
