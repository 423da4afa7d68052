"""The file of a ledger: read as it is, and only ever appended to."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.atomic import lock, make_folder, sync_folder
from ubunye_core.stores.jsonl.events import BEGINNING, MAX_LINE_BYTES, TORN, head_of, is_whole
from ubunye_core.stores.jsonl.index import Rest
from ubunye_core.stores.refusals import printable

_SAFELY = os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not keep anybody waiting


class Place:
    """A ledger's file, and the lock file beside it that writers hold."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def reading(self) -> Iterator[int]:
        """The file, open for reading.

        Raises:
            StoreUnavailableError: it is not there, is no file, or cannot be read.
        """
        with self._told("read"):
            descriptor = self._opened(os.O_RDONLY)
            try:
                yield descriptor
            finally:
                os.close(descriptor)

    @contextlib.contextmanager
    def writing(self) -> Iterator[int]:
        """The file, open for reading and appending, while nobody else writes; made if need be.

        Raises:
            StoreUnavailableError: it is no ledger, or cannot be written; or another writer holds
                its lock for long.
        """
        with self._told("written"):
            self._check_that_it_may_be_a_ledger()
            with lock(self._lock_file()):
                descriptor = self._opened(os.O_RDWR | os.O_APPEND, or_make=True)
                try:
                    yield descriptor
                finally:
                    os.close(descriptor)

    def finish(self, descriptor: int, rest: Rest) -> None:
        """End a line that a killed writer left, so that the next one is a line of its own.

        Called by a writer: nobody else is at work. What was cut short is marked: its save never
        returned.
        """
        line = os.pread(descriptor, min(rest.length, MAX_LINE_BYTES + 1), rest.offset)
        append(descriptor, b"\n" if is_whole(line, head_of(line)) else TORN + b"\n")

    def has_a_writer(self) -> bool:
        """Whether somebody may be writing now; no where that cannot be told."""
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | _SAFELY
            descriptor = os.open(self._lock_file(), flags)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return False

    def _lock_file(self) -> Path:
        """Beside the file itself: whoever comes by a link meets the others at one lock."""
        real = Path(os.path.realpath(self.path))
        return real.with_name(f"{real.name}.lock")

    def _opened(self, flags: int, *, or_make: bool = False) -> int:
        try:
            descriptor = os.open(self.path, flags | _SAFELY)
        except FileNotFoundError:
            if not or_make or self.path.is_symlink():
                raise
            descriptor = os.open(self.path, flags | os.O_CREAT | os.O_EXCL | _SAFELY, 0o666)
            sync_folder(self.path.parent)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise StoreUnavailableError(
                f"The ledger {printable(self.path)} is not a file.",
                hint="Name a file: jsonl:///srv/ledger.jsonl.",
            )
        return descriptor

    def _check_that_it_may_be_a_ledger(self) -> None:
        """Nothing is written to a file of somebody else, nor beside it."""
        try:
            descriptor = self._opened(os.O_RDONLY)
        except FileNotFoundError:
            if self.path.is_symlink():
                raise
            make_folder(self.path.parent)
            return
        try:
            first = os.pread(descriptor, 64, 0).partition(b"\n")[0].removesuffix(TORN)
        finally:
            os.close(descriptor)
        if not BEGINNING.startswith(first[: len(BEGINNING)]):
            raise StoreUnavailableError(
                f"{printable(self.path)} does not begin as a ledger does, so nothing is written "
                "to it.",
                hint="Name another file; a new one is made.",
            )

    @contextlib.contextmanager
    def _told(self, done: str) -> Iterator[None]:
        """What the system refuses leaves no room for an answer."""
        try:
            yield
        except StoreUnavailableError:
            raise
        except FileNotFoundError as error:
            if self.path.is_symlink():
                raise StoreUnavailableError(
                    f"The ledger {printable(self.path)} is a link to nothing."
                ) from error
            raise StoreUnavailableError(
                f"The ledger {printable(self.path)} does not exist.",
                hint="Is its disk mounted? The first recorded run makes it.",
            ) from error
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise StoreUnavailableError(
                f"The ledger {printable(self.path)} could not be {done}: {why}."
            ) from error


def append(descriptor: int, content: bytes) -> None:
    """Add to the end of a file; on disk when this returns."""
    left = memoryview(content)
    while left:  # once, as a rule; a full disk takes a part, and refuses the rest
        left = left[os.write(descriptor, left) :]
    os.fsync(descriptor)
