"""Reading: which objects are receipts, which of them to read, and what stands in them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from ubunye_core.codec import decode
from ubunye_core.errors import BadReceiptError
from ubunye_core.names import check_run_id, check_task, is_segment, is_task
from ubunye_core.receipt import Receipt
from ubunye_core.runids import A_NAME_SHOWS, time_in
from ubunye_core.stores.objects.bucket import Bucket, Listed, Stored
from ubunye_core.stores.objects.facts import Fact, Facts, Wanted
from ubunye_core.stores.objects.hints import Hints
from ubunye_core.stores.objects.kept import read_facts
from ubunye_core.stores.objects.marks import before
from ubunye_core.stores.objects.together import each_of
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.refusals import printable
from ubunye_core.stores.select import select

SUFFIX = ".json"
CHUNK = 256
_LEAST = 16
_MANY = 100
_AGAIN = 300.0
_CLOCKS = timedelta(days=1)
"""By how much the clocks of a writer and of the server may differ, generously."""


def receipt_key(task: str, run_id: str) -> str:
    """The key of a receipt. Both names are checked."""
    return f"{check_task(task)}/{check_run_id(run_id)}{SUFFIX}"


class Reader:
    """Finds and reads the receipts of a bucket. Remembers only facts of runs that have ended."""

    def __init__(self, bucket: Bucket, hints: Hints) -> None:
        self._bucket, self._hints, self._facts = bucket, hints, Facts()
        self._brought: dict[str, float] = {}

    def entries(self, task: str, *, after: str | None = None) -> Iterator[list[Listed]]:
        """The objects that are a task's receipts, by key, in pages."""
        place = f"{task}/"
        start = None if after is None else place + after
        for page in self._bucket.listed(task, after=start):
            yield [each for each in page if _is_receipt(each.key, place)]

    def holds_receipts(self, task: str) -> bool:
        """Whether a task has a receipt, readable or not."""
        return any(page for page in self.entries(task))

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        packages = [
            f"{usecase}/{package}"
            for usecase in self._folders("")
            for package in self._folders(usecase)
        ]
        named = [
            f"{package}/{name}"
            for package, names in zip(packages, each_of(self._folders, packages), strict=True)
            for name in names
        ]
        tasks = sorted(filter(is_task, named or self._tasks_of_all_keys()))
        holds = each_of(self.holds_receipts, tasks)
        return [task for task, held in zip(tasks, holds, strict=True) if held]

    def _folders(self, folder: str) -> list[str]:
        return [name for name in self._bucket.folders(folder) if is_segment(name)]

    def _tasks_of_all_keys(self) -> set[str]:
        """What could be a task, by all keys: some servers show no folder that holds only folders.

        In a store without receipts that is a page.
        """
        keys = (each.key for page in self._bucket.listed("") for each in page)
        return {key.rpartition("/")[0] for key in keys}

    def search(self, task: str, wanted: Wanted, limit: int | None) -> Found:
        """The newest receipts of a task that fit, and what is unreadable among them."""
        is_plain = wanted == Wanted() and limit
        if is_plain or wanted.since is not None:
            marks = self._hints.marks(task)
            start = before(wanted.since) if wanted.since else marks.start_for(limit or 0)
            if marks.tells_start() and start is not None:
                found = self._after(task, start, wanted, limit)
                if found is not None:
                    return found
        listed = [each for page in self.entries(task) for each in page]
        if limit is None and wanted != Wanted():
            self._bring_facts(task, listed)
        return self._found(task, listed, wanted, limit)

    def facts(self, task: str) -> dict[str, Fact]:
        """What is known of a task's receipts, by key."""
        return self._facts.of_task(task)

    def _bring_facts(self, task: str, listed: list[Listed]) -> None:
        """Take over the facts that a repair has kept, where many objects would have to be read."""
        unknown = sum(not self._facts.is_known(task, each) for each in listed)
        then = self._brought.get(task)
        if unknown > _MANY and (then is None or time.monotonic() - then > _AGAIN):
            self._brought[task] = time.monotonic()
            self._facts.add(task, read_facts(self._bucket, task))

    def _after(self, task: str, start: str, wanted: Wanted, limit: int | None) -> Found | None:
        """The answer from the names after this one; None where earlier ones may belong to it."""
        tail = [each for page in self.entries(task, after=start) for each in page]
        if any(time_in(run_of(each.key)) is None for each in tail):
            return None  # somebody else has brought receipts: names do not tell
        if wanted.since is None and len(tail) < (limit or 0):
            return None
        found = self._found(task, tail, wanted, limit)
        if wanted.since is not None:
            return found
        first = time_in(start)
        is_enough = len(found) == limit and first and found[-1].started_at - first > A_NAME_SHOWS
        return found if is_enough else None

    def _found(self, task: str, listed: list[Listed], wanted: Wanted, limit: int | None) -> Found:
        """The answer among these objects. Those that cannot belong to it are not read."""
        ordered = sorted(((_latest_start(each), each) for each in listed), key=_by_start)
        receipts: list[Receipt] = []
        unreadable: list[Unreadable] = []
        done = 0
        while done < len(ordered):
            is_full = limit is not None and len(receipts) >= max(1, limit)
            oldest = receipts[-1].started_at if is_full else wanted.since
            size = CHUNK if limit is None else min(CHUNK, max(_LEAST, limit))
            chunk = [
                each
                for latest, each in ordered[done : done + size]
                if oldest is None or latest >= oldest
            ]
            if not chunk:
                break
            done += size
            asked = [each for each in chunk if not self._facts.rule_out(task, each, wanted)]
            for look in each_of(lambda each: self.look(task, each), asked):
                if isinstance(look, Receipt):
                    receipts.append(look)
                elif look is not None:
                    unreadable.append(look)
            receipts = _best(receipts, wanted, limit)
        return select(
            receipts,
            unreadable,
            status=wanted.status,
            since=wanted.since,
            batch=wanted.batch,
            limit=limit,
        )

    def look(self, task: str, listed: Listed) -> Receipt | Unreadable | None:
        """One receipt, or why it cannot be read; None if it has gone since it was listed."""
        run_id = run_of(listed.key)
        try:
            if not is_segment(run_id):
                raise BadReceiptError(self._bucket.where(listed.key), "its name is no run id")
            stored = self._bucket.get(listed.key)
            if stored is None:
                return None
            receipt = self.decode(listed.key, stored)
        except BadReceiptError as error:
            return Unreadable(
                where=printable(error.where), why=error.why, task=task, started_at=time_in(run_id)
            )
        if stored.e_tag == listed.e_tag:
            self._facts.learn(task, listed, receipt)
        return receipt

    def decode(self, key: str, stored: Stored) -> Receipt:
        """The receipt in an object.

        Raises:
            BadReceiptError: it cannot be read, or is not the receipt that its key says.
        """
        where = self._bucket.where(key)
        receipt = decode(stored.document, where=where)
        if receipt_key(receipt.task, receipt.run_id) != key:
            raise BadReceiptError(where, "its key is not the task and run id that stand in it")
        return receipt

    def beginning_with(self, task: str, run_id: str) -> list[str]:
        """The names of a task's receipts that begin like this."""
        fitting = []
        for page in self.entries(task, after=run_id):
            for each in page:
                name = run_of(each.key)
                if name.startswith(run_id):
                    fitting.append(name)
                elif name > run_id:  # keys come in order
                    return fitting
        return fitting


def run_of(key: str) -> str:
    """The run id in the key of a receipt."""
    return key.rpartition("/")[2].removesuffix(SUFFIX)


def _is_receipt(key: str, place: str) -> bool:
    name = key.removeprefix(place)
    return name.endswith(SUFFIX) and not name.startswith(".") and "/" not in name


def _latest_start(listed: Listed) -> datetime:
    """When the run of an object started at the latest: its id shows it, or when it was written."""
    shown = time_in(run_of(listed.key))
    return listed.modified + _CLOCKS if shown is None else shown + A_NAME_SHOWS


def _by_start(pair: tuple[datetime, Listed]) -> tuple[float, str]:
    return (-pair[0].timestamp(), pair[1].key)


def _best(receipts: Iterable[Receipt], wanted: Wanted, limit: int | None) -> list[Receipt]:
    """Those that fit, newest first, and no more than are asked for."""
    fitting = select(
        receipts, (), status=wanted.status, since=wanted.since, batch=wanted.batch, limit=limit
    )
    return list(fitting)
