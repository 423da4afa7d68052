"""``memory://name``: receipts in this process, for tests and examples."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime

from ubunye_core.codec import decode, encode
from ubunye_core.errors import AmbiguousRunError, BadReceiptError, ReceiptNotFoundError
from ubunye_core.names import check_run_id, check_task
from ubunye_core.receipt import Receipt, Status
from ubunye_core.runids import time_in
from ubunye_core.stores.ends import standing
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.select import select

_named: dict[str, MemoryStore] = {}
_naming = threading.Lock()


class MemoryStore:
    """A store that lasts as long as its process. Keeps what other stores keep: the JSON text."""

    def __init__(self, name: str = "") -> None:
        self.url = f"memory://{name}"
        self._documents: dict[tuple[str, str], bytes] = {}
        self._lock = threading.RLock()

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends."""
        key = (check_task(receipt.task), check_run_id(receipt.run_id))
        with self._lock:
            held = self._documents.get(key)
            try:
                current = None if held is None else self._decode(key, held)
            except BadReceiptError:
                if not receipt.status.is_final:
                    raise
                current = None  # a run's end heals a damaged record of its own
            stands = standing(current, receipt)
            if stands is not None:
                self._documents[key] = encode(stands)

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        check_task(task)
        check_run_id(run_id)
        with self._lock:
            ids = sorted(held for of, held in self._documents if of == task)
            fitting = [run_id] if run_id in ids else [i for i in ids if i.startswith(run_id)]
            if not fitting:
                raise ReceiptNotFoundError(f"{self.url} holds no run '{run_id}' of {task}.")
            if len(fitting) > 1:
                raise AmbiguousRunError(run_id, fitting)
            key = (task, fitting[0])
            return self._decode(key, self._documents[key])

    def list_runs(self, task: str, n: int = 20) -> Found:
        """The newest ``n`` readable receipts of a task."""
        return self.search(task, limit=n)

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        """The receipts that fit everything given."""
        if task is not None:
            check_task(task)
        with self._lock:
            held = [item for item in self._documents.items() if task in (None, item[0][0])]
        receipts, unreadable = [], []
        for key, document in held:
            try:
                receipts.append(self._decode(key, document))
            except BadReceiptError as error:
                unreadable.append(
                    Unreadable(
                        where=error.where, why=error.why, task=key[0], started_at=time_in(key[1])
                    )
                )
        return select(receipts, unreadable, status=status, since=since, batch=batch, limit=limit)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        with self._lock:
            return sorted({task for task, _ in self._documents})

    def put_document(self, task: str, run_id: str, document: bytes) -> None:
        """Place any bytes where a receipt would be: damage, for tests."""
        with self._lock:
            self._documents[check_task(task), check_run_id(run_id)] = document

    def _decode(self, key: tuple[str, str], document: bytes) -> Receipt:
        where = f"{self.url}/{key[0]}/{key[1]}"
        receipt = decode(document, where=where)
        if (receipt.task, receipt.run_id) != key:
            raise BadReceiptError(where, "its place is not the task and run id that stand in it")
        return receipt


def open_memory(url: str) -> MemoryStore:
    """The store of this name in this process; made when it is asked for first."""
    name = url.removeprefix("memory://")
    with _naming:
        return _named.setdefault(name, MemoryStore(name))
