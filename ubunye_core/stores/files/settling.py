"""Which of many tasks are plainly well, told from their names and what is known of their files."""

from __future__ import annotations

import os
from itertools import islice

from ubunye_core.receipt import Receipt, Status
from ubunye_core.runids import time_in
from ubunye_core.stores.capabilities import Settled
from ubunye_core.stores.files.documents import look
from ubunye_core.stores.files.facts import Facts, TaskFacts, last_fact
from ubunye_core.stores.files.hints import NAMES, Hints
from ubunye_core.stores.files.lines import OF_STATUS, Fact, bodies, fact_of, microseconds
from ubunye_core.stores.files.names import MILLISECOND, HintsFailError, by_hints, shows_start
from ubunye_core.stores.files.place import SUFFIX, Place

NEWEST = 50
"""Health looks at so many runs of a task."""
_LARGE_BYTES = 100_000
_LAST_LINES = 256
"""Bytes at the end of the names; a line has about sixty, and 200 where a run id is long."""
_MOST_OPENED = 5
"""With more that is not known, health's own look costs no more."""
_SUCCESS = OF_STATUS[Status.SUCCESS]


def settled(task: str, place: Place, facts: Facts) -> Settled | None:
    """The newest run of a task, if all its runs have ended."""
    hints = Hints(place.folder(task))
    known = facts.of(task, hints)
    newest = _newest_of_ended(hints)
    fact = None if newest is None else _fact(newest, hints, known)
    if newest is None or fact is None:
        return _among_the_newest(task, hints, known, place)
    return fact.settled(newest)


def _newest_of_ended(hints: Hints) -> str | None:
    """The newest run, where it is certain that all runs are known and have ended.

    A run that has ended never runs again, so the others need no look.
    """
    if hints.state().open_runs != frozenset() or not hints.nothing_runs():
        return None
    try:
        lines = list(bodies(hints.tail(NAMES, hints.size(NAMES), _LAST_LINES)))
    except OSError:
        return None
    parts = lines[-1].decode("ascii").split(" ") if lines and lines[-1] is not None else []
    if len(parts) != 4 or parts[3] != "-":  # else the names of some show nothing
        return None
    shown = time_in(parts[1])
    is_newest = shown is not None and microseconds(shown) // MILLISECOND > int(parts[2])
    return parts[1] if is_newest else None


def _fact(run_id: str, hints: Hints, known: TaskFacts) -> Fact | None:
    """What is known of a run, if its file is as it was then."""
    try:
        found = os.stat(f"{hints.folder}/{run_id}{SUFFIX}")
        fact = known.get(run_id)
        if fact is None or not fact.is_of(found):
            fact = last_fact(run_id, hints)
    except OSError:
        return None
    return fact if fact is not None and fact.is_of(found) else None


def _among_the_newest(task: str, hints: Hints, known: TaskFacts, place: Place) -> Settled | None:
    """The newest run if it is a success, by a look at the files of the newest ones.

    Those whose names show no start are looked at however many they are, for any of them may be
    the newest, or damaged.
    """
    wanted = _newest(hints) or _of_all(place.names(hints.folder))
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
            quick = by_hints(hints)
            return [] if quick is None else [each.name for each in islice(quick, NEWEST)]
        except HintsFailError:
            pass
    return []


def _of_all(names: list[str]) -> list[str]:
    showing = shows_start(names)
    newest = sorted(showing)[-NEWEST:]
    if len(showing) < len(names):
        newest += set(names).difference(showing)
    return newest


def _stats(folder: str, names: list[str]) -> list[os.stat_result] | None:
    """What the system says of these files; None where it says nothing of one."""
    try:
        return [os.stat(folder + name) for name in names]
    except OSError:
        return None
