"""The front of the hash: recognise what was given, hash its rows, never raise."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ubunye_core.errors import MissingExtraError
from ubunye_core.hashing import rows_v1
from ubunye_core.hashing.files import DataFiles, find_files
from ubunye_core.hashing.problems import UnhashableError, is_interruption, quoted, told
from ubunye_core.hashing.progress import watched

if TYPE_CHECKING:
    from ubunye_core.hashing.arrow import Rows
    from ubunye_core.hashing.spark.rows import SparkRows


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """What a table's rows hash to, or why they could not be hashed."""

    schema_hash: str | None = None
    data_hash: str | None = None
    row_count: int | None = None
    method: str = rows_v1.METHOD
    error: str | None = None
    route: str | None = None
    """Which kind of frame it was: ``arrow``, ``pandas``, ``spark``, ``parquet``, ``arrow-file``,
    ``csv`` or ``delta``. A comparison reads by the same route: pandas has rules of its own."""
    column_hashes: Mapping[str, str] | None = field(default=None, hash=False)
    """On request: for each column the data hash of the table that has this column alone."""


def fingerprint(
    frame: Any,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    hash: bool = True,
    per_column: bool = False,
) -> Fingerprint:
    """Hash every row of a frame by rows-v1. Never raises for what the frame is or holds.

    What can't be hashed has no ``data_hash``, and an ``error`` that names columns and types but
    never a value.

    Args:
        frame: A pandas, Arrow, Polars, DuckDB or Spark frame, anything with
            ``__arrow_c_stream__``, or the path or ``file://`` URL of a Parquet, Arrow or CSV file
            or folder, or of a Delta table. A reader or other one-pass stream is used up.
        columns: Hash only these columns.
        types: For CSV only: canonical type names of columns that are not text.
        hash: False counts the rows and no more.
        per_column: Hash each column by itself too, which tells later which one changed. Takes
            about half as long again for each column.
    """
    given = _Given(frame, columns, types)
    route: str | None = None
    schema_hash: str | None = None
    rows: Rows | SparkRows | None = None
    try:
        route = given.route()
        if not hash:
            return Fingerprint(row_count=given.count(route), route=route)
        rows = given.rows(route)
        schema = rows.canonical_schema()
        schema_hash = rows_v1.schema_hash(schema)
        names = [name for name, _ in schema]
        choices = [names, *([name] for name in names if per_column)]
        sums, *column_sums = rows.sums_of(choices)
    except BaseException as error:
        if is_interruption(error):
            raise
        return Fingerprint(
            schema_hash=schema_hash,
            row_count=rows.row_count if rows is not None else None,
            error=told(error),
            route=route,
        )
    return Fingerprint(
        schema_hash=schema_hash,
        data_hash=rows_v1.data_hash(schema, sums),
        row_count=sums.rows,
        route=route,
        column_hashes={
            pair[0]: rows_v1.data_hash([pair], alone)
            for pair, alone in zip(schema, column_sums, strict=True)
        }
        if per_column
        else None,
    )


def canonical_lines(
    frame: Any,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """The canonical line of each row, to find out which cell differs. Holds the values.

    Raises:
        UnhashableError: The frame can't be hashed.
    """
    given = _Given(frame, columns, types)
    for lines in given.rows(given.route()).lines():
        yield from lines


def row_count(frame: Any) -> int:
    """How many rows a frame has, from its own count or its metadata where it has one.

    Raises:
        UnhashableError: It is no frame, or can't be read.
    """
    given = _Given(frame, None, None)
    return given.count(given.route())


class _Given:
    """What was given, and how it is read."""

    def __init__(
        self, frame: Any, columns: Sequence[str] | None, types: Mapping[str, Any] | None
    ) -> None:
        self.frame, self.columns, self.types = frame, columns, types
        self.files: DataFiles | None = None

    def route(self) -> str:
        """Which kind of frame this is, told by its type without importing its library."""
        if isinstance(self.frame, str | os.PathLike):
            self.files = find_files(self.frame)
            return self.files.kind
        kinds = {
            (base.__module__.partition(".")[0], base.__name__) for base in type(self.frame).__mro__
        }
        if ("pandas", "DataFrame") in kinds:
            return "pandas"
        if any(package == "pyspark" for package, _ in kinds):
            return self._spark_route()
        if hasattr(self.frame, "__arrow_c_stream__") or ("pyarrow", "Dataset") in kinds:
            return "arrow"
        hint = "Collect it first." if ("polars", "LazyFrame") in kinds else None
        raise UnhashableError(
            f"{quoted(type(self.frame).__name__)} is no kind of table.", hint=hint
        )

    def _spark_route(self) -> str:
        kind = type(self.frame)  # a column answers to every name
        if hasattr(kind, "mapInArrow"):
            return "spark"
        hint = "Give its to_spark()." if hasattr(kind, "to_spark") else None
        raise UnhashableError(f"{quoted(kind.__name__)} of pyspark is no kind of table.", hint=hint)

    def count(self, route: str) -> int:
        if route == "pandas":
            return len(self.frame)
        return self.rows(route).count()

    def rows(self, route: str) -> Rows | SparkRows:
        if self.types is not None and route != "csv":
            raise UnhashableError("Types can be given for CSV only.")
        columns = self.columns
        if columns is not None and not isinstance(columns, str):
            columns = list(columns)
        try:
            if self.files is not None:
                from ubunye_core.hashing import datasets, delta

                if route == "delta":
                    return watched(delta.delta_rows(self.files.base, columns))
                return watched(datasets.dataset_rows(self.files, columns, self.types))
            if route == "pandas":
                from ubunye_core.hashing import frames

                return frames.pandas_rows(self.frame, columns)
            if route == "spark":
                from ubunye_core.hashing.spark.rows import SparkRows

                return SparkRows(self.frame, columns)
            from ubunye_core.hashing import arrow

            return arrow.arrow_rows(self.frame, columns)
        except ImportError as error:
            if str(error.name).partition(".")[0] != "pyarrow":
                raise
            raise MissingExtraError("Hashing rows needs 'pyarrow'.", "arrow") from None
