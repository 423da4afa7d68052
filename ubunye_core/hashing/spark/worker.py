"""What runs in a worker of Spark: the sums of one partition.

It is reached through ``loader``, under another package's name. Spark hands the rows over in Arrow
batches; one row goes back, with three numbers for each choice of columns, or with an error.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from ubunye_core.hashing.arrow import Rows
from ubunye_core.hashing.problems import UnhashableError
from ubunye_core.hashing.rows_v1 import Sums

ANSWER = "sums binary, error string"
"""The schema of an answer, in Spark's words."""

_numbers = struct.Struct(">QQQ")


def answer(batches: Iterator[Any], names: Sequence[str], choices: Sequence[Sequence[str]]) -> Any:
    """The answer of one partition, an Arrow batch of one row.

    An error of the data is an answer too: raised, it would make Spark try the task again.
    """
    try:
        totals, error = _sums(batches, names, choices), None
    except UnhashableError as problem:
        totals, error = [], str(problem)
    packed = b"".join(_numbers.pack(sums.rows, sums.a, sums.b) for sums in totals)
    return pa.record_batch(
        [pa.array([packed], pa.binary()), pa.array([error], pa.string())], names=["sums", "error"]
    )


def merged(answers: Iterable[Any], choices: int) -> list[Sums]:
    """The sums of all partitions, in the driver."""
    totals = [Sums() for _ in range(choices)]
    for row in answers:
        if row.error is not None:
            raise UnhashableError(row.error)
        for total, numbers in zip(totals, _numbers.iter_unpack(row.sums), strict=True):
            total.merge(Sums(*numbers))
    return totals


def _sums(
    batches: Iterator[Any], names: Sequence[str], choices: Sequence[Sequence[str]]
) -> list[Sums]:
    named = (batch.rename_columns(list(names)) for batch in batches)
    first = next(named, None)
    if first is None:
        return [Sums() for _ in choices]
    # One thread: Spark gives a task one core, unless told otherwise.
    return Rows(schema=first.schema, batches=chain([first], named)).sums_of(choices, threads=1)
