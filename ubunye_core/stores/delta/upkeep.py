"""What keeps a table of many small commits fast: joining its files, and removing the old ones."""

from __future__ import annotations

import logging

from ubunye_core.errors import StoreUnavailableError
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
        with table.lock:
            now = table.now()
            with telling(table.place, "compacted"):
                files = now.file_uris(file_pruning_predicate=[only])
                if files and len(files) % DUE_AT == 0:
                    now.optimize.compact(
                        [only],
                        target_size=_LARGE,
                        writer_properties=written_like(),
                    )
                if now.version() % SWEEP_EVERY == 0:
                    now.vacuum(dry_run=False)
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


def count_files(table: Table) -> tuple[int, int]:
    """How many files the table has, and how many tasks."""
    with table.lock:
        now = table.now()
        with telling(table.place, "read"):
            return len(now.file_uris()), len(now.partitions())
