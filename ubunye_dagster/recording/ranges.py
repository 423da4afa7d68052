"""One run for a range of partitions leaves a receipt for each of them."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ubunye_core import (
    Batch,
    Receipt,
    ReceiptStore,
    RequirementLike,
    Run,
    UpstreamAnswer,
    UpstreamNotMetError,
    Verdict,
    requirements_of,
)
from ubunye_dagster.partitions.batches import PartitionBatch
from ubunye_dagster.upstreams import wait_for_upstreams


class EachPartition:
    """The store, which keeps what it is given once for each partition of a range.

    The recorder records one run, for the first partition. Its copies differ in what says which
    partition it is: the run id, the variables, the window, the scheduler's ids.
    """

    def __init__(self, store: ReceiptStore, batches: Sequence[PartitionBatch]) -> None:
        self._store, self._batches = store, batches

    def save(self, receipt: Receipt) -> None:
        """Keep the receipt, and its copy for each other partition.

        One that cannot be saved keeps none of the others from it.
        """
        first_error: Exception | None = None
        for each in (receipt, *(_copy(receipt, batch) for batch in self._batches[1:])):
            try:
                self._store.save(each)
            except Exception as error:
                first_error = first_error or error
        if first_error is not None:
            raise first_error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class RunOfRange:
    """The run that a function is given for a range: its gate asks for every partition."""

    def __init__(self, run: Run, batches: Sequence[PartitionBatch], store: ReceiptStore) -> None:
        self._run, self._batches, self._store = run, batches, store

    def require(self, requirements: RequirementLike | Iterable[RequirementLike]) -> UpstreamAnswer:
        """Go on only if every upstream has succeeded for every partition.

        Raises:
            UpstreamNotMetError: the run may not go on.
        """
        answer = wait_for_upstreams(
            requirements_of(requirements),
            self._batches,
            store=self._store,
            asker=self._run.task,
            wait="0s",
        )
        if answer.verdict is not Verdict.PASS:
            raise UpstreamNotMetError(answer)
        self._run.pin(answer)
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)


def _copy(receipt: Receipt, batch: PartitionBatch) -> Receipt:
    """The receipt of the same run for another partition."""
    said_of_all = {
        name: value
        for name, value in receipt.variables.items()
        if name not in receipt.batch.names  # such as the mode, and what is masked
    }
    key = "" if batch.partition is None else batch.partition.key
    scheduler = receipt.orchestrator
    return replace(
        receipt,
        run_id=_id_of_copy(receipt.run_id, key),
        variables=said_of_all | Batch.of(batch.variables).as_dict(),  # type: ignore[arg-type]
        window=batch.window,
        orchestrator=scheduler and replace(scheduler, ids={**scheduler.ids, "partition": key}),
    )


def _id_of_copy(run_id: str, key: str) -> str:
    """An id with the same start in it, always the same for the same run and partition."""
    first, copy = uuid.UUID(run_id), hashlib.sha256(f"{run_id}\0{key}".encode()).digest()
    tail = int.from_bytes(copy[:8], "big") & (1 << 62) - 1
    return str(uuid.UUID(int=first.int >> 62 << 62 | tail))
