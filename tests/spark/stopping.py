"""Stop a hash that is under way, and see whether Spark stops too."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

from ubunye_core import fingerprint

SECONDS = 90
"""How long the frame would take, twice as long as anybody waits here."""


class StoppedError(BaseException):
    """What a handler of SIGTERM raises."""


def slow_frame(session: Any) -> Any:
    """A frame that keeps both cores of a session busy."""

    def sleep(batches: Iterator[Any]) -> Iterator[Any]:
        import time

        for batch in batches:
            time.sleep(SECONDS)
            yield batch

    return session.range(4, numPartitions=2).mapInArrow(sleep, "id long")


def stopped_hash(frame: Any, after: float = 4) -> BaseException | None:
    """Hash a frame, with SIGTERM on the way; what came of it."""

    def stop(*_: object) -> None:
        raise StoppedError

    before = signal.signal(signal.SIGTERM, stop)
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    try:
        fingerprint(frame)
    except BaseException as error:
        return error
    finally:
        timer.cancel()
        signal.signal(signal.SIGTERM, before)
    return None


def seconds_of_next_hash(session: Any) -> float:
    """How long the next hash takes: long, if the session is still at work on another one."""
    started = time.monotonic()
    assert fingerprint(session.range(4)).error is None
    return time.monotonic() - started
