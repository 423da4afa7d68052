"""Work on a store in Airflow's processes: never raises, and is waited for only so long."""

from __future__ import annotations

import atexit
import logging
import os
import queue
import threading
import time
from collections.abc import Callable

from ubunye_airflow.listener.rules import RefusedError

log = logging.getLogger(__name__)
Work = Callable[[], object]


class Background:
    """One thread that does what it is given, in order.

    A store that hangs holds up this thread, and nobody else for longer than they wait. A forked
    process begins with a thread of its own.
    """

    def __init__(self, *, most: int = 1000) -> None:
        self._most, self._pid = most, 0
        self._lock = threading.Lock()

    def do(self, what: str, work: Work, *, wait: float = 0) -> bool:
        """Have something done. Never raises.

        Args:
            what: For the log, where it fails or takes too long.
            work: What to do.
            wait: How many seconds to wait for its end.

        Returns:
            Whether it has been done by then, well or not.
        """
        try:
            done = threading.Event()
            self._jobs().put_nowait((what, work, done))
        except Exception as error:  # no thread to be had, or far behind
            log.warning("%s: not recorded (%s).", what, type(error).__name__)
            return False
        if not wait:
            return False
        if done.wait(wait):
            return True
        log.warning("%s: the receipt store did not answer within %g seconds.", what, wait)
        return False

    def drain(self, seconds: float) -> bool:
        """Wait until all has been done that was asked for; False if that takes longer."""
        if self._pid != os.getpid():
            return True
        until = time.monotonic() + seconds
        while self._queue.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.01)
        return not self._queue.unfinished_tasks

    def _jobs(self) -> queue.Queue[tuple[str, Work, threading.Event]]:
        with self._lock:
            if self._pid != os.getpid():
                self._queue: queue.Queue[tuple[str, Work, threading.Event]] = queue.Queue(
                    self._most
                )
                threading.Thread(
                    target=self._run, args=(self._queue,), name="receipts", daemon=True
                ).start()
                self._pid = os.getpid()
                atexit.register(self.drain, 5)
            return self._queue

    @staticmethod
    def _run(jobs: queue.Queue[tuple[str, Work, threading.Event]]) -> None:
        while True:
            what, work, done = jobs.get()
            try:
                work()
            except BaseException as error:
                log.warning("%s: not recorded: %s", what, told(error))
            finally:
                done.set()
                jobs.task_done()


def told(error: BaseException) -> str:
    """An error for the log. The messages of others may hold what is secret."""
    from ubunye_core import UbunyeError

    if isinstance(error, UbunyeError | RefusedError):
        return str(error)
    kind = type(error).__name__
    return f"{kind}: {error}" if isinstance(error, OSError) else kind
