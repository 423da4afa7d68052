"""What a store may offer beyond its four methods, each for itself.

A question uses what is offered, and gives the same answer without. None of these answers from
memory about a run that may still change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.claims import Claim, ClaimKey, Held
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.successes import Summaries, Summed


class ListsTasks(Protocol):
    """It knows which tasks it holds. Patterns of tasks need it."""

    def tasks(self) -> list[str]:
        """Every task with a receipt, readable or not, in order."""
        ...


class SetsHeartbeat(Protocol):
    """A save costs so much that 30 seconds are too often for it."""

    @property
    def heartbeat_every(self) -> timedelta:
        """How often a running run is to show a sign of life here."""
        ...


class FindsSuccess(Protocol):
    """It finds the success of a batch without reading the task's other runs. A gate asks this."""

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and the newest run of it, which may be one.

        Args:
            task: Its task.
            batch: Variables as text that must agree.
            whole: The run's whole batch must be this one; else it may have other variables too.

        Returns:
            Those one or two receipts, as on record now. None where there is no success, or where
            it cannot be told without a search: then the question searches.
        """
        ...


class FindsAttempt(Protocol):
    """It finds the receipts of a scheduler's attempt without reading the task's other runs."""

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a task that stand for this attempt (``is_same_attempt``)."""
        ...


@dataclass(frozen=True, kw_only=True)
class Settled:
    """The newest run of a task, where it is known which of its runs have not ended."""

    run_id: str
    started_at: datetime
    finished_at: datetime
    """``Receipt.finished_at``."""
    window_end: datetime | None = None
    status: Status = Status.SUCCESS
    open_runs: frozenset[str] = frozenset()
    """The runs of the task that say ``running``."""

    @classmethod
    def of(cls, receipt: Receipt) -> Settled:
        """What is told of a run."""
        return cls(
            run_id=receipt.run_id,
            started_at=receipt.started_at,
            finished_at=receipt.finished_at,
            window_end=None if receipt.window is None else receipt.window.end,
            status=receipt.status,
        )


RUNS_READ = 50
"""Health looks at so many of the newest runs of a task."""


class TellsSettled(Protocol):
    """It tells at once how the newest run of many tasks stands, and what runs. Health asks this."""

    def settled(self, tasks: Sequence[str]) -> Mapping[str, Settled]:
        """Those of the tasks that need no search, with their newest run.

        A task is left out where it is not certain which of its runs say ``running``, and where
        anything of it is unreadable: health then looks at its newest runs. So it is when in doubt;
        and a task may always be left out whose newest run is no success, or in which a run is
        open.
        """
        ...


class Summarises(Protocol):
    """It tells the many successes of a task in short. The states of windows ask this."""

    def summaries(self, task: str, asked: Summed) -> Summaries:
        """The runs of a task that started at ``asked.since`` or later.

        Successes in short, as far as they had ended by ``asked.until``; all others whole, and what
        is unreadable: together what a search since then finds. A success that does not say when it
        ended is among the others, and where it is in doubt, any may be.
        """
        ...


class Scans(Protocol):
    """It gives out all receipts of a task one by one, however many there are."""

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        """Every receipt of a task, in any order; what cannot be read in its place."""
        ...


class SavesMany(Protocol):
    """It saves many receipts with less work than one at a time."""

    def save_many(self, receipts: Iterable[Receipt]) -> None:
        """``save`` for each. One that is refused is named in the error, and the others are kept.

        Raises:
            ReceiptConflictError: some were refused; the message names the first, and how many.
        """
        ...


class GivesClaims(Protocol):
    """It gives the right to run one batch of one task to one run at a time.

    Whether a lease is over is told by the store's clock where it has one. A claim that was
    released or has run out keeps its token, so that the next one is greater.
    """

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right, or learn who has it. Of any number at once exactly one takes it.

        The run that holds it gets it again, with the same token and a new lease. One that has run
        out is taken over: first the run that held it is recorded as interrupted
        (``takeover.end_of_the_old_holder``), so that its success does not save any more.
        """
        ...

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew.

        Raises:
            ClaimLostError: another run has taken it over, or it was released.
        """
        ...

    def release(self, claim: Claim) -> None:
        """Give the right back. Nothing happens where it was lost, or given back before."""
        ...

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now; None where it is free: never given, given back, or run out."""
        ...


class Removes(Protocol):
    """It can forget runs. ``prune`` says which; this only does it."""

    def remove(self, task: str, run_ids: Sequence[str]) -> int:
        """Remove the receipts of these runs; returns how many there were."""
        ...


class Compacts(Protocol):
    """It stores events in ever more files, and can join them."""

    def compact(self) -> None:
        """Join small files, and drop what no reader needs any more. Answers stay the same."""
        ...


@dataclass(frozen=True, kw_only=True)
class Repaired:
    """What a repair did."""

    hints: int = 0
    """Runs whose hints were written anew."""
    set_aside: tuple[str, ...] = ()
    """The places that damaged receipts were moved to."""
    left: tuple[Unreadable, ...] = ()
    """What is still unreadable."""
    remark: str = ""
    """What else was done, in a sentence: a store may have changed its own tables."""


class Repairs(Protocol):
    """It keeps hints beside the receipts, or can move damage out of the way."""

    def repair(self, *, set_aside: bool = False) -> Repaired:
        """Write all hints anew; with ``set_aside``, move damaged receipts where nobody looks."""
        ...


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at in a store."""

    what: str
    """``list``, ``read``, ``write``, ``claim``, ``durability`` or another word or two."""
    good: bool | None
    """None where it cannot be told, or is offered by nobody."""
    why: str
    """What was found, for a person: the guarantee it gives, or what to mend."""


class Examines(Protocol):
    """It can look at its own place: whether it may write, and what it promises."""

    def examine(self) -> Iterator[Finding]:
        """What can be told of the place, without leaving a trace in it.

        At least ``write``; the guarantees of its saves and claims; the difference of clocks, where
        the store has one of its own.
        """
        ...
