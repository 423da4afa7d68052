"""Which of many tasks are plainly well, told from their names and what is known of their files."""

from __future__ import annotations

import heapq
import os
from dataclasses import replace
from itertools import islice

from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.capabilities import RUNS_READ, Settled
from ubunye_core.stores.files.documents import look
from ubunye_core.stores.files.facts import Facts, TaskFacts
from ubunye_core.stores.files.hints import NAMES, Hints, Now
from ubunye_core.stores.files.lines import OF_STATUS, Fact, fact_of
from ubunye_core.stores.files.listing import told_apart
from ubunye_core.stores.files.names import HintsFailError, by_hints
from ubunye_core.stores.files.place import SUFFIX, Place

_LARGE_BYTES = 100_000
_MOST_OPENED = 5
"""With more that is not known, health's own look costs no more."""
_SUCCESS = OF_STATUS[Status.SUCCESS]


def settled(task: str, place: Place, facts: Facts) -> Settled | None:
    """The newest run of a task, if it is certain which of its runs have not ended."""
    known_of_task = facts.of(task)
    hints = known_of_task.hints
    now = hints.now() if hints.state().open_runs == frozenset() else None
    known = None if now is None else _by_what_is_known(task, hints, now)
    return known or _among_the_newest(task, hints, known_of_task, place)


def _by_what_is_known(task: str, hints: Hints, now: Now) -> Settled | None:
    """The newest of those that run, and of the newest that has ended, where its file is as it was.

    A run that has ended never runs again, so the others need no look.
    """
    found: list[Settled] = []
    if now.newest is not None:
        _, name, text = now.newest.split(b" ", 2)
        run_id, fact = name.decode("ascii"), Fact(text)
        try:
            if not fact.is_of(os.stat(f"{hints.folder}/{run_id}{SUFFIX}")):
                return None
        except OSError:
            return None
        found.append(fact.settled(run_id))
    if len(now.running) > _MOST_OPENED:
        return None
    for run_id in now.running:
        receipt, _ = look(f"{hints.folder}/{run_id}{SUFFIX}", task)
        if not isinstance(receipt, Receipt) or receipt.status.is_final:
            return None
        found.append(Settled.of(receipt))
    newest = max(found, key=lambda run: (run.started_at, run.run_id), default=None)
    if newest is None or not now.running:
        return newest
    return replace(newest, open_runs=now.running)


def _among_the_newest(task: str, hints: Hints, known: TaskFacts, place: Place) -> Settled | None:
    """The newest run if it is a success, by a look at the files of the newest ones.

    Those whose names show no start are looked at however many they are, for any of them may be
    the newest, or damaged.
    """
    wanted = _newest(hints) or _of_all(place.entries(hints.folder))
    known.load(2)
    stats = _stats(f"{hints.folder}/", wanted)
    if stats is None:
        return None
    order, last, unknown = (0, ""), None, []
    for name, found in zip(wanted, stats, strict=True):
        run_id = name[: -len(SUFFIX)]
        fact = known.get(run_id)
        if fact is None or not fact.is_of(found):
            unknown.append(name)
        elif last is None or (fact.started, run_id) > order:
            order, last = (fact.started, run_id), fact
    if len(unknown) > _MOST_OPENED:
        return None
    for name in unknown:
        receipt, now = look(f"{hints.folder}/{name}", task)
        if not isinstance(receipt, Receipt) or now is None or not receipt.status.is_final:
            return None
        known.learn(receipt, now)
        fact = fact_of(receipt, now)
        if last is None or (fact.started, receipt.run_id) > order:
            order, last = (fact.started, receipt.run_id), fact
    return last.settled(order[1]) if last is not None and last.status == _SUCCESS else None


def _newest(hints: Hints) -> list[str]:
    """The names of the newest runs, where the folder is large and the hints can tell."""
    if hints.size(NAMES) > _LARGE_BYTES:
        try:
            quick = by_hints(hints, RUNS_READ)
            return [] if quick is None else [each.name for each in islice(quick, RUNS_READ)]
        except HintsFailError:
            pass
    return []


def _of_all(entries: list[bytes]) -> list[str]:
    listing = told_apart(entries)
    newest = heapq.nlargest(RUNS_READ, listing.showing)
    return [*map(os.fsdecode, newest), *listing.others]


def _stats(folder: str, names: list[str]) -> list[os.stat_result] | None:
    """What the system says of these files; None where it says nothing of one."""
    try:
        return [os.stat(folder + name) for name in names]
    except OSError:
        return None
