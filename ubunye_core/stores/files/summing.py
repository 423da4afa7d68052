"""The successes of a task in short, from what is known of their files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property

from ubunye_core.codec import Brief
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.files.documents import look, look_briefly
from ubunye_core.stores.files.facts import TaskFacts
from ubunye_core.stores.files.hints import Hints
from ubunye_core.stores.files.lines import OF_STATUS, stamp, variable_key
from ubunye_core.stores.files.listing import told_apart
from ubunye_core.stores.files.names import begun_since
from ubunye_core.stores.files.place import SUFFIX, Place
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.select import could_be_since
from ubunye_core.stores.successes import Named, Success, Summaries, Summed
from ubunye_core.times import microseconds

_SUCCESS = OF_STATUS[Status.SUCCESS]
_PARTS = 9


def summaries(task: str, asked: Summed, place: Place, facts: TaskFacts) -> Summaries:
    """The runs of a task: what is known is believed of a file that is still as it was described."""
    facts.load()
    hints = facts.hints
    short, since = _Short(asked), microseconds(asked.since)
    successes: list[Success] = []
    others: list[Receipt] = []
    unreadable: list[Unreadable] = []
    texts, end = facts.texts, -len(SUFFIX)
    for name, found in _files(place, hints, asked.since):
        run_id = name[:end]
        text = texts.get(run_id)
        # As Fact.is_of tells it.
        if text is not None and found is not None and text.startswith(b"%b " % stamp(found)):
            told = short.told(run_id, text)
            if told is not None:
                if told.started >= since:
                    successes.append(told)
                continue
        brief = None if found is None else facts.brief(run_id, found)
        seen, described = (
            (brief, None)
            if brief is not None
            else look_briefly(f"{hints.folder}/{name}", task, run_id)
        )
        if isinstance(seen, Brief):
            if described is not None:
                facts.learn_briefly(run_id, seen, described)
            success = short.of_brief(run_id, seen)
            if success is not None:
                if success.started >= since:
                    successes.append(success)
                continue
            seen, described = look(f"{hints.folder}/{name}", task)
        if isinstance(seen, Unreadable):
            if could_be_since(seen, asked.since):
                unreadable.append(seen)
        elif seen is not None:
            if described is not None:
                facts.learn(seen, described)
            if seen.started_at >= asked.since:
                said = asked.success_of(seen)
                others.append(seen) if said is None else successes.append(said)
    return Summaries(successes=successes, others=Found(others, unreadable))


def _files(
    place: Place, hints: Hints, since: datetime
) -> Iterator[tuple[str, os.stat_result | None]]:
    """The receipts that may have started since then, and what the system says of their files."""
    listing = told_apart(place.entries(hints.folder))
    names = [name.decode() for name in begun_since(listing.showing, since)]
    with contextlib.ExitStack() as opened:
        folder = None
        with contextlib.suppress(OSError):  # a name in a folder that is open is found sooner
            folder = os.open(hints.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            opened.callback(os.close, folder)
        for name in (*names, *listing.others):
            found = None
            if folder is not None:
                with contextlib.suppress(OSError):
                    found = os.stat(name, dir_fd=folder)
            yield name, found


class _Short:
    """Reads successes from facts."""

    def __init__(self, asked: Summed) -> None:
        self._asked, self._until = asked, microseconds(asked.until)

    def told(self, run_id: str, text: bytes) -> Success | None:
        """A success in short, from a fact's text; None where its receipt must tell."""
        parts = text.split(b" ")
        if len(parts) != _PARTS or parts[3] != _SUCCESS:
            return None
        started, ended = int(parts[4]), int(parts[5])
        if ended == started or ended > self._until or started > self._until:
            return None  # of an old record that does not say when it ended, both are the same
        first: int | None = None
        last: int | None = None
        named: tuple[Named, ...] = ()
        if parts[6] != b"-":
            start, _, end = parts[6].partition(b"/")
            first, last = int(start), int(end)
        elif self._asked.variables:
            named = self._named(parts[8])
        rows = None if parts[7] == b"-" else int(parts[7])
        return Success(started, run_id, ended, first, last, named, rows)

    def of_brief(self, run_id: str, run: Brief) -> Success | None:
        """A success that was read, in short; None where it has to be told whole."""
        if run.ended > self._until or run.started > self._until:
            return None
        if run.window is None:
            named = self._asked.named(run.variables) if self._asked.variables else ()
            return Success(run.started, run_id, run.ended, named=named, rows=run.rows)
        return Success(run.started, run_id, run.ended, *run.window, (), run.rows)

    def _named(self, keys: bytes) -> tuple[Named, ...]:
        known = keys.partition(b"@")[0].split(b":")[1:]
        return tuple(self._by_key[key] for key in known if key in self._by_key)

    @cached_property
    def _by_key(self) -> Mapping[bytes, Named]:
        asked = self._asked.variables
        return {variable_key(name, text)[1:].encode(): (name, text) for name, text in asked}
