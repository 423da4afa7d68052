"""One DataFusion query for a slice: join the parts of each line, and hash it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from datafusion import Expr, SessionConfig, SessionContext, col, functions

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
    shared: str | None = None
    """What ``sql`` needs more than once: it is calculated beforehand, and ``[]`` stands for it."""


AS_TEXT = "cast({} as varchar)"

Part = str | Column
"""A part of each line of a slice: the same text in every row, or a column."""


class Session:
    """DataFusion for one thread at a time."""

    _spare: ClassVar[deque[Session]] = deque(maxlen=4)

    def __init__(self) -> None:
        fast.note_use()
        config = SessionConfig().with_target_partitions(1).with_batch_size(BATCH_ROWS)
        # Plain text is joined faster than views, which SQL's types would mean by default. Some
        # functions need one pass of the optimiser; more passes find nothing in such queries.
        config = config.set("datafusion.sql_parser.map_string_types_to_utf8view", "false")
        self._context = SessionContext(config.set("datafusion.optimizer.max_passes", "1"))

    @classmethod
    def spared(cls) -> Session | None:
        """A session that is no longer in use: a new one takes as long as a small table."""
        try:
            return cls._spare.pop()
        except IndexError:
            return None

    def spare(self) -> None:
        """Leave the session, which holds no rows, to whoever hashes next."""
        self._spare.append(self)

    def sums(self, parts: Sequence[Part], rows: int) -> Sums:
        """The sums of the lines that the parts make."""
        if _is_constant(parts):
            sums = Sums()
            sums.add(["".join(map(str, parts))])
            return Sums(rows=rows, a=sums.a * rows & _MASK, b=sums.b * rows & _MASK)
        sums = Sums(rows=rows)
        for batch in self._select(parts, functions.sha256):
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
        if _is_constant(parts):
            return pa.array(["".join(map(str, parts))] * rows, pa.string())
        if not rows:
            return pa.array([], pa.string())
        batches = self._select(parts, lambda joined: joined)
        # Older versions join to views whatever they are given.
        return pa.concat_arrays([batch.column(0).cast(pa.string()) for batch in batches])

    def _select(self, parts: Sequence[Part], expression: Callable[[Any], Any]) -> list[Any]:
        """The batches of an expression over the joined parts."""
        columns = [part for part in parts if isinstance(part, Column)]
        names = [f"c{at}" for at in range(len(columns))]
        batch = pa.RecordBatch.from_arrays([column.array for column in columns], names=names)
        self._context.register_record_batches("slice", [[batch]])
        try:
            frame = self._context.table("slice")
            shared = [
                frame.parse_sql_expr(column.shared.replace("{}", name)).alias(f"shared_{name}")
                for name, column in zip(names, columns, strict=True)
                if column.shared
            ]
            if shared:
                frame = frame.select(*map(col, names), *shared)
            joined = functions.concat(*self._arguments(frame, parts))
            batches: list[Any] = frame.select(expression(joined)).collect()
        finally:
            self._context.deregister_table("slice")
        if sum(map(len, batches)) != len(batch):
            raise RuntimeError("DataFusion answered with another number of rows")
        return batches

    def _arguments(self, frame: Any, parts: Sequence[Part]) -> Iterator[Any]:
        """What ``concat`` is given; a null adds nothing to a line."""
        literal = ""
        columns = 0
        for part in parts:
            if isinstance(part, str):
                literal += part  # neighbours become one argument
                continue
            if literal:
                yield _text(literal)
                literal = ""
            yield self._column(frame, f"c{columns}", part.sql)
            columns += 1
        if literal:
            yield _text(literal)

    def _column(self, frame: Any, name: str, sql: str) -> Any:
        # The two that every table needs are built here, for parsing takes as long as a few rows.
        if sql == "{}":
            return col(name)
        if sql == AS_TEXT:
            return col(name).cast(pa.string())
        return frame.parse_sql_expr(sql.replace("{}", name).replace("[]", f"shared_{name}"))


@lru_cache(maxsize=1_024)
def _text(literal: str) -> Any:
    return Expr.literal(pa.scalar(literal, pa.string()))


def _is_constant(parts: Sequence[Part]) -> bool:
    return not any(isinstance(part, Column) for part in parts)
