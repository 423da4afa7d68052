"""A folder of receipts.

A receipt is ``<usecase>/<package>/<task>/<run_id>.json``. Beside the receipts of a task, ``.locks``
holds the locks of writers, ``.tmp`` files that are being written, ``.hints`` what is known of runs
(any of it may be removed at any time), ``.claims`` who may run which batch, and
``<run_id>.json.<id>.damaged`` is a damaged receipt that was set aside. Nothing that does not end in
``.json``, or begins with a dot, is looked at as a receipt.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from ubunye_core.names import check_run_id, check_task
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.base import BaseStore, HasClaims
from ubunye_core.stores.capabilities import Finding, Repaired, Settled
from ubunye_core.stores.files import upkeep
from ubunye_core.stores.files.claims import Claims
from ubunye_core.stores.files.documents import look, read
from ubunye_core.stores.files.examining import examine
from ubunye_core.stores.files.facts import Facts
from ubunye_core.stores.files.lookup import Lookup
from ubunye_core.stores.files.place import SUFFIX, Place
from ubunye_core.stores.files.searching import Asked, Search
from ubunye_core.stores.files.settling import settled
from ubunye_core.stores.files.summing import summaries
from ubunye_core.stores.files.writing import Writing, in_groups
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.refusals import not_found, only_run, printable, raise_if_refused
from ubunye_core.stores.successes import Summaries, Summed


class FileStore(HasClaims, BaseStore):
    """Receipts in a folder that several machines may share.

    Saves are atomic and durable: a reader sees the old receipt or the new one, also after a
    crash. Of runs that have ended, what a receipt said is remembered for as long as its file stays
    as it is. A folder that does not exist is ``StoreUnavailableError`` to a reader (a share that
    is not mounted looks like this); a writer makes it.
    """

    def __init__(self, root: Path) -> None:
        self._place = Place(root)
        self._facts = Facts(self._place)
        self.root = self._place.root
        self.url = self.root.as_uri()
        self._writing = Writing(self._place)
        self._lookup = Lookup(self._place, self._facts)
        self._claims = Claims(self._place, self)

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends. Writers of one run take turns."""
        for refused in self._writing.save([receipt]):
            raise refused

    def save_many(self, receipts: Iterable[Receipt]) -> None:
        """``save`` for each; those that can be are kept, whatever becomes of the others."""
        refused = [each for group in in_groups(receipts) for each in self._writing.save(group)]
        raise_if_refused(refused)

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        check_task(task)
        check_run_id(run_id)
        with self._place.reading():
            return self._load(task, run_id)

    def _load(self, task: str, run_id: str) -> Receipt:
        with contextlib.suppress(FileNotFoundError):
            return read(str(self._place.path(task, run_id)), task)[0]
        folder = self._place.folder(task)
        names = sorted(name for name in self._place.names(folder) if name.startswith(run_id))
        fitting = {printable(name.removesuffix(SUFFIX)): name for name in names}
        only = only_run(list(fitting), run_id, task=task, url=self.url)
        with contextlib.suppress(FileNotFoundError):
            return read(f"{folder}/{fitting[only]}", task)[0]
        raise not_found(run_id, task=task, url=self.url)

    def _search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        asked = Asked(status, since, batch, limit)
        with self._place.reading():
            tasks = self._place.folders() if task is None else [task]
            return Search(self._place, self._facts, asked).among(tasks)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        with self._place.reading():
            return self._place.tasks()

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        """Every receipt of a task, one after the other."""
        with self._place.reading():
            folder = self._place.folder(task)
            for name in self._place.names(folder):
                seen, _ = look(f"{folder}/{name}", task)
                if seen is not None:
                    yield seen

    def remove(self, task: str, run_ids: Sequence[str]) -> int:
        """Remove the receipts of these runs."""
        return upkeep.remove(self._place, task, run_ids)

    def repair(self, *, set_aside: bool = False) -> Repaired:
        """Write all hints anew; with ``set_aside``, move damaged receipts where nobody looks."""
        return upkeep.repair(self._place, aside=set_aside)

    def examine(self) -> Iterator[Finding]:
        """What can be told of the folder: whether it may be written, and what it promises."""
        return examine(self._place)

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and its newest run; None where a search must tell."""
        with self._place.reading():
            return self._lookup.success_by_batch(task, batch, whole=whole)

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a task that stand for this attempt."""
        with self._place.reading():
            return self._lookup.of_attempt(task, attempt)

    def summaries(self, task: str, asked: Summed) -> Summaries:
        """The runs of a task since an instant, its successes in short."""
        with self._place.reading():
            return summaries(task, asked, self._place, self._facts.of(task))

    def settled(self, tasks: Sequence[str]) -> Mapping[str, Settled]:
        """Those of the tasks whose newest run is a success, and that need no other look."""
        with self._place.reading():
            found = {task: settled(task, self._place, self._facts) for task in tasks}
        return {task: last for task, last in found.items() if last is not None}
