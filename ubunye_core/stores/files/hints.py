"""The hints of one task: files beside the receipts that spare looking at most of them.

``.hints/names`` has a line for every run that is known, in the order in which they came. For
finding runs by what they are for, each run has a line in one of the files ``b0`` to ``bf`` by its
batch, ``v0`` to ``vf`` by each variable, ``a0`` to ``af`` by its attempt (``b00`` to ``bff`` and so
on, where a repair found very many). ``facts/NNNNNN`` has a
line for every run that ended. All are only ever appended to, and nothing in them is believed
without a look at the receipt or at its file. ``now`` holds the runs that are known and have not
ended, and the newest that has; where it is missing, nobody knows.

``.locks/seen`` says whether they are complete: its own date is made of the dates of the task's
folder and of ``.hints``, as our last writer left them. Where anybody else has put a file in one of
them since, or taken one away, it does not fit any more. That costs a reader no open file. Without
it, the date of ``whole`` still tells whether a file of hints is missing.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ubunye_core.names import is_segment
from ubunye_core.stores.atomic import read_regular
from ubunye_core.stores.files.lines import bodies, sealed, start_of
from ubunye_core.stores.files.place import HINTS, LOCKS, SUFFIX

NAMES, FACTS, WHOLE, SEEN, NOW = "names", "facts", "whole", "seen", "now"
MOST_OPEN = 64
"""So many runs may be left for every reader to look at; with more, hints wait for a repair."""
SEGMENT_BYTES = 65_536
_MOST_BYTES = 1 << 30
_BEHIND = b"behind\n"
_SECOND = 1_000_000_000
TICK_SECONDS = 2.0
"""A file that changed so recently may change again without showing it."""


@dataclass(frozen=True, slots=True)
class State:
    """How far hints can be relied on."""

    are_whole: bool
    """Whether all files of hints are there that our last writer left."""
    open_runs: frozenset[str] | None
    """The runs that a reader must look at itself, where all others are known for certain; None
    where somebody else may have put receipts in the folder."""


@dataclass(frozen=True, slots=True)
class Now:
    """How the runs of a task stand that are known."""

    running: frozenset[str]
    """Those that have not ended."""
    newest: bytes | None
    """The line of the newest that has ended."""


NOTHING_KNOWN = State(are_whole=False, open_runs=None)


class Hints:
    """The hints of the task with this folder. Reading never fails: then nothing is known."""

    def __init__(self, folder: Path, place: Path | None = None) -> None:
        """``place`` is where the hints are; else ``.hints`` in the folder."""
        self.folder, self._folder = folder, f"{folder}"
        self._place = f"{place or folder}{'' if place else '/' + HINTS}"
        self._seen = f"{folder}/{LOCKS}/{SEEN}"
        self._last_state: tuple[tuple[int, ...], State] | None = None
        self._last_now: tuple[tuple[int, ...], Now | None] | None = None

    @property
    def place(self) -> Path:
        """Where they are."""
        return Path(self._place)

    def path(self, name: str) -> str:
        """Where one of their files is."""
        return f"{self._place}/{name}"

    def state(self) -> State:
        """What can be told of the hints as they are now."""
        try:
            task, hints = self._stats()
            try:
                seen = os.lstat(self._seen)
            except FileNotFoundError:
                whole = os.lstat(self.path(WHOLE))
                date = _date_of_hints(hints) * _SECOND
                return State(are_whole=whole.st_mtime_ns == date, open_runs=None)
            shown = (*_shown(task), *_shown(hints), *_shown(seen))
            last = self._last_state
            if last is not None and last[0] == shown:
                return last[1]
            state = self._told(seen, _date_of_task(task), _date_of_hints(hints))
        except (OSError, ValueError):
            return NOTHING_KNOWN
        if not seen.st_size:
            self._last_state = shown, state
        return state

    def _told(self, seen: os.stat_result, of_task: int, of_hints: int) -> State:
        known_task, known_hints = divmod(seen.st_mtime_ns, _SECOND)
        if known_hints != of_hints or not stat.S_ISREG(seen.st_mode):
            return NOTHING_KNOWN
        open_runs = self._listed_open() if seen.st_size else frozenset[str]()
        return State(are_whole=True, open_runs=open_runs if known_task == of_task else None)

    def _listed_open(self) -> frozenset[str]:
        data = read_regular(self._seen, at_most=_MOST_BYTES, follow=False)
        return frozenset(_named(body) for body in bodies(data))

    def _dates(self) -> tuple[int, int]:
        """What stands for the task's folder and the folder of hints, as they are now."""
        task, hints = self._stats()
        return _date_of_task(task), _date_of_hints(hints)

    def _stats(self) -> tuple[os.stat_result, os.stat_result]:
        task, hints = os.stat(self._folder), os.lstat(self._place)
        if not stat.S_ISDIR(hints.st_mode):
            raise NotADirectoryError
        return task, hints

    def is_behind(self) -> bool:
        """Whether there is so much to catch up with that only a repair does it."""
        with contextlib.suppress(OSError):
            return read_regular(self._seen, at_most=_MOST_BYTES, follow=False) == _BEHIND
        return False

    def read(self, name: str, *, at_most: int = _MOST_BYTES) -> bytes:
        """What a file of hints holds; nothing where there is none.

        Raises:
            OSError: it is no file, or cannot be read.
        """
        with contextlib.suppress(FileNotFoundError):
            return read_regular(self.path(name), at_most=at_most, follow=False)
        return b""

    def tail(self, name: str, size: int, length: int) -> bytes:
        """The last ``length`` bytes of the first ``size`` ones of a file."""
        start = max(0, size - length)
        data = read_regular(self.path(name), at_most=_MOST_BYTES, follow=False, start=start)
        return data[: size - start]

    def version(self) -> int | None:
        """What changes when files of hints come or go; None where there are none."""
        try:
            return self._dates()[1]
        except OSError:
            return None

    def file_of(self, kind: str, key: str) -> str:
        """The file of the runs with a key: one of 16 of its kind, of 256 in a large folder."""
        return f"{kind}{key[1 : 1 + (2 if self.size(WHOLE) > 1 else 1)]}"

    def size(self, name: str) -> int:
        """How many bytes a file of hints has."""
        with contextlib.suppress(OSError):
            return os.lstat(self.path(name)).st_size
        return 0

    def known_names(self) -> set[str]:
        """The runs that the hints know."""
        try:
            data = self.read(NAMES)
        except OSError:
            return set()
        return {
            body.split(b" ")[1].decode("ascii")
            for body in bodies(data)
            if body and body[:2] == b"N "
        }

    def now(self) -> Now | None:
        """How the runs stand that are known; None where nobody knows.

        Each is a file of its own, so that what was read of one is remembered.
        """
        try:
            found = os.lstat(self.path(NOW))
        except OSError:
            return None
        shown, last = _shown(found), self._last_now
        if last is not None and last[0] == shown:
            return last[1]
        now = self._read_now()
        if abs(time.time() - found.st_mtime) > TICK_SECONDS:
            self._last_now = shown, now
        return now

    def _read_now(self) -> Now | None:
        try:
            data = read_regular(self.path(NOW), at_most=_MOST_BYTES, follow=False)
            (body,) = bodies(data)  # all in one line, which is whole or says nothing
            mark, names, newest = (body or b"").split(b" ", 2)
            if mark != b"W":
                return None
            running = frozenset(map(_name_in, names.decode("ascii").strip("-").split(",")))
            return Now(running - {""}, None if newest == b"-" else newest)
        except (OSError, ValueError):
            return None

    def count_anew(self) -> Now:
        """How the runs stand that are known, from all that is known of them."""
        last: dict[str, bytes] = {}
        for segment in self.segments():
            for body in bodies(self.read(segment)):
                if body and body[:2] in (b"T ", b"B "):
                    last[body.split(b" ", 2)[1].decode("ascii")] = body
        ended = {name: body for name, body in last.items() if body[:2] == b"T "}
        known = self.known_names()
        newest = max((ended[name] for name in known & set(ended)), key=start_of, default=None)
        return Now(frozenset(known.difference(ended)), newest)

    def segments(self) -> list[str]:
        """The files of facts, oldest first."""
        place = self.path(FACTS)
        try:
            if stat.S_ISDIR(os.lstat(self._place).st_mode) and not os.path.islink(place):
                return sorted(
                    f"{FACTS}/{name}"
                    for name in os.listdir(place)
                    if name.isascii() and name.isdigit()
                )
        except OSError:
            pass
        return []

    # For writers, who hold the lock of the hints.

    def begin(self) -> None:
        """Make the folder of the hints."""
        if self.place.is_symlink():
            raise NotADirectoryError
        (self.place / FACTS).mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(self.path(WHOLE)):
            self.append(WHOLE, ())
            self.write_now(Now(frozenset(), None))

    def begin_wide(self) -> None:
        """Make the folder of the hints for very many runs."""
        self.begin()
        self.append(WHOLE, ())

    def begin_anew(self) -> None:
        """Forget all hints."""
        shutil.rmtree(self.place)
        self.begin()

    def append(self, name: str, lines: Iterable[bytes]) -> None:
        """Add lines to a file. A torn line that a killed writer left does not spoil them."""
        flags = (
            os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
        descriptor = os.open(self.path(name), flags, 0o666)
        try:
            text = b"\n" + b"".join(lines)
            if os.write(descriptor, text) < len(text):
                raise OSError(errno.ENOSPC, "a line was cut")
        finally:
            os.close(descriptor)

    def append_facts(self, lines: Iterable[bytes]) -> None:
        """Add facts to the newest segment, or begin another."""
        known = self.segments()
        last = known[-1] if known else f"{FACTS}/{0:06d}"
        if self.size(last) >= SEGMENT_BYTES:
            last = f"{FACTS}/{int(os.path.basename(last)) + 1:06d}"
        self.append(last, lines)

    def task_date(self) -> int:
        """What stands for the task's folder now, for ``confirm``."""
        return self._dates()[0]

    def confirm(self, task_date: int | None = None) -> None:
        """Say that all is known that is here now, or was here at ``task_date``.

        Only where ``seen`` said so before, or was written since.
        """
        task, hints = self._dates()
        date = (task if task_date is None else task_date) * _SECOND + hints
        os.utime(self._seen, ns=(date, date), follow_symlinks=False)
        self.confirm_whole()

    def confirm_whole(self) -> None:
        """Say that no file of hints is missing."""
        date = _date_of_hints(os.lstat(self._place)) * _SECOND
        os.utime(self.path(WHOLE), ns=(date, date), follow_symlinks=False)

    def write_seen(self, open_names: Iterable[str] | None) -> None:
        """Begin ``seen`` anew, with the runs that are left open; None where there are too many."""
        content = _BEHIND
        if open_names is not None:
            content = _lines_of(open_names)
        self.forget_seen()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._seen, flags, 0o666)
        try:
            os.write(descriptor, content)
        finally:
            os.close(descriptor)

    def write_now(self, now: Now) -> None:
        """Say how the runs stand that are known; with very many open, that nobody knows."""
        place = self.path(NOW)
        if len(now.running) > MOST_OPEN:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place)
            return
        names = ",".join(name.encode().hex() for name in sorted(now.running)) or "-"
        newest = "-" if now.newest is None else now.newest.decode("ascii")
        unfinished = f"{place}.{os.getpid()}.{os.urandom(4).hex()}"
        with open(unfinished, "xb") as file:
            file.write(sealed(f"W {names} {newest}"))
        os.replace(unfinished, place)

    def forget_seen(self) -> None:
        """Say that not all is known here: a writer did without the hints."""
        try:
            os.unlink(self._seen)
        except FileNotFoundError:
            pass
        except OSError:  # nobody but a stranger makes a folder here
            if not os.path.isdir(self._seen):
                raise
            shutil.rmtree(self._seen)


def _lines_of(names: Iterable[str]) -> bytes:
    return b"".join(sealed(f"O {name.encode().hex()}") for name in sorted(names))


def _named(body: bytes | None) -> str:
    """The run that a line of ``seen`` names; ``ValueError`` for any other line."""
    if body is None:
        raise ValueError("a line is damaged")
    return _name_in(body.decode("ascii").removeprefix("O "))


def _name_in(text: str) -> str:
    """The name that is written in hexadecimal digits; none where there are none."""
    name = bytes.fromhex(text).decode("utf-8")
    if name and not is_segment(name):
        raise ValueError("no run has such a name")
    return name


def run_ids(names: Iterable[str]) -> set[str]:
    """The run ids that file names stand for."""
    return {name.removesuffix(SUFFIX) for name in names}


def _shown(found: os.stat_result) -> tuple[int, ...]:
    """What tells a file or folder from what it was before."""
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size, found.st_mode)


def _date_of_task(found: os.stat_result) -> int:
    """What stands for a task's folder: seconds of a date before 2038."""
    # Who puts an older copy of the folder over it sets its date back, but not this one.
    return _digest(found, 31, found.st_ctime_ns)


def _date_of_hints(found: os.stat_result) -> int:
    """What stands for a folder of hints: nanoseconds of a second."""
    return _digest(found, 29)


def _digest(found: os.stat_result, bits: int, *more: int) -> int:
    text = " ".join(map(str, (found.st_mtime_ns, found.st_ino, *more)))
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - bits)
