"""A Spark frame as rows-v1 sees it. Its rows never leave the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ubunye_core.hashing.arrow import chosen
from ubunye_core.hashing.problems import UnhashableError
from ubunye_core.hashing.rows_v1 import Sums, line
from ubunye_core.hashing.spark.job import counted, partition_sums
from ubunye_core.hashing.spark.types import arrow_schema
from ubunye_core.hashing.types import schema_of


class SparkRows:
    """The rows of a Spark frame, ready to be hashed by a job of its own.

    Each question reads the frame anew, as every action of Spark does.
    """

    row_count: int | None = None  # only a job can tell

    def __init__(self, frame: Any, columns: Sequence[str] | None) -> None:
        if frame.isStreaming:
            raise UnhashableError("A streaming frame has no last row, and so no hash.")
        self._frame = frame
        fields = list(frame.schema.fields)
        self._places = _places([field.name for field in fields], columns)
        self._fields = [fields[place] for place in self._places]

    def canonical_schema(self) -> list[tuple[str, str]]:
        return schema_of(arrow_schema(self._fields))

    def sums_of(self, choices: Sequence[Sequence[str]]) -> list[Sums]:
        """One job for the sums of several choices of columns."""
        if not self._fields:
            return [_empty_rows(self.count()) for _ in choices]
        # By place: names may hold dots, or differ by case alone, which Spark tells apart only
        # where a setting says so.
        names = [f"c{place}" for place in range(len(self._frame.columns))]
        frame = self._frame.toDF(*names).select(*(names[place] for place in self._places))
        return partition_sums(frame, [field.name for field in self._fields], choices)

    def count(self) -> int:
        return counted(self._frame)

    def lines(self) -> Iterator[list[str]]:
        raise UnhashableError(
            "The rows of a Spark frame stay where they are.",
            hint="Give the few that matter: frame.limit(1000).toArrow()",
        )


def _places(names: list[str], columns: Sequence[str] | None) -> list[int]:
    """Where the chosen columns stand."""
    if columns is None:
        return list(range(len(names)))
    untyped = pa.schema([(name, pa.null()) for name in names])
    return [names.index(name) for name in chosen(untyped, columns).names]


def _empty_rows(count: int) -> Sums:
    """The sums of rows without columns, which Spark does not pass on."""
    one, all_of_them = Sums(), Sums()
    one.add([line(())])
    all_of_them.merge(Sums(rows=count, a=one.a * count, b=one.b * count))
    return all_of_them
