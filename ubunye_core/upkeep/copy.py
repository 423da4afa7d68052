"""Copy the receipts of one store into another, whatever their kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from ubunye_core.counted import count
from ubunye_core.errors import (
    BadReceiptError,
    ConfigError,
    ReceiptConflictError,
    ReceiptNotFoundError,
    StoreUnavailableError,
)
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores import ReceiptStore, Unreadable, could_be_since, standing
from ubunye_core.stores.url import store_of
from ubunye_core.times import instant
from ubunye_core.upkeep.identity import canonical, digest_of, is_same_place
from ubunye_core.upkeep.reading import Counter, Told, holdings, receipts_of

CHUNK_RECEIPTS, CHUNK_BYTES = 500, 8 * 1024 * 1024
"""So many receipts are held and saved at once; fewer where they are large."""


@dataclass(frozen=True, kw_only=True)
class NotCopied:
    """A run whose receipt is not, or not the same, in the other store."""

    task: str
    run_id: str
    why: str


@dataclass(frozen=True, kw_only=True)
class CopiedStore:
    """What a copy did. True when every receipt was read and is in the other store."""

    source: str
    """Where the receipts are from, without secrets."""
    target: str
    """Where they are now, without secrets."""
    dry_run: bool
    """Whether nothing was written; the numbers then say what would be."""
    tasks: int = 0
    copied: int = 0
    """Receipts that were written."""
    running: int = 0
    """How many of those say ``running``: their own store may hear more of them."""
    same: int = 0
    """Receipts that were there before, the same."""
    ahead: int = 0
    """Runs of which the other store knows a later word; that stands."""
    refused: tuple[NotCopied, ...] = ()
    """Runs of which the other store knows another end, or which it does not take."""
    missing: tuple[NotCopied, ...] = ()
    """Runs that were written, and were not found, or not the same, when all was read again."""
    unreadable: tuple[Unreadable, ...] = ()
    """What could not be read, and so was not copied."""
    remark: str = ""

    def __bool__(self) -> bool:
        return not (self.refused or self.missing or self.unreadable)


def copy_store(
    source: ReceiptStore | str,
    target: ReceiptStore | str,
    *,
    task: str | None = None,
    since: datetime | str | None = None,
    dry_run: bool = False,
    told: Told | None = None,
) -> CopiedStore:
    """Copy every receipt with all its fields, those of others too. Claims are not copied.

    Nothing in ``target`` is overwritten but a ``running`` receipt by a later word of the same run.
    A copy that was cut short goes on when it is asked for again: what is there is not written
    again. At the end, what was written is read back and compared.

    Args:
        source: A store or its URL.
        target: Another store or its URL; one that is not there yet is made.
        task: Only this task, or those that fit this pattern.
        since: Only runs that started at this instant or later.
        dry_run: Write nothing, and say what would be written.
        told: Called with the task and the number of receipts read so far.

    Raises:
        ConfigError: an argument is wrong, or both are one store.
        ReceiptNotFoundError: a task is named, and the store holds none such.
        StoreUnavailableError: one of both could not be read or written. Ask again, and it goes on.
    """
    first = None if since is None else instant(since, what="since")
    origin, goal = store_of(source), store_of(target)
    if is_same_place(origin, goal):
        raise ConfigError(f"{origin.url} cannot be copied onto itself.", hint="Name two stores.")
    held = holdings(origin, task)
    copying = _Copying(origin, goal, first, dry_run, Counter(told))
    copying.note(held.of_no_task)
    try:
        for each in held.tasks:
            copying.copy(each)
    except StoreUnavailableError as error:
        raise StoreUnavailableError(
            f"The copy was cut short after {count(copying.copied, 'receipt')}: {error}",
            hint="Copy again, and it goes on from there.",
        ) from error
    return CopiedStore(
        source=origin.url,
        target=goal.url,
        dry_run=dry_run,
        tasks=len(held.tasks),
        copied=copying.copied,
        running=copying.running,
        same=copying.same,
        ahead=copying.ahead,
        refused=tuple(copying.refused),
        missing=tuple(copying.missing),
        unreadable=tuple(copying.unreadable.values()),
        remark=copying.remark,
    )


class _Copying:
    """A copy under way. Holds one task's run ids at a time, and one chunk of receipts."""

    def __init__(
        self,
        source: ReceiptStore,
        target: ReceiptStore,
        since: datetime | None,
        dry_run: bool,
        counter: Counter,
    ) -> None:
        self._source, self._target, self._counter = source, target, counter
        self._since, self._dry_run = since, dry_run
        self._target_answered = False
        self.copied = self.running = self.same = self.ahead = 0
        self.refused: list[NotCopied] = []
        self.missing: list[NotCopied] = []
        self.unreadable: dict[str, Unreadable] = {}
        self.remark = ""

    def note(self, unreadable: Iterable[Unreadable]) -> None:
        """Remember what could not be read, each place once."""
        self.unreadable |= {
            bad.where: bad for bad in unreadable if could_be_since(bad, self._since)
        }

    def copy(self, task: str) -> None:
        """Copy one task, and read back what was written."""
        there = self._known(task)
        written: dict[str, tuple[bytes, Status]] = {}
        for chunk in _chunks(self._wanted(task, there)):
            refused = set() if self._dry_run else self._save(chunk)
            for receipt, digest in chunk:
                if receipt.run_id not in refused:
                    written[receipt.run_id] = (digest, receipt.status)
                    self.copied += 1
                    self.running += receipt.status is Status.RUNNING
        if written and not self._dry_run:
            self._verify(task, written)

    def _known(self, task: str) -> dict[str, bytes]:
        """The runs of a task that are in the target, each with the digest of its receipt."""
        try:
            known = {
                found.run_id: digest_of(canonical(found))
                for found in receipts_of(self._target, task)
                if isinstance(found, Receipt)
            }
        except StoreUnavailableError as error:
            if self._target_answered:
                raise
            # It may not be there yet: then the first save makes it, or says what is wrong.
            if self._dry_run:
                self.remark = f"The target could not be read and was taken as empty: {error}"
            return {}
        self._target_answered = True
        return known

    def _wanted(self, task: str, there: dict[str, bytes]) -> Iterator[tuple[Receipt, bytes, int]]:
        """What is to be written of a task, each with its digest and its size."""
        for found in self._counter.of(self._source, task):
            if isinstance(found, Unreadable):
                self.note([found])
                continue
            if self._since is not None and found.started_at < self._since:
                continue
            text = canonical(found)
            digest, known = digest_of(text), there.get(found.run_id)
            if known == digest:
                self.same += 1
                continue
            stands = self._decide(found, is_known=known is not None)
            if stands is found:
                yield found, digest, len(text)
            elif stands is not None:
                yield stands, digest_of(canonical(stands)), len(text)

    def _decide(self, offered: Receipt, *, is_known: bool) -> Receipt | None:
        """What the target is to hold of a run; None where what it holds stands."""
        try:
            current = self._current(offered) if is_known else None
            stands = standing(current, offered)
        except (ReceiptConflictError, BadReceiptError) as error:
            self._refuse(offered, error.message)
            return None
        if current is None or stands is None:
            if stands is None and offered.status.is_final:
                self._refuse(offered, f"another receipt there says {offered.status} of it")
            elif stands is None:
                self.ahead += 1
            return stands
        if not stands.status.is_final and current.last_sign_of_life > stands.last_sign_of_life:
            self.ahead += 1
            return None
        return offered if canonical(stands) == canonical(offered) else stands

    def _current(self, offered: Receipt) -> Receipt | None:
        try:
            return self._target.load(offered.task, offered.run_id)
        except ReceiptNotFoundError:
            return None

    def _refuse(self, receipt: Receipt, why: str) -> None:
        self.refused.append(NotCopied(task=receipt.task, run_id=receipt.run_id, why=why))

    def _save(self, chunk: list[tuple[Receipt, bytes]]) -> set[str]:
        """Save a chunk; returns the runs that were refused."""
        save_many = getattr(self._target, "save_many", None)
        if save_many is not None:
            try:
                save_many([receipt for receipt, _ in chunk])
            except (ReceiptConflictError, BadReceiptError):
                pass  # which ones, the loop below finds out
            else:
                self._target_answered = True
                return set()
        refused = set()
        for receipt, _ in chunk:
            try:
                self._target.save(receipt)
                self._target_answered = True
            except (ReceiptConflictError, BadReceiptError) as error:
                self._refuse(receipt, error.message)
                refused.add(receipt.run_id)
        return refused

    def _verify(self, task: str, written: dict[str, tuple[bytes, Status]]) -> None:
        """Read the target again. A run may have gone on there meanwhile; an end may not change."""
        for found in receipts_of(self._target, task):
            if isinstance(found, Receipt) and found.run_id in written:
                digest, status = written.pop(found.run_id)
                if digest != digest_of(canonical(found)) and status.is_final:
                    why = "another receipt was found when it was read back"
                    self.missing.append(NotCopied(task=task, run_id=found.run_id, why=why))
        self.missing += [
            NotCopied(task=task, run_id=run_id, why="it was not found when it was read back")
            for run_id in written
        ]


def _chunks(
    wanted: Iterable[tuple[Receipt, bytes, int]],
) -> Iterator[list[tuple[Receipt, bytes]]]:
    chunk: list[tuple[Receipt, bytes]] = []
    size = 0
    for receipt, digest, length in wanted:
        chunk.append((receipt, digest))
        size += length
        if len(chunk) >= CHUNK_RECEIPTS or size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
