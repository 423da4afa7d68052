"""Put on record what a run did not tell itself: its process was killed, or it never ran."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ubunye_core.batch import texts_of
from ubunye_core.errors import ReceiptConflictError
from ubunye_core.masking import clean_text, masked_variables, secrets_of
from ubunye_core.receipt import Orchestrator, Receipt, Status, TriggeredBy, Window
from ubunye_core.recording.beginning import new_id, without_secrets_in
from ubunye_core.recording.circumstances import recorder
from ubunye_core.stores.attempts import receipts_of_attempt
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.times import utc_now


def end_attempt(
    task: str, attempt: Orchestrator, *, ended_by: str, reason: str, store: ReceiptStore
) -> list[Receipt]:
    """End as ``interrupted`` what a scheduler's attempt has left open.

    If the run lives after all, its own later word stands.

    Args:
        task: The run's task.
        attempt: The scheduler's names for the attempt.
        ended_by: Who says that it is over.
        reason: Why, for whoever reads the receipt.
        store: Where its receipts are.

    Returns:
        Every receipt of the attempt as it stands now, the newest first; none where the attempt
        has left none.

    Raises:
        StoreUnavailableError: they cannot be read or written.
    """
    found = receipts_of_attempt(attempt, task, store)
    for receipt in found:
        if not receipt.status.is_final:
            ended = replace(
                receipt,
                status=Status.INTERRUPTED,
                ended_at=utc_now(),
                ended_by=ended_by,
                error=clean_text(reason),
            )
            with contextlib.suppress(ReceiptConflictError):  # it has ended meanwhile
                store.save(ended)
    return list(receipts_of_attempt(attempt, task, store))


def record_afterwards(
    task: str,
    status: Status,
    *,
    reason: str,
    ended_by: str,
    store: ReceiptStore,
    started_at: datetime | None = None,
    variables: Mapping[str, object] | None = None,
    window: Window | None = None,
    triggered_by: TriggeredBy | None = None,
    orchestrator: Orchestrator | None = None,
    outcome: str | None = None,
) -> Receipt:
    """Record a run that has left no receipt, and ended other than by success.

    Args:
        task: ``usecase/package/task_name``.
        status: ``interrupted``, ``error`` or ``skipped``. Only the run itself can say that it
            succeeded.
        reason: Why it did not succeed, or did not run.
        ended_by: Who says so.
        store: Where the receipt is kept.
        started_at: When it started; now unless it is known.
        variables: Which data it was for.
        window: The period of data it was for.
        triggered_by: Who or what started it, or decided that it need not run.
        orchestrator: The scheduler's names for the attempt.
        outcome: A finer word than the status.

    Raises:
        ValueError: the status is ``success`` or ``running``.
        ConfigError: a name or a value is wrong.
        StoreUnavailableError: the receipt cannot be written.
    """
    if status in (Status.SUCCESS, Status.RUNNING):
        raise ValueError(f"Only the run itself can say '{status}'.")
    texts, now = texts_of(variables), utc_now()
    secrets = secrets_of(texts)
    begun = min(started_at or now, now)
    receipt = Receipt(
        task=task,
        run_id=new_id(orchestrator, begun),
        status=status,
        started_at=begun,
        ended_at=now,
        variables=masked_variables(texts),
        window=window,
        triggered_by=triggered_by and without_secrets_in(triggered_by, secrets),
        orchestrator=orchestrator,
        outcome=outcome,
        ended_by=ended_by,
        error=clean_text(reason, secrets),
        recorder=recorder(),
    )
    store.save(receipt)
    return receipt
