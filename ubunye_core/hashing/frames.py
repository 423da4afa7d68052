"""pandas frames as rows-v1 sees them; they differ from Arrow tables of the same values.

A naive datetime column is an instant in UTC, a float NaN of numpy is a null, nanoseconds are cut
toward zero, a category is its values, and named levels of the index are columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from ubunye_core.hashing.arrow import Rows, table_rows
from ubunye_core.hashing.problems import UnhashableError, quoted


def pandas_rows(frame: Any, columns: Sequence[str] | None) -> Rows:
    """The rows of a pandas frame."""
    named = _named_columns(frame)
    if columns is not None and not isinstance(columns, str):
        wanted = set(columns)
        named = [(name, values) for name, values in named if name in wanted]
    arrays = [_array(name, values) for name, values in named]
    table = pa.Table.from_arrays(arrays, names=[name for name, _ in named])
    if not arrays:
        table = pa.table({"": pa.nulls(len(frame))}).select([])
    return table_rows(table, columns)


def _named_columns(frame: Any) -> list[tuple[str, Any]]:
    names = list(frame.index.names)
    levels = []
    if any(name is not None for name in names):
        # As pandas' reset_index: beside a named level, one without a name is "level_<n>".
        levels = [
            (f"level_{at}" if name is None else str(name), frame.index.get_level_values(at))
            for at, name in enumerate(names)
        ]
    return levels + [(str(name), frame.iloc[:, at]) for at, name in enumerate(frame.columns)]


def _array(name: str, values: Any) -> Any:
    dtype = values.dtype
    if isinstance(dtype, pd.SparseDtype):
        raise UnhashableError(f"Column {quoted(name)} is sparse, which rows-v1 does not know.")
    try:
        array = pa.Array.from_pandas(values)
    except Exception as error:
        raise UnhashableError(
            f"Column {quoted(name)} ({dtype}) holds values of mixed or unknown types "
            f"({type(error).__name__})."
        ) from None
    if pa.types.is_list(array.type) and _holds_sets(values):
        raise UnhashableError(f"Column {quoted(name)} holds sets, which have no order.")
    if pa.types.is_dictionary(array.type) and pa.types.is_timestamp(array.type.value_type):
        array = array.cast(array.type.value_type)
    if pa.types.is_null(array.type):
        # A batch that happens to hold no value keeps the type that pandas gives to text.
        return pa.nulls(len(array), pa.string())
    if pa.types.is_timestamp(array.type):
        return _as_instants(array)
    return array


def _holds_sets(values: Any) -> bool:
    return any(isinstance(value, set | frozenset) for value in values)


def _as_instants(array: Any) -> Any:
    # Arrow's unsafe cast divides, so it cuts toward zero.
    micros = array.cast(pa.timestamp("us", array.type.tz), safe=array.type.unit != "ns")
    return micros.cast(pa.timestamp("us", "UTC"))
