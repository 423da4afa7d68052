"""A ledger as its store uses it: looks at it, and changes to it, one at a time."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.receipt import Receipt
from ubunye_core.stores.ends import on_record
from ubunye_core.stores.jsonl.index import Index, Rest
from ubunye_core.stores.jsonl.place import Place, append
from ubunye_core.stores.jsonl.reading import LedgerChangedError, Reading
from ubunye_core.stores.refusals import printable

T = TypeVar("T")


class Ledger:
    """A file of events, and what was read of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = Place(path)
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._index = Index()
        self._looking = threading.RLock()
        self._changing = threading.RLock()
        self._change: Change | None = None

    def _begin_in_a_child(self) -> None:
        """Start anew after a fork: a thread that held a lock here is not in the child."""
        if self._process != os.getpid():
            self._begin()

    def ask(self, question: Callable[[Reading], T]) -> T:
        """What a question finds in the ledger as it is now.

        Raises:
            StoreUnavailableError: it cannot be read.
        """
        self._begin_in_a_child()
        with self._looking, self._place.reading() as descriptor:
            for _ in range(2):
                try:
                    torn = self._torn(descriptor)
                    return question(Reading(self.path, self._index, descriptor, torn=torn))
                except LedgerChangedError:
                    self._index = Index()
        raise self._changed()

    def change(self, work: Callable[[Change], T], *, makes: bool = True) -> T:
        """Do what reads and appends in one step: nobody else writes meanwhile.

        A change inside a change of the same thread is part of it.

        Args:
            work: What reads and appends.
            makes: Whether the ledger is made where there is none.

        Raises:
            StoreUnavailableError: it cannot be written, or is not there and is not to be made.
        """
        self._begin_in_a_child()
        with self._changing:
            if self._change is not None:
                return work(self._change)
            with contextlib.suppress(*([StoreUnavailableError] if makes else [])):
                self.ask(lambda _: None)  # so that little is left to be read under the lock
            with self._place.writing() as descriptor, self._looking:
                try:
                    for _ in range(2):
                        try:
                            self._finish(descriptor)
                            self._change = Change(self.path, self._index, descriptor)
                            return work(self._change)
                        except LedgerChangedError:
                            self._index = Index()
                    raise self._changed()
                finally:
                    self._change = None

    def _follow(self, descriptor: int) -> Index:
        if not self._index.fits(descriptor):
            self._index = Index()
        self._index.follow(descriptor)
        return self._index

    def _finish(self, descriptor: int) -> None:
        """Read up to the end, and end the line of a writer that was killed."""
        rest = self._follow(descriptor).rest
        if rest is not None:
            self._place.finish(descriptor, rest)
            self._follow(descriptor)

    def _torn(self, descriptor: int) -> Rest | None:
        """What a killed writer left at the end; None where somebody may be writing it now."""
        rest = self._follow(descriptor).rest
        if rest is None or self._place.has_a_writer():
            return None
        again = self._follow(descriptor).rest
        return again if again == rest else None

    def _changed(self) -> StoreUnavailableError:
        return StoreUnavailableError(f"The ledger {printable(self.path)} changes while it is read.")


class Change(Reading):
    """A look at a ledger that may append to it."""

    def __init__(self, path: Path, index: Index, descriptor: int) -> None:
        super().__init__(path, index, descriptor, torn=None)

    def append(self, content: bytes) -> None:
        """Add whole lines; they are on disk and in the index when this returns."""
        append(self._descriptor, content)
        self.index.follow(self._descriptor)

    def replaced_by(self, offered: Receipt) -> Receipt | None:
        """What is on record for a run. To a run that ends, a damaged record is none.

        Raises:
            BadReceiptError: it cannot be read, and the run goes on.
        """
        return on_record(partial(self.current, offered.task, offered.run_id), offered)
