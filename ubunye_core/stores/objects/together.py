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
    with ThreadPoolExecutor(min(at_once, len(items))) as pool:
        return list(pool.map(work, items))
