"""How far the hash of files has come, for who waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ubunye_core.hashing.arrow import Rows

_REPORT: ContextVar[Callable[[int], None] | None] = ContextVar("_REPORT", default=None)


@contextmanager
def watching(report: Callable[[int], None]) -> Iterator[None]:
    """Within, ``report`` is called with the rows read so far, each time more of a file were."""
    token = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(token)


def watched(rows: Rows) -> Rows:
    """The same rows, reported as they are read where somebody watches."""
    report = _REPORT.get()
    return rows if report is None else replace(rows, batches=_reported(rows.batches, report))


def _reported(batches: Iterable[Any], report: Callable[[int], None]) -> Iterator[Any]:
    count = 0
    for batch in batches:
        count += batch.num_rows
        report(count)
        yield batch
