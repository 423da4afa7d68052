"""What the lines of a ledger come to: where each run's latest event is, and who has which claim.

Only places and facts are kept, no receipts: a hundred thousand runs fit in a few dozen megabytes.
An index follows its file: what was appended is read, and nothing twice. Where the file is another
one, or is not what it was, it is read anew.
"""

from __future__ import annotations

import os
from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import BinaryIO

from ubunye_core.receipt import Status
from ubunye_core.runids import time_in
from ubunye_core.stores.deciding import KnownClaim
from ubunye_core.stores.jsonl.events import (
    MAX_LINE_BYTES,
    Claimed,
    Damaged,
    Event,
    Head,
    Saved,
    Torn,
    What,
    event_of,
    head_of,
    is_cut_short,
    is_whole,
)

STRAYS_KEPT = 1000
"""So many lines of nobody are told one by one; a file that is no ledger has millions."""
_REMEMBERED = 64


@dataclass(slots=True)
class Fact:
    """The latest event of a run: where it is, and what finds it."""

    run_id: str
    line: int
    """Counted from 1."""
    offset: int
    length: int
    """In bytes, without the end of line."""
    started_at: datetime | None
    """None where it is damaged and the run id shows no start."""
    status: Status | None = None
    variables: bytes = b"{}"
    attempt: bytes | None = None
    why: str | None = None
    """Why it cannot be read; None where it can."""


@dataclass(frozen=True, slots=True)
class Stray:
    """A line that cannot be read, of nobody knows which run."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Rest:
    """What stands after the last end of line: it is being written, or its writer was killed."""

    line: int
    offset: int
    length: int
    head: Head | None
    """Whose it is, where it shows that."""
    is_cut_short: bool
    """Whether it is one line without its end; else it is damage."""


@dataclass
class Index:
    """What was read of one ledger so far."""

    identity: tuple[int, int] | None = None
    offset: int = 0
    lines: int = 0
    runs: dict[str, dict[str, Fact]] = field(default_factory=dict)
    """By task and run id."""
    damaged: dict[str, dict[str, Fact]] = field(default_factory=dict)
    """Those of the runs whose latest event cannot be read."""
    claims: dict[tuple[str, str], KnownClaim] = field(default_factory=dict)
    """By task and the digest of batch and mode."""
    broken_claims: dict[tuple[str, str], Stray] = field(default_factory=dict)
    strays: list[Stray] = field(default_factory=list)
    stray_count: int = 0
    torn: list[int] = field(default_factory=list)
    """The lines that were cut short, and marked."""
    rest: Rest | None = None
    _last: bytes = b""
    _stamp: tuple[int, int] = (0, 0)
    """The size and the time of the file when it was read."""
    _shared: dict[bytes, bytes] = field(default_factory=dict)
    _order: dict[str, list[tuple[datetime, str]]] = field(default_factory=dict)
    """The readable runs of a task, oldest first; made when it is asked for."""

    def newest_first(self, task: str) -> Iterator[Fact]:
        """The runs of a task that can be read."""
        runs = self.runs.get(task, {})
        if task not in self._order:
            self._order[task] = sorted(
                (fact.started_at, fact.run_id)
                for fact in runs.values()
                if fact.why is None and fact.started_at is not None
            )
        for _, run_id in reversed(self._order[task]):
            yield runs[run_id]

    def fits(self, descriptor: int) -> bool:
        """Whether what was read still stands in the file, as far as can be told cheaply."""
        found = os.fstat(descriptor)
        if self.identity != (found.st_dev, found.st_ino) or found.st_size < self.offset:
            return False
        if found.st_size == self._stamp[0] and found.st_mtime_ns != self._stamp[1]:
            return False  # whoever appends makes it longer
        return os.pread(descriptor, len(self._last), self.offset - len(self._last)) == self._last

    def follow(self, descriptor: int) -> None:
        """Read what was appended. The index must fit the file, or be new."""
        found = os.fstat(descriptor)
        self.identity = None  # stays so if this is interrupted: then all is read anew
        with open(descriptor, "rb", buffering=1024 * 1024, closefd=False) as file:
            file.seek(self.offset)
            self.rest = None
            while line := file.readline(MAX_LINE_BYTES + 1):
                if line.endswith(b"\n"):
                    self._take(event_of(line[:-1]) if line.strip() else None, len(line))
                elif len(line) <= MAX_LINE_BYTES:
                    self.rest = self._rest(line, len(line))
                else:
                    self._take_overlong(file, line)
                if self.rest is not None:
                    break  # its writer may add to it meanwhile; what follows is no line of its own
        remembered = min(_REMEMBERED, self.offset)
        self._last = os.pread(descriptor, remembered, self.offset - remembered)
        self._stamp = (found.st_size, found.st_mtime_ns)
        self.identity = (found.st_dev, found.st_ino)

    def _take_overlong(self, file: BinaryIO, line: bytes) -> None:
        """Go past a line that is too long to be one of a ledger."""
        length, beginning = len(line), line[:1024]
        while (more := file.readline(MAX_LINE_BYTES)) and not more.endswith(b"\n"):
            length += len(more)
        if more:
            self._take(Damaged(f"it has more than {MAX_LINE_BYTES} bytes"), length + len(more))
        else:
            self.rest = self._rest(beginning, length)

    def _rest(self, line: bytes, length: int) -> Rest:
        head = head_of(line)
        is_one = is_whole(line, head) or is_cut_short(line, length, head)
        return Rest(self.lines + 1, self.offset, length, head, is_one)

    def _take(self, event: Event | None, length: int) -> None:
        """Count a line of so many bytes, its end included, and keep what it says."""
        self.lines += 1
        self._fold(event, length - 1)
        self.offset += length

    def _fold(self, event: Event | None, length: int) -> None:
        match event:
            case Saved():
                variables = self._shared.setdefault(event.variables, event.variables)
                fact = Fact(
                    event.run_id, self.lines, self.offset, length, event.started_at,
                    event.status, variables, event.attempt,
                )  # fmt: skip
                self._keep(event.task, fact)
            case Claimed():
                self._fold_claim(event)
            case Torn():
                self.torn.append(self.lines)
            case Damaged(why, str(task), str(run_id), False):
                start = time_in(run_id)
                fact = Fact(run_id, self.lines, self.offset, length, start, why=why)
                self._keep(task, fact)
            case Damaged(why, str(task), str(key), True):
                self.broken_claims[task, key] = Stray(self.lines, why)
            case Damaged(why):
                self.stray_count += 1
                if len(self.strays) < STRAYS_KEPT:
                    self.strays.append(Stray(self.lines, why))
            case None:
                pass

    def _keep(self, task: str, fact: Fact) -> None:
        """Keep the latest event of a run, and the order of the runs where it is known."""
        runs, order = self.runs.setdefault(task, {}), self._order.get(task)
        known, runs[fact.run_id] = runs.get(fact.run_id), fact
        damaged = self.damaged.setdefault(task, {})
        was_damaged = damaged.pop(fact.run_id, None) is not None
        if fact.why is not None:
            damaged[fact.run_id] = fact
        if order is None:
            return
        if was_damaged or fact.why is not None or fact.started_at is None:
            del self._order[task]
        elif known is None:
            insort(order, (fact.started_at, fact.run_id))
        elif known.started_at != fact.started_at:
            del self._order[task]

    def _fold_claim(self, event: Claimed) -> None:
        place = (event.task, event.key)
        known = self.claims.get(place)
        if event.what is What.CLAIM:
            self.claims[place] = event.claim
        elif known is not None and known.token == event.claim.token:
            is_open = known.is_open and event.what is not What.RELEASE
            self.claims[place] = replace(known, until=event.claim.until, is_open=is_open)
