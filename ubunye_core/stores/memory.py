"""``memory://name``: receipts in this process, for tests and examples."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from ubunye_core.batch import Batch, Scalar
from ubunye_core.codec import decode, encode
from ubunye_core.errors import BadReceiptError
from ubunye_core.names import check_run_id, check_task
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.base import BaseStore, of_the_attempt
from ubunye_core.stores.capabilities import Finding, Settled
from ubunye_core.stores.claims import Claim, ClaimKey, Held, check_claim
from ubunye_core.stores.deciding import (
    KnownClaim,
    decide_claim,
    holder_of,
    own_claim,
    renewable,
)
from ubunye_core.stores.ends import on_record, standing
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.refusals import only_run
from ubunye_core.stores.select import select, select_read
from ubunye_core.stores.successes import Success, Summaries, Summed
from ubunye_core.stores.takeover import end_of_the_old_holder
from ubunye_core.times import microseconds, utc_now

_named: dict[str, MemoryStore] = {}
_naming = threading.Lock()


class MemoryStore(BaseStore):
    """A store that lasts as long as its process. Keeps what other stores keep: the JSON text."""

    def __init__(self, name: str = "") -> None:
        self.url = f"memory://{name}"
        self._documents: dict[tuple[str, str], bytes] = {}
        self._short: dict[tuple[str, str], _Short] = {}
        self._claims: dict[tuple[str, str], KnownClaim] = {}
        self._lock = threading.RLock()

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends."""
        key = (check_task(receipt.task), check_run_id(receipt.run_id))
        with self._lock:
            held = self._documents.get(key)
            current = None
            if held is not None:
                current = on_record(partial(self._decode, key, held), receipt)
            stands = standing(current, receipt)
            if stands is not None:
                document = self._documents[key] = encode(stands)
                self._short[key] = _Short.of(stands, document)

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        check_task(task)
        check_run_id(run_id)
        with self._lock:
            ids = sorted(held for of, held in self._documents if of == task)
            fitting = [each for each in ids if each.startswith(run_id)]
            key = (task, only_run(fitting, run_id, task=task, url=self.url))
            return self._decode(key, self._documents[key])

    def _search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        with self._lock:
            held = [item for item in self._documents.items() if task in (None, item[0][0])]
        read = (self._read(key, document) for key, document in held)
        return select_read(read, status=status, since=since, batch=batch, limit=limit)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        with self._lock:
            return sorted({task for task, _ in self._documents})

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch, and the newest run of it."""
        asked = Batch.of(batch)
        runs = [
            run for run in self.search(task, batch=batch) if not whole or run.batch.is_same(asked)
        ]
        success = next((run for run in runs if run.status is Status.SUCCESS), None)
        return (
            None
            if success is None
            else Found({run.run_id: run for run in (runs[0], success)}.values())
        )

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a task that stand for this attempt."""
        return of_the_attempt(self.scan(task), attempt)

    def settled(self, tasks: Sequence[str]) -> Mapping[str, Settled]:
        """How the newest run of each task stands, and which runs say running."""
        told = {}
        for task in tasks:
            found = self.search(task)
            if found and not found.unreadable:
                going_on = frozenset(run.run_id for run in found if not run.status.is_final)
                told[task] = replace(Settled.of(found[0]), open_runs=going_on)
        return told

    def summaries(self, task: str, asked: Summed) -> Summaries:
        """The runs of a task since an instant, its successes in short."""
        check_task(task)
        with self._lock:
            held = dict(self._documents)
        successes: list[Success] = []
        others: list[Receipt] = []
        unreadable: list[Unreadable] = []
        since, until = microseconds(asked.since), microseconds(asked.until)
        for key, document in held.items():
            if key[0] != task:
                continue
            known = self._short.get(key)
            success = None if known is None else known.told(document, asked, until)
            if success is None:
                read = self._read(key, document)
                if isinstance(read, Unreadable):
                    unreadable.append(read)
                    continue
                success = asked.success_of(read)
                if success is None:
                    others.append(read)
                    continue
            if success.started >= since:
                successes.append(success)
        found = select(others, unreadable, since=asked.since)
        return Summaries(successes=successes, others=found)

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        """Every receipt of a task."""
        found = self.search(task)
        yield from found
        yield from found.unreadable

    def remove(self, task: str, run_ids: Sequence[str]) -> int:
        """Remove the receipts of these runs."""
        check_task(task)
        with self._lock:
            keys = [(task, check_run_id(run_id)) for run_id in run_ids]
            return sum(self._documents.pop(key, None) is not None for key in keys)

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        check_claim(run_id, lease)
        with self._lock:
            known, now = self._known(key), utc_now()
            decided = decide_claim(known, key, run_id=run_id, lease=lease, now=now)
            if isinstance(decided, Held):
                return decided
            if decided.lost is not None:
                end_of_the_old_holder(self, key, decided.lost, now=now)
            self._claims[key.task, key.digest] = decided.begun_at(utc_now())
            return decided.claim

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""
        with self._lock:
            known = renewable(self._known(claim.key), claim)
            anew = replace(known, until=utc_now() + claim.lease)
            self._claims[claim.key.task, claim.key.digest] = anew

    def release(self, claim: Claim) -> None:
        """Give the right back."""
        with self._lock:
            known = own_claim(self._known(claim.key), claim)
            if known is not None:
                self._claims[claim.key.task, claim.key.digest] = replace(known, is_open=False)

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now."""
        with self._lock:
            return holder_of(self._known(key), key, utc_now())

    def _known(self, key: ClaimKey) -> KnownClaim | None:
        return self._claims.get((key.task, key.digest))

    def examine(self) -> Iterator[Finding]:
        """What this store promises."""
        yield Finding(what="write", good=True, why="it is in this process")
        yield Finding(what="durability", good=False, why="it is gone when this process ends")
        yield Finding(what="claim", good=True, why="one at a time, among the threads of a process")

    def put_document(self, task: str, run_id: str, document: bytes) -> None:
        """Place any bytes where a receipt would be: damage, for tests."""
        with self._lock:
            self._documents[check_task(task), check_run_id(run_id)] = document

    def _read(self, key: tuple[str, str], document: bytes) -> Receipt | Unreadable:
        try:
            return self._decode(key, document)
        except BadReceiptError as error:
            return Unreadable.of(error, task=key[0], run_id=key[1])

    def _decode(self, key: tuple[str, str], document: bytes) -> Receipt:
        where = f"{self.url}/{key[0]}/{key[1]}"
        receipt = decode(document, where=where)
        if (receipt.task, receipt.run_id) != key:
            raise BadReceiptError(where, "its place is not the task and run id that stand in it")
        return receipt


@dataclass(frozen=True, slots=True)
class _Short:
    """A receipt that was saved, as it is told in short."""

    document: bytes
    success: Success | None
    variables: Mapping[str, Scalar]

    @classmethod
    def of(cls, receipt: Receipt, document: bytes) -> _Short:
        ended_at = receipt.ended_at
        always = Summed(since=receipt.started_at, until=datetime.max.replace(tzinfo=UTC))
        success = None if ended_at is None else always.success_of(receipt)
        return cls(document, success, receipt.variables)

    def told(self, document: bytes, asked: Summed, until: int) -> Success | None:
        """The success, if it is still what stands here, and may be told in short."""
        success = self.success
        if success is None or self.document is not document:
            return None
        if success.ended > until or success.started > until:
            return None
        if success.start is None and asked.variables:
            return success._replace(named=asked.named(self.variables))
        return success


def open_memory(url: str) -> MemoryStore:
    """The store of this name in this process; made when it is asked for first."""
    name = url.partition("://")[2]
    with _naming:
        return _named.setdefault(name, MemoryStore(name))
