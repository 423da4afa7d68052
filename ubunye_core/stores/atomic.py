"""Files written whole and in one step, and read only if they are files."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

STRAY_AFTER_SECONDS = 3600
LOCK_WITHIN_SECONDS = 10.0
_UNFINISHED = re.compile(r"\.\d+\.[0-9a-f]{12}\Z")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, on disk when this returns."""
    missing = [folder, *folder.parents]
    missing = missing[: next(at for at, each in enumerate(missing) if each.exists())]
    folder.mkdir(parents=True, exist_ok=True)
    for made in reversed(missing):
        sync_folder(made.parent)


def replace_durably(path: Path, content: bytes, *, temporary: Path) -> None:
    """Put ``content`` at ``path``: a reader sees all of it or what was there before.

    On disk when this returns. ``temporary``: as for ``unfinished``.
    """
    with unfinished(path.name, content, temporary=temporary) as file:
        os.replace(file, path)
    sync_folder(path.parent)


def hidden_folder(folder: Path) -> None:
    """Make a folder beside receipts. A link is refused: nothing is written or removed elsewhere."""
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise OSError(errno.ELOOP, f"{folder.name} is a link")


@contextlib.contextmanager
def unfinished(name: str, content: bytes, *, temporary: Path) -> Iterator[Path]:
    """A file with this content, on disk, that is to be moved to its place; else it is removed.

    ``temporary`` is a folder on the same file system, where a killed writer leaves its unfinished
    file; such files are removed after an hour.
    """
    hidden_folder(temporary)
    _sweep(temporary)
    place = temporary / f"{name}.{os.getpid()}.{os.urandom(6).hex()}"
    try:
        with open(place, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield place
    finally:
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on disk. Some network file systems cannot, and do it unasked."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:  # we may write here, and not list
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _sweep(temporary: Path) -> None:
    """Remove what killed writers left. Another writer may do the same at this moment."""
    old = time.time() - STRAY_AFTER_SECONDS
    with contextlib.suppress(OSError), _opened(temporary) as folder, os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                is_old = entry.stat(follow_symlinks=False).st_mtime < old
                if is_old and _UNFINISHED.search(entry.name):
                    os.unlink(entry.name, dir_fd=folder)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """A folder that is no link, open for reading."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def lock(path: Path, *, within: float | None = None) -> Iterator[None]:
    """Hold the lock file at ``path`` alone; it is let go when its process ends, however it ends.

    Args:
        path: A file that is made where there is none, and never removed.
        within: For how many seconds to try; ``LOCK_WITHIN_SECONDS`` unless given.

    Raises:
        TimeoutError: another process holds it for long; that process may be stopped.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    try:
        _lock_within(descriptor, LOCK_WITHIN_SECONDS if within is None else within)
        try:
            yield
        finally:
            # Closing is not enough: a child forked meanwhile shares the lock through its copy.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _lock_within(descriptor: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    0, f"another writer has held its lock for {seconds:g} s"
                ) from None
            time.sleep(0.002)


def read_regular(path: Path | str, *, at_most: int, follow: bool = True, start: int = 0) -> bytes:
    """The content of a regular file; never waits for a pipe or a device.

    Raises:
        OSError: it is no regular file, is larger than ``at_most`` bytes, or cannot be read.
    """
    return read_with_stat(path, at_most=at_most, follow=follow, start=start)[0]


def read_with_stat(
    path: Path | str, *, at_most: int, follow: bool = True, start: int = 0
) -> tuple[bytes, os.stat_result]:
    """``read_regular``, and what the system said of the file before it was read.

    Args:
        path: The file.
        at_most: The most bytes it may have, those before ``start`` not counted.
        follow: Whether it may be a link to a file.
        start: The first byte to read.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "it is not a regular file")
        if found.st_size - start > at_most:
            raise OSError(0, f"it has {found.st_size} bytes")
        return _read(descriptor, start, max(found.st_size - start, 0), at_most), found
    finally:
        os.close(descriptor)


def _read(descriptor: int, start: int, expected: int, at_most: int) -> bytes:
    """What stands in an open file; its size may not be what it says."""
    if start:
        os.lseek(descriptor, start, os.SEEK_SET)
    parts, size = [], 0
    while size <= at_most:
        part = os.read(descriptor, max(expected + 1 - size, 65_536))
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
