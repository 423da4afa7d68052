"""What is remembered of runs that have ended: facts, by the date, size and inode of their files.

A run that has not ended is never remembered, nor that something is absent.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from zlib import crc32

from ubunye_core.codec import Brief
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.atomic import read_regular
from ubunye_core.stores.files.hints import TICK_SECONDS, Hints
from ubunye_core.stores.files.lines import OF_STATUS, Fact, fact_of, stamp
from ubunye_core.stores.files.place import SUFFIX, Place

MOST_REMEMBERED = 200_000
_COUNTED_EVERY = 16
_MOST_BYTES = 1 << 30


class TaskFacts:
    """The facts of one task: those in the hints, and those of receipts that were read."""

    def __init__(self, hints: Hints) -> None:
        self.hints = hints
        """With what it remembers of its files."""
        self._texts: dict[str, bytes] = {}
        self._briefs: dict[str, tuple[bytes, Brief]] = {}
        self._read: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._texts) + len(self._briefs)

    @property
    def texts(self) -> Mapping[str, bytes]:
        """What is remembered, by run: ``Fact.text``."""
        return self._texts

    def get(self, run_id: str) -> Fact | None:
        """What is remembered of a run."""
        text = self._texts.get(run_id)
        return None if text is None else Fact(text)

    def left(
        self,
        names: Iterable[bytes],
        status: Status | None,
        keys: Iterable[str] | None,
    ) -> Iterator[bytes]:
        """Those files that may be of a run with this status and all these keys.

        The others are of runs that have ended and are known not to be. As ``Fact.is_of`` and
        ``Fact.may_fit`` tell it, for a hundred thousand in half the time.

        Args:
            names: The names of files.
            status: The status; None is any.
            keys: The keys; None where no run can have them.
        """
        letter = None if status is None else OF_STATUS.get(status, b"-")
        needles = None if keys is None else [key.encode() for key in keys]
        first = needles[0] if needles else b""
        texts, cut, folder = self._texts, -len(SUFFIX), os.fsencode(self.hints.folder) + b"/"
        for name in names:
            text = texts.get(name[:cut].decode())
            if text is not None and (
                needles is None
                or first not in text
                or (letter is not None and text.split(b" ", 4)[3] != letter)
                or not all(needle in text for needle in needles)
            ):
                try:
                    found = os.stat(folder + name)
                except OSError:
                    pass  # who looks at it sees why
                else:
                    if text.startswith(b"%b " % stamp(found)):
                        continue
            yield name

    def learn(self, receipt: Receipt, found: os.stat_result) -> None:
        """Remember a receipt that was read, if its run has ended."""
        if not receipt.status.is_final or _may_change_unseen(found):
            return
        known = self.get(receipt.run_id)
        if known is None or not known.is_of(found):
            self._remember(receipt.run_id, fact_of(receipt, found).text)

    def learn_briefly(self, run_id: str, run: Brief, found: os.stat_result) -> None:
        """Remember a success that was read in brief; to make its fact would take as long again."""
        if not _may_change_unseen(found) and len(self) < MOST_REMEMBERED:
            self._briefs[run_id] = (stamp(found), run)

    def brief(self, run_id: str, found: os.stat_result) -> Brief | None:
        """A success that was read in brief, while its file is as the system described it."""
        known = self._briefs.get(run_id)
        return known[1] if known is not None and known[0] == stamp(found) else None

    def load(self, segments: int | None = None) -> bool:
        """Read what has been added to the newest segments of the hints; None means all.

        Returns:
            Whether anything was read.
        """
        with self._lock:
            names = self.hints.segments()
            wanted = names if segments is None else names[-segments:] if segments else []
            return sum(map(self._load, wanted)) > 0

    def load_older(self) -> bool:
        """Read the newest segment that has not been read yet; False if there is none."""
        with self._lock:
            for name in reversed(self.hints.segments()):
                if name not in self._read:
                    return self._load(name)
        return False

    def _load(self, name: str) -> bool:
        (inode, done), place = self._read.get(name, (0, 0)), self.hints.path(name)
        try:
            found = os.lstat(place)
            if found.st_ino != inode or found.st_size < done:
                done = 0
            elif found.st_size == done:
                return False
            data = read_regular(place, at_most=_MOST_BYTES, follow=False, start=done)
        except OSError:
            return False
        whole = data.rfind(b"\n") + 1
        self._read[name] = (found.st_ino, done + whole)
        for run_id, text in _facts_in(data[:whole]):
            self._remember(run_id, text)
        return True

    def _remember(self, run_id: str, text: bytes) -> None:
        if len(self) < MOST_REMEMBERED or run_id in self._texts:
            self._texts[run_id] = text


def _may_change_unseen(found: os.stat_result) -> bool:
    """Whether a file is so new that it may change without another date."""
    return -TICK_SECONDS < time.time() - found.st_mtime < TICK_SECONDS


def _facts_in(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The runs that lines of hints say have ended, as ``bodies`` reads the lines."""
    for line in data.split(b"\n"):
        if line[:2] == b"T ":
            body, _, seal = line.rpartition(b" ")
            if seal == b"%08x" % crc32(body):
                _, name, text = body.split(b" ", 2)
                yield name.decode("ascii"), text


class Facts:
    """What is remembered of the tasks of a store: those that were asked for last."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._tasks: OrderedDict[str, TaskFacts] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, task: str) -> TaskFacts:
        """The facts of a task. Others are forgotten where there are too many."""
        with self._lock:
            known = self._tasks.get(task)
            if known is None:
                known = self._tasks[task] = TaskFacts(Hints(self._place.folder(task)))
                if len(self._tasks) % _COUNTED_EVERY == 0:
                    self._make_room()
            self._tasks.move_to_end(task)
            return known

    def _make_room(self) -> None:
        total = sum(map(len, self._tasks.values()))
        while total > MOST_REMEMBERED and len(self._tasks) > 1:
            total -= len(self._tasks.popitem(last=False)[1])
