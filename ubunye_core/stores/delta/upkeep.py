"""What keeps a table of many small commits fast: joining its files, and removing the old ones."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.capabilities import Finding
from ubunye_core.stores.delta.place import LOG
from ubunye_core.stores.delta.probe import try_to_write
from ubunye_core.stores.delta.table import LostError, Table, telling, written_like

logger = logging.getLogger(__name__)

DUE_AT = 32
"""Files of one task: so many are joined by the writer that wrote the last of them."""
SWEEP_EVERY = 1024
"""Versions between two sweeps of files that were joined more than a day ago."""
_LARGE = 32 * 1024 * 1024
"""Bytes: a file of this size is left as it is."""


def after_an_append(table: Table, partition: tuple[str, str]) -> None:
    """Join the files of a partition when it is time; the save has succeeded, so nothing is raised.

    Joining changes no row: it cannot conflict with an append, and of two that join one gives up.
    """
    only = (partition[0], "=", partition[1])
    try:
        with table.lock, telling(table.place, "compacted"):
            seen = table.seen()  # at the version of this writer's own commit
            sweeps = seen.version() % SWEEP_EVERY == 0
            files = seen.file_uris(file_pruning_predicate=[only])
            if files and len(files) % DUE_AT == 0:
                seen.optimize.compact([only], target_size=_LARGE, writer_properties=written_like())
            if sweeps:
                seen.vacuum(dry_run=False)
    except (StoreUnavailableError, LostError) as error:
        logger.info("The files of %s were not joined now: %s", partition[1], error)


def compact(table: Table) -> None:
    """Join the files of all tasks, and remove those that nobody has needed for a day.

    Raises:
        StoreUnavailableError: it cannot be done now.
    """
    with table.lock:
        now = table.now()
        with telling(table.place, "compacted"):
            now.optimize.compact(target_size=_LARGE, writer_properties=written_like())
            now.create_checkpoint()
            now.vacuum(dry_run=False, full=True)


def examine(table: Table) -> Iterator[Finding]:
    """What can be told of a table, without leaving a trace in it."""
    root = table.place.root
    if root is None:
        yield try_to_write(table.place)
    else:
        may = _may_write(root)
        why = "the folder may be written" if may else f"{root} may not be written by this user"
        yield Finding(what="write", good=may, why=why)
    yield Finding(
        what="durability",
        good=True,
        why="a save is one commit, on the disk when it returns; a kill leaves it whole or undone"
        if root is not None
        else "a save is one commit, kept by the bucket when it returns",
    )
    yield Finding(
        what="claim",
        good=True,
        why="one at a time, elected by an app transaction; leases are told by the clocks of those "
        "who claim, which must agree to within a small part of the lease",
    )
    yield Finding(
        what="writers",
        good=None,
        why="only delta-rs may write a table in a bucket: Spark does not see its conditional writes"
        if root is None
        else "delta-rs and Spark may write it one after the other, never at once",
    )
    try:
        yield _files(table)
    except StoreUnavailableError as error:
        yield Finding(what="read", good=False, why=str(error))


def _files(table: Table) -> Finding:
    """Whether files should be joined."""
    with table.lock:
        if table.is_missing():
            return Finding(what="files", good=None, why="there is no table yet")
        now = table.now()
        with telling(table.place, "read"):
            files, tasks = len(now.file_uris()), max(1, len(now.partitions()))
    is_good = files <= DUE_AT * tasks
    why = f"{files} in all; tasks: {tasks}" + ("" if is_good else ": join them with compact()")
    return Finding(what="files", good=is_good, why=why)


def _may_write(root: Path) -> bool:
    """Whether this user may write in a folder, or make it."""
    while not root.exists() and root != root.parent:
        root = root.parent
    log = root / LOG
    return os.access(root, os.W_OK | os.X_OK) and (not log.exists() or os.access(log, os.W_OK))
