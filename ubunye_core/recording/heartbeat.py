"""A sign of life from a run, for as long as its process lives."""

from __future__ import annotations

import logging
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


class Heartbeat:
    """Saves the running receipt again and again, from a thread of its own.

    A beat that comes late never revives a run that has ended: the store keeps the end.
    """

    def __init__(self, run: Run, every: timedelta, save: Callable[[Receipt], object]) -> None:
        self._run, self._every, self._save = run, every, save
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._beat, name=f"heartbeat of {run.run_id}", daemon=True
        )

    def start(self) -> None:
        """Begin to beat. Where no thread can be had, the run goes on without a sign of life."""
        try:
            self._thread.start()
        except RuntimeError as error:
            log.warning("%s run %s has no heartbeat: %s", self._run.task, self._run.run_id, error)

    def stop(self) -> None:
        """Beat no more; waits a moment for a beat that is under way."""
        self._stopped.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def _beat(self) -> None:
        while not self._stopped.wait(self._every.total_seconds()):
            self._save(self._run.beat())
