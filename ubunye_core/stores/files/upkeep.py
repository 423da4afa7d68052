"""Removing receipts, writing hints anew, and setting damaged receipts aside."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from ubunye_core.codec import MAX_RECEIPT_BYTES
from ubunye_core.errors import BadReceiptError
from ubunye_core.names import is_segment
from ubunye_core.runids import time_in
from ubunye_core.stores.atomic import hidden_folder, lock, read_with_stat, sync_folder
from ubunye_core.stores.capabilities import Repaired
from ubunye_core.stores.files.documents import look, of_document
from ubunye_core.stores.files.hints import Hints, run_ids
from ubunye_core.stores.files.noting import Noting, append_unknown, catch_up, lock_of_hints
from ubunye_core.stores.files.place import HINTS, LOCKS, SUFFIX, TEMPORARY, Place
from ubunye_core.stores.files.writing import lock_of
from ubunye_core.stores.protocol import Unreadable
from ubunye_core.stores.refusals import printable

STILL_WRITTEN_SECONDS = 60.0
"""A file that changed so recently may be one that somebody is writing."""
_AT_ONCE = 1_000
_VERY_MANY = 5_000


def remove(place: Place, task: str, names: Sequence[str]) -> int:
    """Remove the receipts of these runs; how many there were."""
    folder, removed = place.folder(task), 0
    paths = [place.path(task, name) for name in names]
    with place.writing():
        if not any(path.is_symlink() or path.exists() for path in paths):
            place.check_root()
            return 0
        hidden_folder(folder / LOCKS)
        for path in paths:
            with lock(lock_of(path)), Noting.of(folder) as noting:
                try:
                    os.unlink(path)
                except FileNotFoundError:
                    continue
                removed += 1
                noting.removed(path.name.removesuffix(SUFFIX))
        sync_folder(folder)
    return removed


def repair(place: Place, *, aside: bool) -> Repaired:
    """Write all hints anew; move damaged receipts out of the way if that is asked for."""
    hints, moved, left = 0, list[str](), list[Unreadable]()
    with place.writing():
        for task in place.tasks():
            folder = place.folder(task)
            known, open_runs = _rebuild(place, folder)
            bad = [f"{folder}/{run_id}{SUFFIX}" for run_id in open_runs]
            gone = [set_aside(Path(path), task) if aside else None for path in bad]
            if any(gone):
                known, _ = _rebuild(place, folder)
            hints += known
            moved += [printable(path) for path in gone if path is not None]
            looks = [look(path, task)[0] for path, to in zip(bad, gone, strict=True) if to is None]
            left += [each for each in looks if isinstance(each, Unreadable)]
    return Repaired(hints=hints, set_aside=tuple(moved), left=tuple(left))


def _rebuild(place: Place, folder: Path) -> tuple[int, list[str]]:
    """Write the hints of a task anew, from its receipts.

    Writers save without hints meanwhile, and make good for it afterwards.

    Returns:
        How many runs they know, and the runs that every reader must look at itself.
    """
    hidden_folder(folder / LOCKS)
    hidden_folder(folder / TEMPORARY)
    new = folder / TEMPORARY / f"hints.{os.getpid()}.{os.urandom(6).hex()}"
    with lock(lock_of_hints(folder)):
        try:
            building = Hints(folder, new)
            names = run_ids(place.names(folder))
            (building.begin_wide if len(names) > _VERY_MANY else building.begin)()
            known = sorted(filter(is_segment, names), key=lambda each: (bool(time_in(each)), each))
            left_open = sorted(names.difference(known))
            for start in range(0, len(known), _AT_ONCE):
                left_open += append_unknown(building, known[start : start + _AT_ONCE])
            building.confirm_whole()
            building.forget_seen()
            _swap(new, folder / HINTS)
            catch_up(Hints(folder), are_whole=True)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return len(names) - len(left_open), left_open


def _swap(new: Path, place: Path) -> None:
    """Put a folder in the place of another. In between there is none, which does no harm."""
    old = new.with_name(f"{new.name}.old")
    with contextlib.suppress(FileNotFoundError):
        os.rename(place, old)
    os.rename(new, place)
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink(missing_ok=True)


def set_aside(path: Path, task: str) -> Path | None:
    """Move a damaged receipt to a name that nobody looks at.

    None where it is readable now, or no damage: it may not be read, is no file, or may be one
    that somebody is still writing.
    """
    with lock(lock_of(path)):
        try:
            document, found = read_with_stat(path, at_most=MAX_RECEIPT_BYTES)
        except OSError:
            return None
        if time.time() - found.st_mtime < STILL_WRITTEN_SECONDS:
            return None
        with contextlib.suppress(BadReceiptError):
            of_document(document, path, task)
            return None
        aside = path.with_name(f"{path.name}.{os.urandom(4).hex()}.damaged")
        os.rename(path, aside)
        sync_folder(path.parent)
        return aside
