"""Which receipts to look at, and in which order, told by their names.

Of a name that does not show its start only the date of its file is known: nothing was written
before it began, so a file is at most as new as its date, give or take five minutes between two
clocks.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ubunye_core.runids import time_in
from ubunye_core.stores.files.facts import TaskFacts
from ubunye_core.stores.files.hints import NAMES, Hints
from ubunye_core.stores.files.lines import bodies
from ubunye_core.stores.files.listing import shows_start
from ubunye_core.stores.files.place import SUFFIX
from ubunye_core.times import microseconds

MILLISECOND = 1_000
A_MOMENT = 1_000_000
"""A second: others may make an id before they note the start. Ours show the millisecond."""
SKEW = 5 * 60 * 1_000_000
ANY_TIME = 1 << 62
_FIRST_FEW = 256
_TAIL_BYTES = 1_024
_LINE_BYTES = 90
"""Of the line that names a run of ours, and a few more."""


class HintsFailError(Exception):
    """The hints cannot be trusted: the folder must be listed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A receipt that may belong to an answer."""

    name: str
    """Of its file."""
    newest: int
    """Its run did not start after this instant, in microseconds."""
    shows_start: bool
    found: os.stat_result | None = None

    @property
    def run_id(self) -> str:
        return self.name.removesuffix(SUFFIX)


def by_name(names: Sequence[bytes], since: datetime | None, few: bool) -> Iterator[Candidate]:
    """Candidates whose names show their start, newest first.

    Args:
        names: Their file names.
        since: Those that cannot have started at this instant or later are left out.
        few: Whether a few of the newest are likely to be all that is looked at.
    """
    names = begun_since(names, since)
    done = 0
    if few and len(names) > 2 * _FIRST_FEW:
        newest = heapq.nlargest(_FIRST_FEW, names)
        done = len(newest)
        yield from map(_candidate, map(bytes.decode, newest))
    for name in sorted(names, reverse=True)[done:]:
        yield _candidate(name.decode())


def begun_since(names: Sequence[bytes], since: datetime | None) -> Sequence[bytes]:
    """Those names that show their start, but for what cannot have started at this instant or later.

    Args:
        names: File names that show their start.
        since: The instant; None means all.
    """
    first = 0 if since is None else (microseconds(since) - A_MOMENT) // MILLISECOND
    if first <= 0:
        return names
    text = b"%012x" % first
    first_name = b"%b-%b" % (text[:8], text[8:])
    return [name for name in names if name >= first_name]


def _candidate(name: str) -> Candidate:
    return Candidate(name, _shown(name) * MILLISECOND + A_MOMENT, shows_start=True)


def _shown(name: str) -> int:
    """The milliseconds since 1970 that a name shows."""
    return int(name[:8] + name[9:13], 16)


def by_date(
    names: Sequence[str], folder: Path, facts: TaskFacts, *, trust_dates: bool
) -> tuple[list[Candidate], bool]:
    """Candidates whose names show nothing, newest first.

    Returns:
        They, and whether dates can be trusted: no run is known to have started after its date.
    """
    candidates = []
    for name in names:
        try:
            found = os.stat(f"{folder}/{name}")
        except OSError:  # gone, or a link to nothing: who opens it will see
            candidates.append(Candidate(name, ANY_TIME, shows_start=False))
            continue
        newest = found.st_mtime_ns // 1_000 + SKEW
        fact = facts.get(name.removesuffix(SUFFIX))
        if fact is not None and fact.is_of(found):
            trust_dates = trust_dates and fact.started <= newest
            newest = fact.started
        elif not trust_dates:
            newest = ANY_TIME
        candidates.append(Candidate(name, newest, shows_start=False, found=found))
    candidates.sort(key=lambda each: each.newest, reverse=True)
    return candidates, trust_dates


def by_hints(hints: Hints, wanted: int | None = None) -> Iterator[Candidate] | None:
    """All candidates of a task, newest first, without a listing of its folder.

    None where that cannot be told: somebody else has changed the folder, or the names of some
    show nothing. One may have gone. Where so many are ``wanted``, as much is read at first.

    Raises:
        HintsFailError: while they are given out: a line of the hints is damaged.
    """
    open_runs = hints.state().open_runs
    if open_runs is None or any(time_in(run_id) is None for run_id in open_runs):
        return None
    if not hints.size(NAMES):
        return None
    waiting = {f"{run_id}{SUFFIX}" for run_id in open_runs}
    return _backwards(hints, waiting, max(_TAIL_BYTES, _LINE_BYTES * (wanted or 0)))


def _backwards(hints: Hints, waiting: set[str], length: int) -> Iterator[Candidate]:
    """The candidates in the tail of the list of names, and further back as they are asked for.

    A line says how new the newest name before it is, so that what is newer than all that was not
    read yet can be given out.
    """
    size, given = hints.size(NAMES), set[str]()
    while True:
        try:
            data = hints.tail(NAMES, size, length)
        except OSError as error:
            raise HintsFailError from error
        newest_before = 0
        if length < size:
            data = data[data.find(b"\n") + 1 :]
        first = True
        for body in bodies(data):
            parts = [] if body is None else body.decode("ascii").split(" ")
            if len(parts) != 4 or parts[3] != "-":
                raise HintsFailError
            if first:
                newest_before, first = int(parts[2]), False
            waiting.add(f"{parts[1]}{SUFFIX}")
        if length >= size:
            newest_before = -1
        elif first:
            raise HintsFailError
        ready = sorted((name for name in waiting - given), reverse=True)
        if not all(map(shows_start, ready)):
            raise HintsFailError
        for candidate in map(_candidate, ready):
            if _shown(candidate.name) <= newest_before:
                break
            given.add(candidate.name)
            yield candidate
        if length >= size:
            return
        length *= 4
