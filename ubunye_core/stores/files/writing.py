"""Saving receipts in a folder: whole, durable, by the rules about ends, and with their hints."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ubunye_core.codec import MAX_RECEIPT_BYTES, encode
from ubunye_core.errors import BadReceiptError, ReceiptConflictError
from ubunye_core.receipt import Receipt
from ubunye_core.stores.atomic import (
    hidden_folder,
    lock,
    make_folder,
    read_regular,
    replace_durably,
    sync_folder,
    unfinished,
)
from ubunye_core.stores.ends import on_record, standing
from ubunye_core.stores.files.documents import of_document
from ubunye_core.stores.files.noting import Noting, Saved
from ubunye_core.stores.files.place import LOCKS, TEMPORARY, Place

AT_ONCE = 200
"""So many receipts of one task are saved under one lock of the hints."""


class Writing:
    """Writes receipts. Writers of one run take turns, and all writers for the hints."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def save(self, receipts: Sequence[Receipt]) -> list[ReceiptConflictError | BadReceiptError]:
        """Keep these receipts of one task, whose runs are all different.

        Returns:
            Why some are refused; the others are kept.
        """
        task = receipts[0].task
        folder = self._place.folder(task)
        paths = {self._place.path(task, each.run_id): each for each in receipts}
        refused: list[ReceiptConflictError | BadReceiptError] = []
        with self._place.writing(), contextlib.ExitStack() as open_files:
            if not folder.is_dir():
                make_folder(folder)
            hidden_folder(folder / LOCKS)
            for place in sorted({lock_of(path) for path in paths}):
                open_files.enter_context(lock(place))
            written: list[_Written] = []
            for path, receipt in paths.items():
                try:
                    before = current(path, receipt)
                    stands = standing(before, receipt)
                except (ReceiptConflictError, BadReceiptError) as error:
                    refused.append(error)
                    continue
                if stands is not None:
                    file = open_files.enter_context(
                        unfinished(path.name, encode(stands), temporary=folder / TEMPORARY)
                    )
                    written.append(_Written(file, path, stands, before))
            if written:
                self._put_in_place(folder, written)
                sync_folder(folder)
        return refused

    def _put_in_place(self, folder: Path, written: list[_Written]) -> None:
        """Move finished files to their places, and note what they are."""
        with Noting.of(folder) as noting:
            saved = []
            for each in written:
                found = os.stat(each.file)
                os.replace(each.file, each.path)
                saved.append(Saved(each.stands, each.before, found))
            noting.changed()
            noting.note(saved)


@dataclass(frozen=True)
class _Written:
    """A receipt that is on disk, and not yet at its place."""

    file: Path
    path: Path
    stands: Receipt
    before: Receipt | None


def lock_of(path: Path) -> Path:
    """The lock of a run: one of 256, so that a writer that is stopped delays few others."""
    number = hashlib.blake2b(path.name.encode(), digest_size=1).hexdigest()
    return path.parent / LOCKS / number


def current(path: Path, offered: Receipt) -> Receipt | None:
    """What stands for a run.

    A run that says its end writes over a damaged record of its own, and a copy of the damage
    is kept. A record that only cannot be read now is no damage: the ``OSError`` is raised.
    """
    try:
        document = read_regular(path, at_most=MAX_RECEIPT_BYTES)
    except FileNotFoundError:
        if path.is_symlink():
            raise
        return None
    known = on_record(partial(of_document, document, path, offered.task), offered)
    if known is None:
        aside = path.with_name(f"{path.name}.{os.urandom(4).hex()}.damaged")
        replace_durably(aside, document, temporary=path.parent / TEMPORARY)
    return known


def in_groups(receipts: Iterable[Receipt]) -> Iterator[list[Receipt]]:
    """Receipts in groups of one task each, in which no run comes twice; in order for each run."""
    waiting: dict[str, dict[str, Receipt]] = {}
    for receipt in receipts:
        group = waiting.setdefault(receipt.task, {})
        if receipt.run_id in group or len(group) >= AT_ONCE:
            yield list(group.values())
            group.clear()
        group[receipt.run_id] = receipt
    for group in waiting.values():
        if group:
            yield list(group.values())
