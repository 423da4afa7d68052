"""What the catalog's sensor remembers between two ticks. Losing it reports nothing twice."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ubunye_core import Receipt
from ubunye_dagster.ticks import zoned

REMEMBERED = 20_000
"""So many reported receipts are remembered, of all tasks together."""
REMEMBERED_OF_A_TASK = 100
"""Of each task at least so many."""


@dataclass(frozen=True)
class Reported:
    """How far back to look for the receipts of one task, and which of those are on record."""

    since: datetime | None = None
    marks: frozenset[str] = frozenset()

    def has(self, receipt: Receipt) -> bool:
        """Whether this end of the run was reported."""
        return mark_of(receipt) in self.marks

    def moved(
        self,
        done: Iterable[Receipt],
        *,
        left: Iterable[Receipt],
        lookback: timedelta,
        room: int,
        now: datetime,
    ) -> Reported:
        """What to remember after a tick.

        Args:
            done: The receipts on record that were found again or reported now.
            left: Those found that are to be reported later.
            lookback: How much earlier than the newest one a run may have started whose receipt
                was not there to be seen yet.
            room: How many may be remembered.
            now: The clock: a receipt from the future carries nothing with it.
        """
        done, left = list(done), list(left)
        starts = [each.started_at for each in (*done, *left) if each.started_at <= now]
        if not starts:
            return self
        since = min([max(starts) - lookback, *(each.started_at for each in left)])
        kept = sorted((each for each in done if each.started_at >= since), key=lambda r: r.order)
        if len(kept) > room:
            kept = kept[-room:]
            since = kept[0].started_at
        if self.since is not None:
            since = max(since, self.since)
        return Reported(since, frozenset(mark_of(each) for each in kept))


@dataclass(frozen=True)
class CatalogCursor:
    """What is remembered of each task, and which one is looked at first."""

    tasks: Mapping[str, Reported] = field(default_factory=dict)
    first: str | None = None
    """Where the last tick stopped for want of time."""

    @classmethod
    def read(cls, text: str | None) -> CatalogCursor:
        """What was remembered; nothing, where that cannot be read."""
        try:
            known = json.loads(text or "{}")
            tasks = {
                str(task): Reported(zoned(since), frozenset(map(str, marks)))
                for task, (since, marks) in known.get("tasks", {}).items()
            }
            return cls(tasks, known.get("first"))
        except (ValueError, TypeError, AttributeError):
            return cls()

    def write(self) -> str:
        """As Dagster keeps it."""
        tasks = {
            task: [each.since.isoformat(), sorted(each.marks)]
            for task, each in self.tasks.items()
            if each.since is not None
        }
        return json.dumps({"tasks": tasks, "first": self.first}, separators=(",", ":"))

    def of(self, task: str) -> Reported:
        """What is remembered of a task."""
        return self.tasks.get(task, Reported())

    def in_turn(self, tasks: Iterable[str]) -> list[str]:
        """The tasks, beginning with the one at which the last tick stopped."""
        ordered = list(tasks)
        start = ordered.index(self.first) if self.first in ordered else 0
        return ordered[start:] + ordered[:start]


def room_for(tasks: int) -> int:
    """How many receipts may be remembered of each of so many tasks."""
    return max(REMEMBERED_OF_A_TASK, REMEMBERED // max(tasks, 1))


def mark_of(receipt: Receipt) -> str:
    """A short text that stands for one end of one run of a task.

    An end that another wrote for a run yields to the run's own word, which is another end.
    """
    told = f"{receipt.run_id}\0{receipt.status}"
    return base64.urlsafe_b64encode(hashlib.sha256(told.encode()).digest()[:9]).decode()
