"""The sums of a table by the fast rules; slices they can't do go through the plain definition."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from ubunye_core.hashing import fast
from ubunye_core.hashing.fast import slices
from ubunye_core.hashing.fast.lines import object_parts
from ubunye_core.hashing.fast.texts import Texts
from ubunye_core.hashing.fast.workers import in_order, thread_count
from ubunye_core.hashing.problems import is_interruption
from ubunye_core.hashing.rows_v1 import Sums

ROWS_FOR_A_THREAD = 8_192
"""Below, a thread costs more than it saves."""

Views = Sequence[Sequence[str]]
"""Columns to be hashed together, sorted by name; several views are hashed in one pass."""

PlainSums = Callable[[Sequence[Any], Sequence[str]], Sums]
"""The sums of the named columns of some batches by the plain definition."""

Slice = tuple[Any, ...]
"""One or more batches, which are hashed as one."""

_log = logging.getLogger("ubunye_core.hashing")


class Engine:
    """Hashes slices in several threads, each with its own DataFusion."""

    def __init__(self, plain_sums: PlainSums) -> None:
        self._plain_sums = plain_sums
        self._idle: list[Texts] = []

    def sums(
        self,
        batches: Iterator[Any],
        names: Sequence[str],
        views: Views,
        rows: int | None,
        threads: int | None = None,
    ) -> list[Sums]:
        """The sums of each view over all batches.

        ``rows`` says how many, where it is known; ``threads``, where the machine is not all ours.
        """
        threads = threads or thread_count()
        size = _slice_rows(rows, threads)
        pieces = slices.slices(batches, names, size)
        few = list(islice(pieces, 2))  # most tables are no more than a slice
        alone = len(few) < 2 or threads < 2
        pieces = chain(few, pieces)
        del few  # the first slices must not stay in memory

        def work(piece: Slice) -> list[Sums]:
            return [self.slice_sums(piece, view) for view in views]

        totals = [Sums() for _ in views]
        try:
            for result in map(work, pieces) if alone else in_order(work, pieces, threads):
                for total, part in zip(totals, result, strict=True):
                    total.merge(part)
        finally:
            for texts in self._idle:
                texts.session.spare()
        return totals

    def slice_sums(self, piece: Slice, names: Sequence[str]) -> Sums:
        """The sums of one slice."""
        if sum(map(len, piece)) < fast.LEAST_ROWS:
            return self._plain_sums(piece, names)
        try:
            batch = slices.joined(piece)
            texts = self._texts()
            sums = fast_sums(texts, batch, names)
        except BaseException as error:
            if is_interruption(error):
                raise
            # The plain definition has the last word: an answer, or why there is none.
            _log.debug("A slice is hashed by the plain definition: %s", type(error).__name__)
            return self._plain_sums(piece, names)
        self._idle.append(texts)
        return sums

    def _texts(self) -> Texts:
        try:
            return self._idle.pop()
        except IndexError:
            return Texts()


def fast_sums(texts: Texts, batch: Any, names: Sequence[str]) -> Sums:
    """The sums of a batch by the fast rules alone."""
    if not len(batch):
        return Sums()
    members = [(name, batch.column(name)) for name in names]
    return texts.session.sums(object_parts(texts, members), len(batch))


def _slice_rows(rows: int | None, threads: int) -> int:
    """Slices of equal size, as many for each thread."""
    if rows is None or rows > 64 * slices.SLICE_ROWS:
        return slices.SLICE_ROWS
    if rows <= 2 * ROWS_FOR_A_THREAD:
        return max(rows, 1)
    rounds = -(-rows // (threads * slices.SLICE_ROWS))
    each = -(-rows // (threads * rounds))
    return -(-max(each, ROWS_FOR_A_THREAD) // 64) * 64  # whole bytes of each bitmap
