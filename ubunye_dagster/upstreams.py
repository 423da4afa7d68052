"""Ask core whether upstreams have succeeded, for each partition that a step runs for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from ubunye_core import (
    ReceiptStore,
    Requirement,
    UpstreamAnswer,
    Verdict,
    wait_for_upstream,
)
from ubunye_dagster.partitions.batches import PartitionBatch


def wait_for_upstreams(
    requires: Sequence[Requirement],
    batches: Sequence[PartitionBatch],
    *,
    store: ReceiptStore,
    asker: str | None = None,
    wait: timedelta | str | None = None,
) -> UpstreamAnswer:
    """Whether every upstream has succeeded for every partition.

    The partitions of a range wait together, as long as one of them would.

    Args:
        requires: The upstreams.
        batches: The variables for each partition.
        store: Where the receipts are.
        asker: The task that asks; a pattern does not name it.
        wait: How long to keep looking; None leaves each requirement its own ``wait``.
    """
    if wait is not None:
        requires = [replace(each, wait=wait) for each in requires]
    if len(batches) == 1:
        (batch,) = batches
        return wait_for_upstream(
            requires, variables=batch.variables, window=batch.window, store=store, asker=asker
        )
    deadline = datetime.now(UTC) + max(each.length for each in requires)
    answers = [
        wait_for_upstream(
            requires,
            variables=batch.variables,
            window=batch.window,
            store=store,
            asker=asker,
            deadline=deadline,
        )
        for batch in batches
    ]
    lacking = [
        (batch.partition, answer)
        for batch, answer in zip(batches, answers, strict=True)
        if answer.verdict is not Verdict.PASS
    ]
    if not lacking:
        reason = f"All {len(answers)} partitions pass. {answers[-1].reason}"
    else:
        said = [
            f"{partition.key if partition else ''}: {answer.reason}"
            for partition, answer in lacking
        ]
        reason = f"{len(lacking)} of {len(answers)} partitions may not run. {' '.join(said)}"
    shut = [answer for _, answer in lacking]
    failed = [answer for answer in shut if answer.verdict is Verdict.FAIL]
    return replace(
        [*failed, *shut, answers[-1]][0],
        reason=reason,
        requirements=tuple(each for answer in answers for each in answer.requirements),
    )
