"""Whether a batch has succeeded, by way of the hints: two or three objects, and no listing."""

from __future__ import annotations

from collections.abc import Mapping

from ubunye_core.batch import NOT_IN_BATCH, Batch
from ubunye_core.errors import BadReceiptError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.objects.bucket import Bucket
from ubunye_core.stores.objects.hints import Hints
from ubunye_core.stores.objects.of_batch import Known
from ubunye_core.stores.objects.reading import Reader, receipt_key
from ubunye_core.stores.protocol import Found


def success_by_batch(
    task: str,
    wanted: Mapping[str, str],
    *,
    whole: bool,
    bucket: Bucket,
    hints: Hints,
    reader: Reader,
) -> Found | None:
    """The newest success of a batch and its newest run; None where a search has to tell.

    Each run that a hint names is read, and counts as what it is. Where only some variables of the
    batch are asked for, the task's runs must be known to have no others.
    """
    batch = Batch.of(wanted)
    if batch.as_dict() != dict(wanted) or not batch.is_same(batch) or NOT_IN_BATCH & set(wanted):
        return None
    runs = hints.of_batch(task, batch).runs
    if not any(run.may_be_success for run in runs):
        return None
    if not whole and not hints.marks(task).is_only_kind(batch.names):
        return None
    newest: Receipt | None = None
    for run in runs:
        if newest is not None and not run.may_be_success:
            continue
        try:
            receipt = _read(task, run, bucket, reader)
        except BadReceiptError:
            return None
        if receipt is None:  # it was made known, and its writer died
            continue
        if receipt.started_at != run.started_at or not receipt.batch.is_same(batch):
            return None
        newest = newest or receipt
        if receipt.status is Status.SUCCESS:
            return Found({each.order: each for each in (newest, receipt)}.values())
    return None


def _read(task: str, run: Known, bucket: Bucket, reader: Reader) -> Receipt | None:
    key = receipt_key(task, run.run_id)
    stored = bucket.get(key)
    return None if stored is None else reader.decode(key, stored)
