"""SIGTERM ends a run in order: its receipt says ``interrupted`` before its process is gone."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Terminated(SystemExit):
    """The process was asked to stop by SIGTERM. Ends it with 143 unless caught."""

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)

    def __str__(self) -> str:
        return "the process was asked to stop (SIGTERM)"


class Termination:
    """Turns SIGTERM into an exception while a run is recorded.

    Only in the main thread, and only where nobody handles the signal: a scheduler that has a
    handler of its own (Airflow, Dagster) keeps it, and its exception ends the run.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._watching = False

    def watch(self) -> None:
        """Begin to watch for SIGTERM."""
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._stop)
            self._watching = True

    def unwatch(self) -> None:
        """Leave SIGTERM as it was found."""
        if self._watching and signal.getsignal(signal.SIGTERM) == self._stop:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._watching = False

    @staticmethod
    @contextlib.contextmanager
    def postponed() -> Iterator[None]:
        """Let a receipt be written to its end: a SIGTERM that comes meanwhile stops it after."""
        in_main = threading.current_thread() is threading.main_thread()
        if in_main:
            _postponed.depth += 1
        try:
            yield
        finally:
            if in_main:
                _postponed.depth -= 1
                if _postponed.depth == 0 and _postponed.came:
                    _postponed.came = False
                    raise Terminated

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._pid:  # a forked child has inherited the handler, not the run
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
        if _postponed.depth:
            _postponed.came = True
            return
        raise Terminated


class _Postponed:
    """How many receipts are being written by the main thread, and whether SIGTERM came."""

    depth = 0
    came = False


_postponed = _Postponed()
