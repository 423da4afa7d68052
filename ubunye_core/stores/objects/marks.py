"""What is known of a task's receipts as a whole, so that few of its names need to be listed."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from ubunye_core.receipt import Receipt
from ubunye_core.runids import time_in

EVERY = 32
"""One run of so many leaves a mark, as its id decides."""
MOST_MARKS = 64
MOST_KINDS = 32


@dataclass(frozen=True, kw_only=True)
class Marks:
    """What every run of a task was made known in, before its receipt was written.

    Only where it is ``complete`` does it speak of all runs: it was made when the task had none, or
    by a repair.
    """

    complete: bool = False
    others: bool = False
    """Whether a run has an id that shows no time."""
    kinds: frozenset[frozenset[str]] | None = frozenset()
    """The names of variables that batches have; None where there are too many kinds."""
    marks: tuple[str, ...] = ()
    """Run ids that show their start, ascending: some of the newest, as places to list from."""

    def with_runs(self, receipts: Iterable[Receipt]) -> Marks:
        """The same, with these runs made known."""
        others, kinds, marks = self.others, self.kinds, set(self.marks)
        for receipt in receipts:
            if time_in(receipt.run_id) is None:
                others = True
            elif is_a_mark(receipt.run_id):
                marks.add(receipt.run_id)
            kinds = None if kinds is None else kinds | {receipt.batch.names}
        if kinds is not None and len(kinds) > MOST_KINDS:
            kinds = None
        newest = tuple(sorted(marks)[-MOST_MARKS:])
        return replace(self, others=others, kinds=kinds, marks=newest)

    def start_for(self, newest: int) -> str | None:
        """A run id after which that many runs and some more are all but certain to come."""
        likely = newest / EVERY
        back = 5 + math.ceil(likely + 5 * math.sqrt(likely))
        return self.marks[-back] if len(self.marks) >= back else None

    def tells_start(self) -> bool:
        """Whether it is known that the names of all runs sort by their start."""
        return self.complete and not self.others

    def is_only_kind(self, names: frozenset[str]) -> bool:
        """Whether it is known that no batch has these variables and others besides."""
        if not self.complete or self.kinds is None:
            return False
        return all(kind == names for kind in self.kinds if kind >= names)

    def encode(self) -> bytes:
        """The hint as it is stored."""
        kinds = None if self.kinds is None else sorted(sorted(kind) for kind in self.kinds)
        return json.dumps(
            {
                "version": 1,
                "complete": self.complete,
                "others": self.others,
                "kinds": kinds,
                "marks": self.marks,
            }
        ).encode()

    @classmethod
    def decode(cls, document: bytes) -> Marks | None:
        """What is stored; None where it cannot be understood."""
        try:
            known = json.loads(document)
            if known["version"] != 1:
                return None
            kinds, marks = known["kinds"], tuple(map(str, known["marks"]))
            if any(time_in(mark) is None for mark in marks):
                return None
            return cls(
                complete=known["complete"] is True,
                others=known["others"] is not False,
                kinds=None if kinds is None else frozenset(frozenset(map(str, k)) for k in kinds),
                marks=tuple(sorted(marks)),
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            return None


def is_a_mark(run_id: str) -> bool:
    """Whether a run leaves a mark: about one in 32 does, and always the same ones."""
    return hashlib.sha256(run_id.encode()).digest()[0] % EVERY == 0


def before(moment: datetime) -> str:
    """A name that sorts before the id of every run that started at this instant or later."""
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    milliseconds = min(max(0, since // timedelta(milliseconds=1) - 1), (1 << 48) - 1)
    text = f"{milliseconds:012x}"
    return f"{text[:8]}-{text[8:]}"
