"""One look at a ledger: what its lines say at one moment."""

from __future__ import annotations

import heapq
import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from ubunye_core.batch import Scalar
from ubunye_core.errors import AmbiguousRunError, BadReceiptError, ReceiptNotFoundError
from ubunye_core.masking import MASK
from ubunye_core.receipt import Receipt
from ubunye_core.runids import time_in
from ubunye_core.stores.jsonl.events import head_of, is_whole, receipt_in
from ubunye_core.stores.jsonl.index import Fact, Index, Rest
from ubunye_core.stores.protocol import Unreadable
from ubunye_core.stores.refusals import printable

TORN = "the line is cut short: whoever wrote it was stopped before the save returned"
CHANGED = "it is not as it was written: its end is gone"


class LedgerChangedError(Exception):
    """A line is not what was read before: somebody changed what is only to be appended to."""


class Reading:
    """An index, and the file that it is of."""

    def __init__(self, path: Path, index: Index, descriptor: int, *, torn: Rest | None) -> None:
        self.index, self.torn = index, torn
        self._path, self._descriptor = path, descriptor

    def tasks(self) -> list[str]:
        """Every task that a line names, in order."""
        torn = [bad.task for bad in self._torn(None) if bad.task is not None]
        return sorted({*self.index.runs, *torn})

    def newest_first(self, task: str | None) -> Iterator[tuple[str, Fact]]:
        """The runs of a task that can be read, or of all, each with its task."""
        runs = [self._newest_first(name) for name in self._names(task)]
        return runs[0] if len(runs) == 1 else heapq.merge(*runs, key=_order, reverse=True)

    def _newest_first(self, task: str) -> Iterator[tuple[str, Fact]]:
        return ((task, fact) for fact in self.index.newest_first(task))

    def receipt(self, task: str, fact: Fact) -> Receipt:
        """The receipt of a run.

        Raises:
            BadReceiptError: it cannot be read.
            LedgerChangedError: its line is not there any more.
        """
        where = self.where(fact.line, task, fact.run_id)
        if fact.why is not None:
            raise BadReceiptError(where, fact.why)
        line = os.pread(self._descriptor, fact.length, fact.offset)
        head = head_of(line)
        if head is None or (head.task, head.name) != (task, fact.run_id):
            raise LedgerChangedError
        if not is_whole(line, head):
            raise LedgerChangedError
        return receipt_in(line, head, where=where)

    def current(self, task: str, run_id: str) -> Receipt | None:
        """The receipt of a run by its whole id, or None. Raises as ``receipt`` does."""
        fact = self.index.runs.get(task, {}).get(run_id)
        return None if fact is None else self.receipt(task, fact)

    def found(self, task: str, run_id: str) -> Receipt:
        """The receipt of a run by its whole id or a beginning. Raises as a store's ``load``."""
        runs = self.index.runs.get(task, {})
        fitting = [run_id] if run_id in runs else sorted(i for i in runs if i.startswith(run_id))
        if len(fitting) > 1:
            raise AmbiguousRunError(run_id, fitting)
        if not fitting:
            raise ReceiptNotFoundError(
                f"{printable(self._path)} holds no run '{run_id}' of {task}.",
                hint=f"{self.strays_in_words()} could be it." if self.index.stray_count else None,
            )
        return self.receipt(task, runs[fitting[0]])

    def look(self, task: str, run_id: str) -> Receipt | Unreadable:
        """A run that is on record, or why it cannot be read."""
        fact = self.index.runs[task][run_id]
        try:
            return self.receipt(task, fact)
        except BadReceiptError as error:
            return Unreadable.of(error, task=task, run_id=run_id)

    def unreadable(self, task: str | None) -> list[Unreadable]:
        """What cannot be read, of a task or of all; lines of nobody could be of any."""
        bad = [
            Unreadable(
                where=self.where(fact.line, name, fact.run_id),
                why=fact.why or "",
                task=name,
                started_at=fact.started_at,
            )
            for name in self._names(task)
            for fact in self.index.damaged.get(name, {}).values()
        ]
        return [*bad, *self._strays(), *self._torn(task)]

    def strays_in_words(self) -> str:
        """How many lines are of nobody, and where the first one is."""
        count, first = self.index.stray_count, self.where(self.index.strays[0].line)
        return (
            f"{first} cannot be read, and"
            if count == 1
            else (f"{first} and {count - 1} more cannot be read, and each")
        )

    def where(self, line: int, task: str | None = None, run_id: str | None = None) -> str:
        """The place of a line."""
        named = "" if run_id is None else f" (run {run_id} of {task})"
        return f"{printable(self._path)}:{line}{named}"

    def _names(self, task: str | None) -> list[str]:
        if task is None:
            return list(self.index.runs)
        return [task] if task in self.index.runs else []

    def _strays(self) -> Iterator[Unreadable]:
        for stray in self.index.strays:
            yield Unreadable(where=self.where(stray.line), why=stray.why)
        more = self.index.stray_count - len(self.index.strays)
        if more:
            after = self.where(self.index.strays[-1].line)
            yield Unreadable(where=after, why=f"{more} lines after this one cannot be read either")

    def _torn(self, task: str | None) -> Iterator[Unreadable]:
        """The last line, if a writer was stopped in it.

        That save never returned: where the run has a record of before, that one stands.
        """
        if self.torn is None:
            return
        rest, head = self.torn, self.torn.head
        if not rest.is_cut_short:
            yield Unreadable(where=self.where(rest.line), why=CHANGED)
        elif head is None:
            yield Unreadable(where=self.where(rest.line), why=TORN)
        elif head.event != "save":
            return  # a claim that nobody was given
        elif task in (None, head.task) and head.name not in self.index.runs.get(head.task, {}):
            yield Unreadable(
                where=self.where(rest.line, head.task, head.name),
                why=TORN,
                task=head.task,
                started_at=time_in(head.name),
            )


def _order(each: tuple[str, Fact]) -> tuple[datetime, str]:
    started_at = each[1].started_at
    assert started_at is not None  # only a damaged one has none
    return started_at, each[1].run_id


def agreeing(
    batch: Mapping[str, str], question: Callable[[Mapping[str, Scalar]], bool]
) -> Callable[[Fact], bool]:
    """Whether the variables of a run are what a question about a batch wants.

    Most are ruled out unread: a text that agrees stands in them, unless a part of it is masked.
    """
    needles = [json.dumps(text)[1:-1].encode() for text in batch.values() if MASK not in text]

    def is_so(fact: Fact) -> bool:
        has_all = all(needle in fact.variables for needle in needles)
        return has_all and question(json.loads(fact.variables))

    return is_so
