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
    handler of its own (Airflow, Dagster) keeps it, and its exception ends the run. Runs may
    overlap in any way, as those of coroutines do: the last to end leaves the signal as it was.
    """

    def __init__(self) -> None:
        self._watching = False

    def watch(self) -> None:
        """Begin to watch for SIGTERM."""
        if not _is_main_thread():
            return
        handler = signal.getsignal(signal.SIGTERM)
        if handler is signal.SIG_DFL:
            _forks.stay_stoppable()
            signal.signal(signal.SIGTERM, _stop)
        if handler in (signal.SIG_DFL, _stop):
            _forks.watching += 1
            self._watching = True

    def unwatch(self) -> None:
        """Leave SIGTERM as it was found."""
        if self._watching and _forks.watching:
            _forks.watching -= 1
            is_ours = signal.getsignal(signal.SIGTERM) is _stop
            # A run that another thread ends cannot change it; the next one in this thread will.
            if is_ours and not _forks.watching and _is_main_thread():
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._watching = False

    @staticmethod
    @contextlib.contextmanager
    def postponed() -> Iterator[None]:
        """Let a receipt be written to its end: a SIGTERM that comes meanwhile stops it after."""
        in_main = _is_main_thread()
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


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _stop(number: int, frame: FrameType | None) -> None:
    if _postponed.depth:
        _postponed.came = True
        return
    raise Terminated


class _Postponed:
    """How many receipts are being written by the main thread, and whether SIGTERM came."""

    depth = 0
    came = False


_postponed = _Postponed()


class _Forks:
    """A forked child is not the run: SIGTERM ends it at once, as it would without us.

    The signal is held back while a child is made, for Python forgets one that comes to a child
    before its handlers are in order.
    """

    def __init__(self) -> None:
        self.watching = 0
        """How many runs watch for SIGTERM."""
        self._registered = False
        self._of_thread = threading.local()  # several may make a child at the same time

    def stay_stoppable(self) -> None:
        """From now on, give children the ordinary SIGTERM."""
        if not self._registered:
            self._registered = True
            os.register_at_fork(
                before=self._hold, after_in_parent=self._release, after_in_child=self._ordinary
            )

    def _hold(self) -> None:
        self._of_thread.mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    def _release(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._of_thread.mask)

    def _ordinary(self) -> None:
        if signal.getsignal(signal.SIGTERM) is _stop:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.watching = 0
        self._release()


_forks = _Forks()
