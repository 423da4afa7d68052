"""What a store is, and what it answers with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, overload

from ubunye_core.errors import BadReceiptError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.runids import time_in


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """A stored document that could not be read as a receipt."""

    where: str
    """Its place: a path, a key, or a row's name."""
    why: str
    task: str | None = None
    """The task it belongs to, where its place shows that."""
    started_at: datetime | None = None
    """When its run started, where its name shows that; None means: at any time."""

    @classmethod
    def of(cls, error: BadReceiptError, *, task: str | None, run_id: str) -> Unreadable:
        """What is told of a document in the place of a run, whose id may show its start."""
        return cls(where=error.where, why=error.why, task=task, started_at=time_in(run_id))


class Found(Sequence[Receipt]):
    """Receipts, newest first, and what could not be read among them.

    Attributes:
        unreadable: The documents that could belong to the answer and could not be read.
    """

    def __init__(
        self, receipts: Iterable[Receipt] = (), unreadable: Iterable[Unreadable] = ()
    ) -> None:
        self._receipts = tuple(sorted(receipts, key=lambda each: each.order, reverse=True))
        self.unreadable = tuple(unreadable)

    @overload
    def __getitem__(self, index: int) -> Receipt: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Receipt]: ...
    def __getitem__(self, index: int | slice) -> Receipt | Sequence[Receipt]:
        return self._receipts[index]

    def __len__(self) -> int:
        return len(self._receipts)

    def __repr__(self) -> str:
        return f"Found({len(self)} receipts, {len(self.unreadable)} unreadable)"


class ReceiptStore(Protocol):
    """Where receipts live. These four methods are enough for every question about a named task.

    Another handle and another process see a save as soon as it returns. Identifiers are checked
    before they touch a place (``InvalidNameError``). Whatever cannot be answered now is a
    ``StoreUnavailableError``; a document that cannot be read never is: it is listed. Nothing is
    answered from memory about a run that may still change, nor that something is absent.
    """

    @property
    def url(self) -> str:
        """Where this store is, without secrets."""
        ...

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, whole and in one step, by the rules about ends.

        The first final status wins whole; the same status again changes nothing; ``running``
        after it is ignored. An end written by a third party yields to the run's own word.

        Raises:
            ReceiptConflictError: the run has ended with another status, or is on record with
                other variables.
        """
        ...

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only.

        Raises:
            ReceiptNotFoundError: there is none.
            AmbiguousRunError: the beginning fits several.
            BadReceiptError: it cannot be read.
        """
        ...

    def list_runs(self, task: str, n: int = 20) -> Found:
        """The newest ``n`` readable receipts of a task. An unknown task has none."""
        ...

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        """The receipts that fit everything given, the newest ``limit`` of them.

        Args:
            task: One task; None means all.
            status: How the run stands.
            since: Runs that started at this instant or later.
            batch: Variables as text: receipts that have these values.
            limit: At most so many receipts; None means all.

        Returns:
            What fits, newest first; and as ``unreadable`` what could be among it and cannot be
            read. An unknown task has nothing of either.

        Raises:
            ValueError: there is no such status, or ``since`` has no time zone.
        """
        ...
