"""Slices hashed by a few threads, while the caller's thread reads them.

Only the thread that asked reads the batches: a stream may belong to it. It waits where it can be
interrupted, and whatever ends the wait also ends the threads, after the slice each is at.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

S = TypeVar("S")
R = TypeVar("R")

MOST_THREADS = 4
"""Each holds the memory of a slice or two, and the hash is a guest on the machine."""


def thread_count() -> int:
    """How many slices are hashed at once."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        cores = os.cpu_count() or 1
    return min(MOST_THREADS, cores)


def in_order(work: Callable[[S], R], slices: Iterator[S], threads: int) -> Iterator[R]:
    """The result of each slice in order, so that the first error is always the same one."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="ubunye-hash")
    pending: deque[Future[R]] = deque()
    try:
        unreadable: Exception | None = None
        while unreadable is None:
            try:
                piece = next(slices)
            except StopIteration:
                break
            except Exception as error:
                unreadable = error  # the rows before it may be at fault first
                break
            pending.append(pool.submit(work, piece))
            del piece
            if len(pending) > threads:  # one more than are at work, so that none has to wait
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
        if unreadable is not None:
            raise unreadable
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
