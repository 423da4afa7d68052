"""Several requests under way at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

AT_ONCE = 32

_In = TypeVar("_In")
_Out = TypeVar("_Out")


def each_of(
    work: Callable[[_In], _Out], items: Sequence[_In], at_once: int = AT_ONCE
) -> list[_Out]:
    """What ``work`` gives for each, in their order. The first error is raised."""
    if len(items) < 2:
        return [work(item) for item in items]
    pool = ThreadPoolExecutor(min(at_once, len(items)))
    try:
        return [each.result() for each in [pool.submit(work, item) for item in items]]
    finally:  # after an error, what has not begun is not waited for
        pool.shutdown(cancel_futures=True)
