"""Repair: hints from the receipts themselves, and damage out of the way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from ubunye_core.batch import Batch
from ubunye_core.receipt import Receipt
from ubunye_core.stores.capabilities import Repaired
from ubunye_core.stores.objects.bucket import Bucket, Listed
from ubunye_core.stores.objects.hints import Hints
from ubunye_core.stores.objects.kept import write_facts
from ubunye_core.stores.objects.marks import Marks
from ubunye_core.stores.objects.of_batch import RunsOfBatch
from ubunye_core.stores.objects.reading import CHUNK, Reader
from ubunye_core.stores.objects.together import each_of
from ubunye_core.stores.protocol import Unreadable


def repair(
    tasks: Sequence[str], bucket: Bucket, hints: Hints, reader: Reader, *, aside: str
) -> Repaired:
    """Complete the hints of tasks, and move damage below ``aside``, if one is given.

    Runs that are recorded meanwhile are made known by their own writers. What a hint says too much
    stays: it costs a look, and no answer hangs on it.
    """
    count, moved, left = 0, [], []
    for task in tasks:
        hints.prepare(task)
        marks = Marks()
        batches: dict[Batch, RunsOfBatch] = defaultdict(RunsOfBatch)
        damaged: list[tuple[Listed, Unreadable]] = []
        there: set[str] = set()
        for page in reader.entries(task):
            for start in range(0, len(page), CHUNK):
                part = page[start : start + CHUNK]
                looks = each_of(partial(reader.look, task), part)
                runs = [look for look in looks if isinstance(look, Receipt)]
                marks = marks.with_runs(runs)
                for run in runs:
                    batches[run.batch] = batches[run.batch].with_runs([run])
                count += len(runs)
                there |= {listed.key for listed in part}
                damaged += [
                    (listed, look)
                    for listed, look in zip(part, looks, strict=True)
                    if isinstance(look, Unreadable)
                ]
        for listed, bad in damaged:
            place = _moved(listed, bucket, aside) if aside else None
            if place is None:
                left.append(bad)
            else:
                moved.append(place)
        hints.complete(task, marks, batches)
        write_facts(bucket, task, {k: f for k, f in reader.facts(task).items() if k in there})
    return Repaired(hints=count, set_aside=tuple(moved), left=tuple(left))


def _moved(listed: Listed, bucket: Bucket, aside: str) -> str | None:
    """Where a damaged object was moved to; None if it has changed meanwhile."""
    stored = bucket.get(listed.key)
    if stored is None or stored.e_tag != listed.e_tag:
        return None
    place = f"{aside}/{listed.key}"
    if not bucket.write(place, stored.document, over=bucket.get(place)):
        return None
    bucket.delete([listed.key])
    return bucket.where(place)
