"""Hints: objects that say where to look first. None is believed without looking.

They live apart from the receipts, below ``.hints/``, and all can be made anew. A run is made known
in them *before* its receipt is written, so that a writer that dies leaves a hint that says too
much, never one that says too little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from ubunye_core.batch import Batch
from ubunye_core.errors import StoreUnavailableError
from ubunye_core.receipt import Receipt
from ubunye_core.stores.objects.bucket import Bucket, Stored
from ubunye_core.stores.objects.marks import Marks
from ubunye_core.stores.objects.of_batch import RunsOfBatch, merged
from ubunye_core.stores.objects.patience import turns
from ubunye_core.stores.objects.together import each_of

HINTS = ".hints"

_Hint = TypeVar("_Hint", Marks, RunsOfBatch)


class Hints:
    """The hints of a store."""

    def __init__(self, bucket: Bucket, *, holds_receipts: Callable[[str], bool]) -> None:
        self._bucket, self._holds_receipts = bucket, holds_receipts

    def marks(self, task: str) -> Marks:
        """What is known of a task as a whole; nothing where there is no hint."""
        stored = self._bucket.get(_marks_key(task))
        return (stored and Marks.decode(stored.document)) or Marks()

    def of_batch(self, task: str, batch: Batch) -> RunsOfBatch:
        """The runs of a batch that are to be looked at first; none where there is no hint."""
        stored = self._bucket.get(_batch_key(task, batch))
        return (stored and RunsOfBatch.decode(stored.document)) or RunsOfBatch()

    def make_known(self, receipts: Sequence[Receipt], *, new: bool) -> None:
        """Make runs of one task known, before their receipts are written.

        Args:
            receipts: As they are to be written.
            new: Whether one of them is not on record yet, or was for another batch.
        """
        if new:
            task = receipts[0].task
            self._update(
                _marks_key(task),
                Marks.decode,
                lambda old, stored: self._marked(old, stored, receipts),
            )
        of_batch: dict[str, list[Receipt]] = defaultdict(list)
        for receipt in receipts:
            of_batch[_batch_key(receipt.task, receipt.batch)].append(receipt)
        each_of(
            lambda item: self._update(item[0], RunsOfBatch.decode, partial(_with_runs, item[1])),
            list(of_batch.items()),
        )

    def _marked(
        self, old: Marks | None, stored: Stored | None, receipts: Sequence[Receipt]
    ) -> Marks:
        if old is None:
            is_first = stored is None and not self._holds_receipts(receipts[0].task)
            old = Marks(complete=is_first)
        return old.with_runs(receipts)

    def prepare(self, task: str) -> None:
        """See to it that runs that begin from now on are made known in the hint of a task."""
        self._update(_marks_key(task), Marks.decode, lambda old, _: old or Marks())

    def complete(self, task: str, marks: Marks, batches: dict[Batch, RunsOfBatch]) -> None:
        """Add what a look at all receipts of a task has found, after ``prepare``."""
        keyed = [(_batch_key(task, batch), runs) for batch, runs in batches.items()]
        each_of(
            lambda item: self._update(item[0], RunsOfBatch.decode, partial(_merged_with, item[1])),
            keyed,
        )
        self._update(_marks_key(task), Marks.decode, lambda old, _: _joined(old or Marks(), marks))

    def _update(
        self,
        key: str,
        decode: Callable[[bytes], _Hint | None],
        change: Callable[[_Hint | None, Stored | None], _Hint],
    ) -> None:
        """Change a hint, whoever else changes it at the same time."""
        for _ in turns():
            stored = self._bucket.get(key)
            old = None if stored is None else decode(stored.document)
            changed = change(old, stored)
            if changed == old or self._bucket.write(key, changed.encode(), over=stored):
                return
        raise StoreUnavailableError(f"{self._bucket.where(key)} is written by too many at once.")


def _with_runs(runs: Sequence[Receipt], old: RunsOfBatch | None, _: Stored | None) -> RunsOfBatch:
    return (old or RunsOfBatch()).with_runs(runs)


def _merged_with(found: RunsOfBatch, old: RunsOfBatch | None, _: Stored | None) -> RunsOfBatch:
    return merged(old or RunsOfBatch(), found)


def _joined(old: Marks, found: Marks) -> Marks:
    kinds = None if old.kinds is None or found.kinds is None else old.kinds | found.kinds
    marks = tuple(sorted({*old.marks, *found.marks}))
    joined = Marks(complete=True, others=old.others or found.others, kinds=kinds, marks=marks)
    return joined.with_runs(())


def _marks_key(task: str) -> str:
    return f"{HINTS}/{task}/marks"


def _batch_key(task: str, batch: Batch) -> str:
    return f"{HINTS}/{task}/batches/{batch.digest}"
