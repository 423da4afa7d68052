"""A table with a bit of everything that ordinary tables hold."""

from __future__ import annotations

import pyarrow as pa

ROWS = 3_000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "text": pa.array([None if at % 7 == 0 else f'"{at}"\n' for at in range(ROWS)]),
        "amount": pa.array([at / 8 if at % 5 else None for at in range(ROWS)], pa.float64()),
        "small": pa.array([at * 1.1e6 for at in range(ROWS)], pa.float32()),
        "price": pa.array(range(ROWS), pa.int64()).cast(pa.decimal128(38, 7)),
        "at": pa.array([at * 10**12 for at in range(ROWS)], pa.timestamp("us", "UTC")),
        "wall": pa.array([at * 10**12 for at in range(ROWS)], pa.timestamp("us")),
        "many": pa.array([[at, None, -at] for at in range(ROWS)], pa.list_(pa.int32())),
    }
)
