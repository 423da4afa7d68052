"""One job of Spark, which ends with whoever waits for it."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ubunye_core.hashing.problems import UnhashableError, is_interruption
from ubunye_core.hashing.rows_v1 import Sums
from ubunye_core.hashing.spark import parcel, worker

T = TypeVar("T")

_PATIENCE = 10.0
"""Seconds to wait for Spark to stop: it is asked to, and may be out of reach."""

_HINTS = {
    "[PACKAGE_NOT_INSTALLED]": "The driver needs more: pip install 'ubunye-receipts[spark]'.",
    "No module named 'pyarrow'": "Install pyarrow and numpy where Spark's workers run.",
    "No module named 'numpy'": "Install pyarrow and numpy where Spark's workers run.",
    "PYTHON_VERSION_MISMATCH": "Spark's workers need the Python of the driver (PYSPARK_PYTHON).",
}


def partition_sums(
    frame: Any, names: Sequence[str], choices: Sequence[Sequence[str]]
) -> list[Sums]:
    """The sums of choices of columns, each partition's reckoned where it is."""
    work = parcel.work(names, choices)
    answers = _run(frame, lambda: frame.mapInArrow(work, worker.ANSWER).collect())
    return worker.merged(answers, len(choices))


def counted(frame: Any) -> int:
    """The number of rows, as Spark counts them."""
    count: int = _run(frame, frame.count)
    return count


def _run(frame: Any, action: Callable[[], T]) -> T:
    """Run an action of a frame; when this thread is told to stop, so is Spark."""
    job = _Job(frame.sparkSession, action)
    try:
        result: T = job.result()
    except BaseException as error:
        if is_interruption(error):
            job.stop()
            raise
        raise _problem(error) from None
    return result


class _Job:
    """An action in a thread of its own.

    A signal that lands in a thread while it talks to the JVM leaves the rest of that talk to
    whoever speaks next: nothing could be cancelled from there. So the thread that may be
    interrupted only waits.
    """

    def __init__(self, session: Any, action: Callable[[], Any]) -> None:
        from pyspark import InheritableThread  # the frame's own settings go along

        self._tags, self._action = _Tags(session), action
        self._tag = f"ubunye-hash-{uuid.uuid4().hex}"
        self._stopped, self._ended = False, threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = InheritableThread(target=self._run, session=session, daemon=True)

    def result(self) -> Any:
        """Run, and wait for the end."""
        self._thread.start()
        # Not join(): interrupted, it may take the thread for ended.
        while not self._ended.wait(1.0):
            if not self._thread.is_alive() and not self._ended.is_set():
                raise RuntimeError("the thread ended before it began")
        if self._error is not None:
            raise self._error
        return self._result

    def stop(self) -> None:
        """Cancel what runs, and nothing else of the session."""
        self._stopped = True
        patience = time.monotonic() + _PATIENCE
        while not self._ended.is_set() and time.monotonic() < patience:
            self._tags.cancel(self._tag)  # again, for it may not have begun before
            self._ended.wait(0.2)

    def _run(self) -> None:
        try:
            self._tags.add(self._tag)
            try:
                if not self._stopped:
                    self._result = self._action()
            finally:
                self._tags.remove(self._tag)
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()


class _Tags:
    """How the jobs of a thread are marked, and cancelled by their mark."""

    def __init__(self, session: Any) -> None:
        if type(session).__module__.startswith("pyspark.sql.connect."):
            self.add, self.remove = session.addTag, session.removeTag
            self.cancel = session.interruptTag
        else:  # where a session's own tags are known to the thread alone that set them
            context = session.sparkContext
            self.add, self.remove = context.addJobTag, context.removeJobTag
            self.cancel = context.cancelJobsWithTag


def _problem(error: BaseException) -> UnhashableError:
    """What Spark said, without its own words: they may quote a cell."""
    condition = getattr(error, "getCondition", lambda: None)()
    kind = ", ".join(filter(None, [type(error).__name__, condition]))
    hints = [hint for text, hint in _HINTS.items() if text in str(error)]
    return UnhashableError(
        f"Spark could not read the rows ({kind}).", hint=hints[0] if hints else None
    )
