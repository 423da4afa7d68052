"""Successes in short: what the state of windows needs of the many runs that went well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from ubunye_core.batch import Scalar, comparable
from ubunye_core.columns import Columns
from ubunye_core.masking import MASK
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.protocol import Found
from ubunye_core.times import instant_of, microseconds

Named = tuple[str, str]
"""A variable and its value as text."""


class Success(NamedTuple):
    """A run that succeeded, without its details. Instants are microseconds since 1970 in UTC.

    There are tens of thousands of them, and whole numbers are compared and found much sooner.
    """

    started: int
    run_id: str
    ended: int
    start: int | None = None
    """Where the data begins that the run says it is for; None where it does not say."""
    end: int | None = None
    """Where that data ends, excluded; None as ``start`` is."""
    named: tuple[Named, ...] = ()
    """Those of the variables that were asked for which the run has; of a run with a window none
    need be told."""
    rows: int | None = None
    """How many rows it wrote, where it says so."""

    @property
    def status(self) -> Status:
        """``success``."""
        return Status.SUCCESS

    @property
    def started_at(self) -> datetime:
        """When the run started."""
        return instant_of(self.started)

    @property
    def ended_at(self) -> datetime:
        """When the run ended."""
        return instant_of(self.ended)

    @property
    def finished_at(self) -> datetime:
        """When the run ended."""
        return instant_of(self.ended)

    @property
    def window(self) -> tuple[datetime, datetime] | None:
        """Where the data begins that the run says it is for, and where it ends."""
        if self.start is None or self.end is None:
            return None
        return (instant_of(self.start), instant_of(self.end))

    @property
    def order(self) -> tuple[datetime, str]:
        """Runs are ordered by this, newest first."""
        return (self.started_at, self.run_id)


class Successes(Columns[Success]):
    """Successes in columns, named as the fields."""

    def __init__(self) -> None:
        self.started: list[int] = []
        self.run_id: list[str] = []
        self.ended: list[int] = []
        self.start: list[int | None] = []
        self.end: list[int | None] = []
        self.named: list[tuple[Named, ...]] = []
        self.rows: list[int | None] = []

    @classmethod
    def of(cls, successes: Sequence[Success]) -> Successes:
        """The same successes, in columns."""
        if isinstance(successes, Successes):
            return successes
        found = cls()
        if successes:
            columns: Sequence[Sequence[Any]] = list(zip(*successes, strict=True))
            found.extend(*columns)
        return found

    def extend(
        self,
        started: Sequence[int],
        run_id: Sequence[str],
        ended: Sequence[int],
        start: Sequence[int | None],
        end: Sequence[int | None],
        named: Sequence[tuple[Named, ...]],
        rows: Sequence[int | None],
    ) -> None:
        """Add columns of one length, in the order of the fields of ``Success``."""
        self.started += started
        self.run_id += run_id
        self.ended += ended
        self.start += start
        self.end += end
        self.named += named
        self.rows += rows

    def append(self, success: Success) -> None:
        """Add one."""
        columns: Sequence[Sequence[Any]] = [(value,) for value in success]
        self.extend(*columns)

    def _row(self, at: int) -> Success:
        return Success(
            self.started[at],
            self.run_id[at],
            self.ended[at],
            self.start[at],
            self.end[at],
            self.named[at],
            self.rows[at],
        )

    def __len__(self) -> int:
        return len(self.started)


@dataclass(frozen=True, kw_only=True)
class Summaries:
    """The runs of a task: successes in short, and all others whole."""

    successes: Sequence[Success]
    """In any order."""
    others: Found
    """Every other run, and what is unreadable. A success may always stand here instead."""


@dataclass(frozen=True, kw_only=True)
class Summed:
    """What is asked of the runs of a task."""

    since: datetime
    """Runs that started at this instant or later, UTC."""
    until: datetime
    """A success is told in short only if it had ended by then, UTC."""
    variables: Mapping[Named, object] = field(default_factory=dict)
    """Variables and texts by which a run without a window names what it is for. They may be
    told only when they are looked at."""
    rows: bool = False
    """Whether it is asked how many rows a success wrote."""

    def success_of(self, receipt: Receipt) -> Success | None:
        """A receipt in short; None where it has to be told whole."""
        ended_at, window = receipt.ended_at, receipt.window
        if receipt.status is not Status.SUCCESS or ended_at is None or ended_at > self.until:
            return None
        if receipt.started_at > self.until:
            return None
        return Success(
            microseconds(receipt.started_at),
            receipt.run_id,
            microseconds(ended_at),
            None if window is None else microseconds(window.start),
            None if window is None else microseconds(window.end),
            self.named(receipt.variables) if window is None and self.variables else (),
            rows_of(receipt),
        )

    def named(self, variables: Mapping[str, Scalar]) -> tuple[Named, ...]:
        """Those of the variables asked for that a run has. What is masked is equal to nothing."""
        pairs = comparable(variables).items()
        return tuple(pair for pair in pairs if pair[1] != MASK and pair in self.variables)


def rows_of(receipt: Receipt) -> int | None:
    """How many rows a run wrote; None where it does not say."""
    rows = [step.row_count for step in receipt.outputs if step.row_count is not None]
    return sum(rows) if rows else None


def in_short(found: Found, asked: Summed) -> Summaries:
    """What a search since ``asked.since`` found, with its successes in short."""
    successes, others = [], []
    for receipt in found:
        short = asked.success_of(receipt)
        if short is None:
            others.append(receipt)
        else:
            successes.append(short)
    return Summaries(successes=successes, others=Found(others, found.unreadable))
