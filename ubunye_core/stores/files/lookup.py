"""Finding runs by what they are for, without a look at the task's other runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ubunye_core.batch import Batch, agrees
from ubunye_core.names import is_segment
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.files.documents import look
from ubunye_core.stores.files.facts import Facts, TaskFacts
from ubunye_core.stores.files.hints import MOST_OPEN, Hints, run_ids
from ubunye_core.stores.files.lines import (
    OF_STATUS,
    Fact,
    attempt_key,
    batch_key,
    bodies,
    wanted_keys,
)
from ubunye_core.stores.files.place import SUFFIX, Place
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.times import microseconds

_SUCCESS = OF_STATUS[Status.SUCCESS]


class Lookup:
    """Answers from hints, each checked by a look at the files that it speaks of."""

    def __init__(self, place: Place, facts: Facts) -> None:
        self._place, self._facts = place, facts

    def success_by_batch(self, task: str, batch: Mapping[str, str], *, whole: bool) -> Found | None:
        """The newest success of a batch and its newest run; None where a search must tell."""
        keys, wanted = wanted_keys(batch), Batch.of(batch)
        if keys is None or not (whole or keys):
            return None
        hints = self._facts.of(task).hints
        if whole:
            keys = [batch_key(wanted), *keys]
            kind, by = "b", keys[:1]
        else:
            kind, by = "v", keys
        named = self._named(hints, kind, by, keys)
        if named is None:
            return None

        def fits(run: Receipt) -> bool:
            return agrees(run.variables, batch) and (not whole or run.batch.is_same(wanted))

        seen = _Seen(str(hints.folder), task, fits)
        for run_id, fact in named.items():
            seen.look_at(run_id, fact)
        return seen.newest_and_success()

    def of_attempt(self, task: str, attempt: Orchestrator) -> Found:
        """The receipts of a task that stand for this attempt."""
        facts, key = self._facts.of(task), attempt_key(attempt)
        hints = facts.hints
        named = self._named(hints, "a", [key], [key])
        if named is None:
            named = self._all_but(hints, facts, key)
        receipts, unreadable = [], []
        for run_id in named:
            seen, _ = look(f"{hints.folder}/{run_id}{SUFFIX}", task)
            if isinstance(seen, Unreadable):
                unreadable.append(seen)
            elif seen is not None and attempt.is_same_attempt(seen.orchestrator):
                receipts.append(seen)
        return Found(receipts, unreadable)

    def _all_but(self, hints: Hints, facts: TaskFacts, key: str) -> dict[str, Fact | None]:
        """All runs but those that have ended and do not have a key."""
        facts.load()
        named: dict[str, Fact | None] = {}
        for run_id in sorted(run_ids(self._place.names(hints.folder))):
            fact = facts.get(run_id)
            if fact is not None and not fact.has(key) and _is_of(fact, hints, run_id):
                continue
            named[run_id] = fact
        return named

    def _named(
        self, hints: Hints, kind: str, by: Sequence[str], keys: Sequence[str]
    ) -> dict[str, Fact | None] | None:
        """The runs that may have these keys, with what is known of those that have ended.

        None where the hints cannot tell.
        """
        version, state = hints.version(), hints.state()
        if not state.are_whole:
            return None
        others = state.open_runs
        if others is None:  # before the hints are read: who is named has its other lines
            present = run_ids(self._place.names(hints.folder))
            others = frozenset(present - hints.known_names())
            if len(others) > MOST_OPEN:
                return None
        needles = [key.encode() for key in keys]
        named: dict[str, Fact | None] = {}
        try:
            data = hints.read(min((hints.file_of(kind, key) for key in by), key=hints.size))
        except OSError:
            return None
        if hints.version() != version:  # a repair may have taken the file away meanwhile
            return None
        for body in bodies(data):
            if body is None:
                return None
            if all(needle in body for needle in needles):
                letter, run_id, *rest = body.split(b" ", 2)
                name = run_id.decode("ascii", "replace")
                if not is_segment(name):  # never a path that leads elsewhere
                    return None
                named[name] = Fact(rest[0]) if letter == b"T" and rest else None
        return named | dict.fromkeys(others)


def _is_of(fact: Fact, hints: Hints, run_id: str) -> bool:
    try:
        return fact.is_of(os.stat(f"{hints.folder}/{run_id}{SUFFIX}"))
    except OSError:
        return False


@dataclass(frozen=True)
class _Run:
    started: int
    run_id: str
    is_success: bool
    receipt: Receipt | None
    """None where it has not been opened."""

    @property
    def order(self) -> tuple[int, str]:
        return (self.started, self.run_id)


class _Seen:
    """The runs of a batch that have been looked at."""

    def __init__(self, folder: str, task: str, fits: Callable[[Receipt], bool]) -> None:
        self._folder, self._task, self._fits = folder, task, fits
        self._runs: list[_Run] = []

    def look_at(self, run_id: str, fact: Fact | None) -> None:
        """Look at one run more. What cannot be read is no success, nor is it known to be later."""
        path = f"{self._folder}/{run_id}{SUFFIX}"
        if fact is not None:
            with contextlib.suppress(OSError):
                if fact.is_of(os.stat(path)):
                    self._runs.append(_Run(fact.started, run_id, fact.status == _SUCCESS, None))
                    return
        seen, _ = look(path, self._task)
        if isinstance(seen, Receipt) and self._fits(seen):
            self._runs.append(_opened(seen))

    def newest_and_success(self) -> Found | None:
        """The newest run and the newest success, opened and checked. None if that fails."""
        newest = max(self._runs, key=lambda run: run.order, default=None)
        successes = (run for run in self._runs if run.is_success)
        success = max(successes, key=lambda run: run.order, default=None)
        if newest is None or success is None:
            return None
        receipts = {}
        for run in (success, newest):
            receipt = run.receipt
            if receipt is None and run.run_id not in receipts:
                seen, _ = look(f"{self._folder}/{run.run_id}{SUFFIX}", self._task)
                is_it = isinstance(seen, Receipt) and _opened(seen).order == run.order
                if not is_it or not isinstance(seen, Receipt) or not self._fits(seen):
                    return None
                receipt = seen
            if receipt is not None:
                receipts[run.run_id] = receipt
        if receipts[success.run_id].status is not Status.SUCCESS:
            return None
        return Found(receipts.values())


def _opened(receipt: Receipt) -> _Run:
    return _Run(
        microseconds(receipt.started_at),
        receipt.run_id,
        receipt.status is Status.SUCCESS,
        receipt,
    )
