"""A check that compares what is on record, for each batch of the run that it is asked in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg

from ubunye_core import Batch, StoreUnavailableError, Verdict
from ubunye_dagster.checks.definition import answered
from ubunye_dagster.checks.successes import CannotTellError
from ubunye_dagster.metadata import metadata_of
from ubunye_dagster.partitions.batches import batches_of, partitions_of
from ubunye_dagster.partitions.variables import PartitionText, Variables

AskedBatch = dict[str, str] | None
"""The variables of the batch that a check is for; None is any batch."""
Compared = tuple[Verdict, str, Mapping[str, dg.MetadataValue]]
"""What one batch is found to be, why, and what else is shown."""
Compare = Callable[[AskedBatch], Compared]


def batches_asked(context: Any, variables: Variables | None) -> list[AskedBatch]:
    """The batches that a check is for: those of the run's partitions."""
    if context is None or not partitions_of(context):
        if variables is None or callable(variables):
            return [None]
        fixed = {n: v for n, v in variables.items() if not isinstance(v, PartitionText)}
        return [_batch(fixed) or None]
    batches = batches_of(context, variables)
    return [_batch(each.variables) for each in batches]


def compared_for_each(
    batches: Sequence[AskedBatch], compare: Compare, owner: str | None = None
) -> dg.AssetCheckResult:
    """The answer for all batches together: a no beats what cannot be told, and that beats a yes."""
    found = [_compared(compare, batch) for batch in batches]
    ranked = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.PASS)
    worst = min((verdict for verdict, _, _ in found), key=ranked.index)
    said = [reason for verdict, reason, _ in found if verdict is worst]
    reason = said[0] if len(said) == 1 else " ".join([f"{len(said)} of {len(found)}:", *said[:10]])
    shown = {name: value for _, _, more in found for name, value in more.items()}
    return answered(worst, reason, metadata_of(worst, reason, ()) | shown, owner)


def _compared(compare: Compare, batch: AskedBatch) -> Compared:
    try:
        return compare(batch)
    except (CannotTellError, StoreUnavailableError) as error:
        return Verdict.UNKNOWN, str(error), {}


def _batch(variables: Mapping[str, object]) -> dict[str, str]:
    return Batch.of(variables).as_dict()  # type: ignore[arg-type]  # it takes what texts can be made of
