"""Batches of any size cut and joined to slices: enough rows to be worth a query, bounded bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ubunye_core.hashing.types import LISTS, is_, is_any

SLICE_ROWS = 131_072
SLICE_BYTES = 32 * 2**20
"""Of the slice as Arrow holds it; its lines take a few times that, a few thousand at a time."""


def slices(
    batches: Iterable[Any], names: Sequence[str], rows: int = SLICE_ROWS
) -> Iterator[tuple[Any, ...]]:
    """The named columns in slices of about ``rows`` rows, each a tuple of one or more batches."""
    waiting: list[Any] = []
    waiting_rows = waiting_bytes = 0
    types = None
    for batch in batches:
        for piece in _cut(_chosen(batch, names), rows):
            size = bytes_of(piece)
            if waiting and (
                waiting_rows + len(piece) > rows
                or waiting_bytes + size > SLICE_BYTES
                or piece.schema.types != types
            ):
                yield tuple(waiting)
                waiting, waiting_rows, waiting_bytes = [], 0, 0
            if not waiting:
                types = piece.schema.types
            waiting.append(piece)
            waiting_rows += len(piece)
            waiting_bytes += size
    if waiting:
        yield tuple(waiting)


def _chosen(batch: Any, names: Sequence[str]) -> Any:
    return batch if batch.schema.names == list(names) else batch.select(list(names))


def _cut(batch: Any, rows: int) -> Iterator[Any]:
    for start in range(0, len(batch), rows):
        yield from _halved(batch.slice(start, rows))


def _halved(piece: Any) -> Iterator[Any]:
    if len(piece) < 2 or bytes_of(piece) <= SLICE_BYTES:
        yield piece
        return
    middle = (len(piece) // 2 + 7) // 8 * 8 if len(piece) > 16 else len(piece) // 2
    yield from _halved(piece.slice(0, middle))
    yield from _halved(piece.slice(middle))


def bytes_of(piece: Any) -> int:
    """About how many bytes the values of a batch take."""
    most: int = piece.nbytes
    if most <= SLICE_BYTES:
        return most
    return sum(map(_array_bytes, piece.columns))


def _array_bytes(array: Any) -> int:
    # A slice of views holds on to all the bytes of the whole, so that they say nothing about it.
    if is_any(("string_view", "binary_view"), array.type):
        views = np.frombuffer(array.buffers()[1], "<i4")[4 * array.offset :: 4]
        return 16 * len(array) + int(views[: len(array)].sum(dtype=np.int64))
    if is_("dictionary", array.type):
        return _array_bytes(array.indices)
    if is_any(LISTS, array.type):
        return 16 * len(array) + _array_bytes(array.flatten())
    if is_("struct", array.type):
        return len(array) + sum(map(_array_bytes, array.flatten()))
    size: int = array.nbytes
    return size


def joined(batches: Sequence[Any]) -> Any:
    """The batches of a slice as one."""
    if len(batches) == 1:
        return batches[0]
    return pa.concat_batches(batches)
