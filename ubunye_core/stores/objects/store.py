"""A store in a bucket: ``<usecase>/<package>/<task>/<run_id>.json`` below a prefix.

Beside the receipts, ``.hints/`` says where to look first, ``.claims/`` holds claims, and
``.damaged/`` what a run's end has replaced. Nothing there is ever taken for a receipt.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from ubunye_core.codec import encode
from ubunye_core.errors import (
    BadReceiptError,
    ReceiptConflictError,
    StoreUnavailableError,
)
from ubunye_core.names import check_task
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.base import BaseStore, HasClaims
from ubunye_core.stores.capabilities import Finding, Repaired
from ubunye_core.stores.ends import on_record, standing
from ubunye_core.stores.objects.address import read_address
from ubunye_core.stores.objects.bucket import Bucket, Stored
from ubunye_core.stores.objects.examine import examine
from ubunye_core.stores.objects.facts import Wanted
from ubunye_core.stores.objects.hints import Hints
from ubunye_core.stores.objects.leases import Leases
from ubunye_core.stores.objects.patience import turns
from ubunye_core.stores.objects.reading import CHUNK, SUFFIX, Reader, receipt_key
from ubunye_core.stores.objects.repair import repair
from ubunye_core.stores.objects.success import success_by_batch
from ubunye_core.stores.objects.together import each_of
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.refusals import not_found, only_run, raise_if_refused
from ubunye_core.stores.select import select_read

DAMAGED = ".damaged"
_TASKS_AT_ONCE = 8


class ObjectStore(HasClaims, BaseStore):
    """Receipts in a bucket that several schedulers may share.

    Every write is a compare-and-set, so that writers at the same time lose nothing; a server that
    cannot do this is refused by the first write. To ask questions, the rights to list the bucket
    and to get its objects are enough. No listing is kept.
    """

    def __init__(self, bucket: Bucket) -> None:
        self.url = bucket.address.url
        self._bucket = bucket
        self._hints = Hints(bucket, holds_receipts=self._holds_receipts)
        self._reader = Reader(bucket, self._hints)
        self._claims: Leases = Leases(bucket, self)

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends. Who comes second reads again."""
        self._save(receipt)

    def save_many(self, receipts: Iterable[Receipt]) -> None:
        """``save`` for each, several at the same time."""
        refused: list[ReceiptConflictError | BadReceiptError] = []
        waiting: list[Receipt] = []
        for receipt in receipts:
            waiting.append(receipt)
            if len(waiting) >= CHUNK:
                refused += self._save_together(waiting)
                waiting = []
        refused += self._save_together(waiting)
        raise_if_refused(refused)

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        key = receipt_key(task, run_id)
        stored = self._bucket.get(key)
        if stored is not None:
            return self._reader.decode(key, stored)
        fitting = self._reader.beginning_with(task, run_id)
        key = f"{task}/{only_run(fitting, run_id, task=task, url=self.url)}{SUFFIX}"
        stored = self._bucket.get(key)
        if stored is None:
            raise not_found(run_id, task=task, url=self.url)
        return self._reader.decode(key, stored)

    def _search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        wanted = Wanted(status=status, since=since, batch=batch)
        if task is not None:
            return self._reader.search(task, wanted, limit)
        found = each_of(
            lambda each: self._reader.search(each, wanted, limit), self.tasks(), _TASKS_AT_ONCE
        )
        read = (each for part in found for each in (*part, *part.unreadable))
        return select_read(read, since=since, limit=limit)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        return self._reader.tasks()

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and its newest run, where the hints lead to them."""
        return success_by_batch(
            check_task(task), batch, whole=whole, bucket=self._bucket, hints=self._hints,
            reader=self._reader,
        )  # fmt: skip

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        """Every receipt of a task, as it is listed."""
        for page in self._reader.entries(check_task(task)):
            for start in range(0, len(page), CHUNK):
                part = page[start : start + CHUNK]
                for look in each_of(partial(self._reader.look, task), part):
                    if look is not None:
                        yield look

    def remove(self, task: str, run_ids: Sequence[str]) -> int:
        """Remove the receipts of these runs."""
        keys = {receipt_key(task, run_id) for run_id in run_ids}
        there = [
            each.key for page in self._reader.entries(task) for each in page if each.key in keys
        ]
        self._bucket.delete(there)
        return len(there)

    def repair(self, *, set_aside: bool = False) -> Repaired:
        """Complete the hints from the receipts; move damage below ``.damaged/``."""
        return repair(
            self.tasks(), self._bucket, self._hints, self._reader, aside=DAMAGED * set_aside
        )

    def examine(self) -> Iterator[Finding]:
        """What can be told of the bucket and its server."""
        return examine(self._bucket, self._claims)

    def _save(self, receipt: Receipt, *, is_known: bool = False) -> None:
        """Save a receipt; ``is_known``: just as it is, it has been made known."""
        key = receipt_key(receipt.task, receipt.run_id)
        for _ in turns():
            stored = self._bucket.get(key)
            current = self._current(key, stored, receipt)
            stands = standing(current, receipt)
            if stands is None:
                return
            if _is_to_be_known(current, stands) and not (is_known and stands == receipt):
                self._hints.make_known([stands], new=_is_new(current, stands))
            if stored is not None and current is None:
                self._keep_aside(key, stored)
            if self._bucket.write(key, encode(stands), over=stored):
                return
        raise StoreUnavailableError(f"{self._bucket.where(key)} is written by too many at once.")

    def _save_together(
        self, receipts: Sequence[Receipt]
    ) -> list[ReceiptConflictError | BadReceiptError]:
        """Save some receipts, made known together; returns why some were refused."""
        of_task: dict[str, list[Receipt]] = defaultdict(list)
        of_run: dict[tuple[str, str], list[Receipt]] = defaultdict(list)
        for receipt in receipts:
            receipt_key(receipt.task, receipt.run_id)
            of_task[receipt.task].append(receipt)
            of_run[receipt.task, receipt.run_id].append(receipt)
        for runs in of_task.values():
            self._hints.make_known(runs, new=True)
        refused: list[ReceiptConflictError | BadReceiptError] = []

        def save(of_one_run: Sequence[Receipt]) -> None:
            for receipt in of_one_run:
                try:
                    self._save(receipt, is_known=True)
                except (ReceiptConflictError, BadReceiptError) as error:
                    refused.append(error)

        each_of(save, list(of_run.values()))
        return refused

    def _current(self, key: str, stored: Stored | None, offered: Receipt) -> Receipt | None:
        """What stands for a run."""
        if stored is None:
            return None
        return on_record(partial(self._reader.decode, key, stored), offered)

    def _keep_aside(self, key: str, damaged: Stored) -> None:
        """Keep a copy of a damaged record before it is replaced."""
        aside = f"{DAMAGED}/{key}.{os.urandom(4).hex()}"
        self._bucket.write(aside, damaged.document, over=None)

    def _holds_receipts(self, task: str) -> bool:
        return self._reader.holds_receipts(task)


def _is_to_be_known(current: Receipt | None, stands: Receipt) -> bool:
    """Whether a save tells the hints something: a new run, another batch, or a success."""
    return (
        current is None
        or current.batch != stands.batch
        or (stands.status is Status.SUCCESS and current.status is not Status.SUCCESS)
    )


def _is_new(current: Receipt | None, stands: Receipt) -> bool:
    return current is None or current.batch.names != stands.batch.names


def open_objects(url: str, *, credentials: Mapping[str, str] | None = None) -> ObjectStore:
    """The store in a bucket. Nothing is asked of the bucket yet."""
    return ObjectStore(Bucket(read_address(url, credentials)))
