"""One DataFusion query for a slice: join the parts of each line, and hash it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ubunye_core.hashing import fast
from ubunye_core.hashing.rows_v1 import Sums

BATCH_ROWS = 8_192
"""Rows DataFusion joins and hashes at a time; their lines stay in the processor's cache."""

_MASK = 2**64 - 1


@dataclass(frozen=True)
class Column:
    """A part of a line that differs by row; a null adds nothing to the line."""

    array: Any  # pyarrow.Array
    sql: str = "{}"
    """The text of the array's values, with ``{}`` for the column; null where the value is null."""


AS_TEXT = "cast({} as varchar)"

Part = str | Column
"""A part of each line of a slice: the same text in every row, or a column."""


class Session:
    """DataFusion for one thread."""

    def __init__(self) -> None:
        from datafusion import SessionConfig, SessionContext

        fast.note_use()
        config = SessionConfig().with_target_partitions(1).with_batch_size(BATCH_ROWS)
        # Plain text is joined faster than views, which SQL's types would mean by default; and
        # nothing is won by optimising queries that are as simple as these.
        config = config.set("datafusion.sql_parser.map_string_types_to_utf8view", "false")
        self._context = SessionContext(config.set("datafusion.optimizer.max_passes", "0"))

    def sums(self, parts: Sequence[Part], rows: int) -> Sums:
        """The sums of the lines that the parts make."""
        if not _columns(parts):
            sums = Sums()
            sums.add(["".join(map(str, parts))])
            return Sums(rows=rows, a=sums.a * rows & _MASK, b=sums.b * rows & _MASK)
        sums = Sums(rows=rows)
        for batch in self._select(f"sha256({_joined(parts)})", parts):
            digests = batch.column(0)
            start = digests.offset * 32
            data = np.frombuffer(digests.buffers()[2], np.uint8)[start : start + len(digests) * 32]
            words = data.view(">u8").reshape(-1, 4)
            sums.a += int(words[:, 0].sum())
            sums.b += int(words[:, 1].sum())
        sums.a &= _MASK
        sums.b &= _MASK
        return sums

    def texts(self, parts: Sequence[Part], rows: int) -> Any:
        """The joined parts as an array of text."""
        if not _columns(parts):
            return pa.array(["".join(map(str, parts))] * rows, pa.string())
        if not rows:
            return pa.array([], pa.string())
        batches = self._select(_joined(parts), parts)
        return pa.concat_arrays([batch.column(0) for batch in batches])

    def _select(self, expression: str, parts: Sequence[Part]) -> list[Any]:
        arrays = [column.array for column in _columns(parts)]
        batch = pa.RecordBatch.from_arrays(arrays, names=[f"c{at}" for at in range(len(arrays))])
        self._context.register_record_batches("slice", [[batch]])
        try:
            batches: list[Any] = self._context.sql(f"select {expression} from slice").collect()
        finally:
            self._context.deregister_table("slice")
        if sum(len(batch) for batch in batches) != len(batch):
            raise RuntimeError("DataFusion answered with another number of rows")
        return batches


def _columns(parts: Sequence[Part]) -> list[Column]:
    return [part for part in parts if isinstance(part, Column)]


def _joined(parts: Sequence[Part]) -> str:
    """``concat`` over the parts; a null argument adds nothing."""
    arguments: list[str] = []
    text = ""
    columns = 0
    for part in parts:
        if isinstance(part, str):
            text += part  # neighbours become one argument
            continue
        if text:
            arguments.append(_literal(text))
            text = ""
        arguments.append(part.sql.replace("{}", f"c{columns}"))
        columns += 1
    if text:
        arguments.append(_literal(text))
    return f"concat({', '.join(arguments)})"


def _literal(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"'{quoted}'"
