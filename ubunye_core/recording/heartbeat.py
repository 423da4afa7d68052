"""A sign of life from a run, for as long as its process lives."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from datetime import timedelta

from ubunye_core.receipt import Receipt
from ubunye_core.recording.run import Run
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.times import LONGEST

log = logging.getLogger("ubunye_core.recording")
HEARTBEAT_EVERY = timedelta(seconds=30)


def heartbeat_of(store: ReceiptStore) -> timedelta:
    """How often a run shows a sign of life in this store; 30 seconds unless it says otherwise."""
    every = getattr(store, "heartbeat_every", None)
    if isinstance(every, timedelta) and timedelta(0) < every <= LONGEST:
        return every
    return HEARTBEAT_EVERY


_beating: dict[tuple[int, str, str], Heartbeat] = {}
"""The heartbeats of this process, by its id (for a fork inherits this) and by their run."""


def is_recorded_here(task: str, run_id: str) -> bool:
    """Whether a recorder in this process has this run open."""
    return (os.getpid(), task, run_id) in _beating


class Heartbeat:
    """Saves the running receipt again and again, from a thread of its own.

    A beat that comes late never revives a run that has ended: the store keeps the end. Of several
    recorders of one run, one inside the other, the last to come beats: it knows the most.
    """

    def __init__(self, run: Run, every: timedelta, save: Callable[[Receipt], object]) -> None:
        self._run, self._every, self._save = run, every, save
        self._key = (os.getpid(), run.task, run.run_id)
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._beat, name=f"heartbeat of {run.run_id}", daemon=True
        )

    def start(self) -> None:
        """Begin to beat. Where no thread can be had, the run goes on without a sign of life."""
        around = _beating.get(self._key)
        if around is not None:
            around._stopped.set()
        _beating[self._key] = self
        try:
            self._thread.start()
        except RuntimeError as error:
            log.warning("%s run %s has no heartbeat: %s", self._run.task, self._run.run_id, error)

    def stop(self) -> None:
        """Beat no more; waits a moment for a beat that is under way."""
        self._stopped.set()
        if _beating.get(self._key) is self:
            del _beating[self._key]
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def _beat(self) -> None:
        while not self._stopped.wait(self._every.total_seconds()):
            self._save(self._run.beat())
