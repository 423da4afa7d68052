"""What can be told of a folder store's place."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from ubunye_core.counted import count
from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.atomic import lock, sync_folder
from ubunye_core.stores.capabilities import Finding
from ubunye_core.stores.files.hints import Hints, run_ids
from ubunye_core.stores.files.place import Place

CLOCKS_APART_SECONDS = 60.0


def examine(place: Place) -> Iterator[Finding]:
    """Try what a writer does, in a folder of its own that is removed again."""
    try:
        place.check_root()
    except StoreUnavailableError as error:
        yield Finding(what="write", good=None, why=error.message)
        return
    trial = place.root / f".check.{os.getpid()}.{os.urandom(6).hex()}"
    try:
        trial.mkdir()
    except OSError as error:
        why = f"nothing may be written there: {error.strerror}; reading works without"
        yield Finding(what="write", good=False, why=why)
    else:
        try:
            yield from _trials(trial)
        finally:
            for left in trial.iterdir():
                left.unlink(missing_ok=True)
            trial.rmdir()
    yield _hints(place)


def _trials(trial: Path) -> Iterator[Finding]:
    file = trial / "file"
    try:
        file.write_bytes(b"x")
        os.replace(file, trial / "moved")
    except OSError as error:
        yield Finding(what="write", good=False, why=f"a file cannot be written: {error.strerror}")
        return
    yield Finding(what="write", good=True, why="a file can be written, and put in place whole")
    yield _durability(trial)
    yield _lock(trial)
    yield _claim(trial / "moved", trial / "linked")
    yield _clock(trial)


def _durability(trial: Path) -> Finding:
    try:
        descriptor = os.open(trial / "moved", os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_folder(trial)
    except OSError as error:
        return Finding(what="durability", good=False, why=f"fsync fails: {error.strerror}")
    return Finding(
        what="durability",
        good=True,
        why="a save returns when file and folder are on disk, as far as the disk tells the truth",
    )


def _lock(trial: Path) -> Finding:
    try:
        with lock(trial / "lock", within=0):
            pass
    except OSError as error:
        why = f"files cannot be locked ({error.strerror}), so nothing can be saved here"
        return Finding(what="lock", good=False, why=why)
    why = (
        "writers of one run take turns by flock; on a network share, all machines must mount it "
        "with locks that reach the server"
    )
    return Finding(what="lock", good=True, why=why)


def _claim(file: Path, link: Path) -> Finding:
    try:
        os.link(file, link)
        is_good = os.stat(file).st_nlink == 2
        with contextlib.suppress(FileExistsError):
            os.link(file, link)
            is_good = False
    except OSError as error:
        why = f"files cannot be linked ({error.strerror}), so no claims are given here"
        return Finding(what="claim", good=False, why=why)
    if not is_good:
        why = "links are not counted as they should be, so claims are not safe here"
        return Finding(what="claim", good=False, why=why)
    return Finding(what="claim", good=True, why="of any number at once, one links the next token")


def _clock(trial: Path) -> Finding:
    file = trial / "clock"
    before = time.time()
    file.write_bytes(b"x")
    apart = file.stat().st_mtime - (before + time.time()) / 2
    why = f"the clock of the file system is {abs(apart):.1f} s {'ahead' if apart > 0 else 'behind'}"
    return Finding(what="clock", good=abs(apart) < CLOCKS_APART_SECONDS, why=why)


def _hints(place: Place) -> Finding:
    receipts = unknown = tasks = 0
    try:
        for task in place.tasks():
            names = run_ids(place.names(place.folder(task)))
            without = len(names - Hints(place.folder(task)).known_names())
            receipts, unknown, tasks = (
                receipts + len(names),
                unknown + without,
                tasks + bool(without),
            )
    except StoreUnavailableError as error:
        return Finding(what="hints", good=None, why=error.message)
    if not unknown:
        why = f"of {count(receipts, 'receipt')} none is without hints"
        return Finding(what="hints", good=True, why=why)
    return Finding(
        what="hints",
        good=None,
        why=f"of {count(receipts, 'receipt')} {count(unknown, 'has', 'have')} none, in "
        f"{count(tasks, 'task')}: answers are the same, only slower; 'store repair' writes them",
    )
