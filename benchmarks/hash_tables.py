"""The tables that the benchmarks of the hash use; needs numpy and pyarrow alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

Chance = np.random.Generator
_WORDS = np.array([f"person {at}" for at in range(5_000)])


def mixed(rows: int, nulls: float = 0.0, seed: int = 1) -> pa.Table:
    """Six columns of the usual types."""
    chance = np.random.default_rng(seed)

    def column(values: np.ndarray, type_: pa.DataType | None = None) -> pa.Array:
        array = pa.array(values, mask=chance.random(rows) < nulls if nulls else None)
        return array if type_ is None else array.cast(type_)

    return pa.table(
        {
            "id": column(chance.integers(0, 10**9, rows)),
            "name": column(_WORDS[chance.integers(0, len(_WORDS), rows)]),
            "amount": column(np.round(chance.random(rows) * 10_000, 2)),
            "ts": column(
                chance.integers(15 * 10**14, 18 * 10**14, rows), pa.timestamp("us", "UTC")
            ),
            "flag": column(chance.random(rows) < 0.5),
            "d": column(chance.integers(10_000, 20_000, rows, np.int32), pa.date32()),
        }
    )


def nulls(rows: int) -> pa.Table:
    """The same columns, 30% of the cells null."""
    return mixed(rows, nulls=0.3)


def strings(rows: int) -> pa.Table:
    """Four columns of text, of which one cell in twenty has something to escape."""
    chance = np.random.default_rng(2)
    plain = np.array([f"text number {at}" for at in range(4_750)])
    escaped = np.array([f'a "word"\t\\{at}' for at in range(250)])
    words = np.concatenate([plain, escaped])
    return pa.table({f"s{at}": words[chance.integers(0, len(words), rows)] for at in range(4)})


def floats(rows: int) -> pa.Table:
    """Four columns of doubles from 1e-10 to 1e12."""
    chance = np.random.default_rng(3)
    return pa.table({f"f{at}": 10 ** chance.uniform(-10, 12, rows) for at in range(4)})


def decimals(rows: int) -> pa.Table:
    """Three columns of decimals."""
    chance = np.random.default_rng(4)
    columns = {}
    for precision, scale in ((10, 2), (18, 6), (38, 18)):
        words = np.zeros((rows, 2), np.int64)
        words[:, 0] = chance.integers(-(10**9), 10**9, rows)
        words[:, 1] = words[:, 0] >> 63
        data = pa.py_buffer(words.tobytes())
        type_ = pa.decimal128(precision, scale)
        columns[f"d{scale}"] = pa.Array.from_buffers(type_, rows, [None, data])
    return pa.table(columns)


def nested(rows: int) -> pa.Table:
    """A list of structs of text and integers, about two in each row."""
    chance = np.random.default_rng(5)
    offsets = np.concatenate(([0], np.cumsum(chance.integers(0, 5, rows)))).astype(np.int32)
    count = int(offsets[-1])
    items = pa.StructArray.from_arrays(
        [
            pa.array(_WORDS[chance.integers(0, len(_WORDS), count)]),
            pa.array(chance.integers(0, 1_000, count)),
        ],
        ["sku", "count"],
    )
    orders = pa.ListArray.from_arrays(pa.array(offsets), items)
    return pa.table({"id": chance.integers(0, 10**9, rows), "items": orders})


MAKERS: dict[str, Callable[[int], pa.Table]] = {
    "mixed": mixed,
    "nulls": nulls,
    "strings": strings,
    "floats": floats,
    "decimals": decimals,
    "nested": nested,
}
