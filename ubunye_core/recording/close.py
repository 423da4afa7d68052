"""Mark a run that died without a word as interrupted, by hand."""

from __future__ import annotations

from dataclasses import replace

from ubunye_core.errors import ConfigError
from ubunye_core.masking import clean_text
from ubunye_core.receipt import Receipt, Status
from ubunye_core.recording.circumstances import os_user
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.times import utc_now


def close_run(
    task: str, run_id: str, *, reason: str, store: ReceiptStore, actor: str | None = None
) -> Receipt:
    """End a run that says ``running`` and is not: ``interrupted``, ended by ``close``.

    If the run lives after all, its own later word stands.

    Args:
        task: The run's task.
        run_id: Its id, or a beginning that fits one run only.
        reason: Why, for whoever reads the receipt.
        store: Where the receipt is.
        actor: Who closes it; by default the user of this process.

    Raises:
        ConfigError: the run has ended, or no reason is given.
        ReceiptNotFoundError: there is no such run.
    """
    if not reason.strip():
        raise ConfigError("Closing a run needs a reason.", hint="Give --reason.")
    receipt = store.load(task, run_id)
    if receipt.status.is_final:
        raise ConfigError(f"Run {receipt.run_id} of {task} has ended already: {receipt.status}.")
    by = actor or os_user()
    closed = replace(
        receipt,
        status=Status.INTERRUPTED,
        ended_at=utc_now(),
        ended_by="close",
        error=clean_text(f"closed by {by}: {reason}"),
    )
    store.save(closed)
    return closed
