"""Arrow data as rows-v1 sees it: a schema and slices of rows, from one table or a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ubunye_core.hashing import fast, rows_v1
from ubunye_core.hashing.columns import Writer, member_writer
from ubunye_core.hashing.problems import UnhashableError, column_problem, quoted
from ubunye_core.hashing.types import refuse_cut_names, schema_of

if TYPE_CHECKING:
    from ubunye_core.hashing.fast.engine import Engine

SLICE_ROWS = 16_384
"""Rows the plain definition turns into text at a time; bounds the memory, not the result."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows ready to be hashed; ``batches`` can be read once."""

    schema: Any  # pyarrow.Schema, of the chosen columns
    batches: Iterable[Any]  # pyarrow.RecordBatch, which may hold more columns
    row_count: int | None = None  # where it is known without reading
    counter: Callable[[], int] | None = None  # counts from metadata, without hashing

    def canonical_schema(self) -> list[tuple[str, str]]:
        return schema_of(self.schema)

    def lines(self) -> Iterator[list[str]]:
        """The canonical lines, a list for each slice of rows."""
        plain = PlainLines(self.schema)
        names = sorted(self.schema.names)  # by code point
        for batch in self.batches:
            yield from plain.of(batch, names)

    def sums(self) -> rows_v1.Sums:
        """Read every row."""
        return self.sums_of([self.schema.names])[0]

    def sums_of(
        self, choices: Sequence[Sequence[str]], *, threads: int | None = None
    ) -> list[rows_v1.Sums]:
        """Read every row once, for the sums of several choices of columns.

        Hashes in a thread for each core, unless told how many.
        """
        plain = PlainLines(self.schema)
        views = [sorted(names) for names in choices]
        batches = iter(self.batches)
        engine = self._engine(plain)
        if engine is not None:
            totals = engine.sums(batches, self.schema.names, views, self.row_count, threads)
        else:
            totals = [rows_v1.Sums() for _ in views]
            for batch in batches:
                for total, names in zip(totals, views, strict=True):
                    total.merge(plain.sums([batch], names))
        for total in totals:
            if self.row_count not in (None, total.rows):
                raise UnhashableError(
                    f"Rows that could be read: {total.rows:,} of {self.row_count:,}."
                )
        return totals

    def _engine(self, plain: PlainLines) -> Engine | None:
        """What hashes many rows fast, where it can be used."""
        few = self.row_count is not None and self.row_count < fast.LEAST_ROWS
        if few or not len(self.schema):
            return None
        if fast.is_usable():
            try:
                from ubunye_core.hashing.fast.engine import Engine
            except ImportError:  # a library it needs is broken or too old
                pass
            else:
                return Engine(plain.sums)
        fast.say_that_it_is_slow(self.row_count)
        return None

    def count(self) -> int:
        """The number of rows; reads the batches only where nothing else knows."""
        if self.row_count is not None:
            return self.row_count
        if self.counter is not None:
            return self.counter()
        return sum(batch.num_rows for batch in self.batches)


class PlainLines:
    """The lines of batches by the plain definition, a list for each slice of rows."""

    def __init__(self, schema: Any) -> None:
        schema_of(schema)  # refuses what has no name before a row is read
        # By type, for files of one folder may store one kind of column in two layouts.
        self._writers = {(field.name, field.type): _writer_of(field) for field in schema}

    def of(self, batch: Any, names: Sequence[str]) -> Iterator[list[str]]:
        """The lines of the named columns, which must be sorted by name."""
        columns = []
        for name in names:
            field = batch.schema.field(name)
            if (name, field.type) not in self._writers:
                self._writers[name, field.type] = _writer_of(field)
            columns.append((field, self._writers[name, field.type], batch.column(name)))
        for start in range(0, batch.num_rows, SLICE_ROWS):
            count = min(SLICE_ROWS, batch.num_rows - start)
            members = [
                _members(field, write, column.slice(start, count))
                for field, write, column in columns
            ]
            yield list(map(rows_v1.line, zip(*members, strict=True) if names else [()] * count))

    def sums(self, batches: Iterable[Any], names: Sequence[str]) -> rows_v1.Sums:
        """The sums of the named columns, which must be sorted by name."""
        sums = rows_v1.Sums()
        for batch in batches:
            for lines in self.of(batch, names):
                sums.add(lines)
        return sums


def _writer_of(field: Any) -> Writer:
    try:
        return member_writer(field.name, field.type)
    except Exception as error:
        raise column_problem(field.name, field.type, error) from None


def _members(field: Any, write: Writer, column: Any) -> Sequence[str | None]:
    try:
        return write(column)
    except Exception as error:
        raise column_problem(field.name, field.type, error) from None


def arrow_rows(frame: Any, columns: Sequence[str] | None) -> Rows:
    """The rows of a table, a batch, a reader, a dataset or anything with an Arrow C stream."""
    if isinstance(frame, pa.RecordBatch):
        return Rows(schema=chosen(frame.schema, columns), batches=[frame], row_count=frame.num_rows)
    if isinstance(frame, pa.Table):
        return table_rows(frame, columns)
    if isinstance(frame, pa.RecordBatchReader):
        return Rows(schema=chosen(frame.schema, columns), batches=frame)
    if hasattr(frame, "scanner") and hasattr(frame, "count_rows"):  # pyarrow.dataset.Dataset
        schema = chosen(frame.schema, columns)
        return Rows(schema=schema, batches=frame.to_batches(columns=schema.names))
    _refuse_what_gets_spoilt(frame)
    reader = pa.RecordBatchReader.from_stream(frame)
    return Rows(schema=chosen(reader.schema, columns), batches=reader)


def _refuse_what_gets_spoilt(frame: Any) -> None:
    """What a library does not pass on as it is: names with a NUL, and Python objects.

    Polars passes objects on as their addresses, and aborts at a NUL. DuckDB cuts names at it.
    """
    packages = {base.__module__.partition(".")[0] for base in type(frame).__mro__}
    if "polars" in packages:
        fields, columns = _polars_fields, frame.schema.items()
    elif packages & {"duckdb", "_duckdb"}:
        fields, columns = _duckdb_fields, zip(frame.columns, frame.types, strict=True)
    else:
        return
    for name, type_ in columns:
        if str(type_) == "Object":
            raise UnhashableError(f"Column {quoted(name)} holds Python objects.")
        try:
            refuse_cut_names("column", [name])
            refuse_cut_names("field", fields(type_))
        except UnhashableError as error:
            raise column_problem(name, type_, error) from None


def _polars_fields(type_: Any) -> Iterator[str]:
    """The names of the fields of structs, however deep they lie."""
    for field in getattr(type_, "fields", ()):
        yield field.name
        yield from _polars_fields(field.dtype)
    inner = getattr(type_, "inner", None)
    if inner is not None:
        yield from _polars_fields(inner)


def _duckdb_fields(type_: Any) -> Iterator[str]:
    """The same for DuckDB, which has a name for what is in a list or a map, too."""
    if type_.id in ("list", "array", "struct", "map", "union"):
        for name, inner in type_.children:
            yield name
            if name != "size" or type_.id != "array":
                yield from _duckdb_fields(inner)


def table_rows(table: Any, columns: Sequence[str] | None) -> Rows:
    """The rows of a table held in memory."""
    return Rows(
        schema=chosen(table.schema, columns),
        batches=table.to_batches() if table.num_columns else [_empty_rows(table.num_rows)],
        row_count=table.num_rows,
    )


def _empty_rows(count: int) -> Any:
    """Rows without columns, which not every table passes on as batches."""
    return pa.RecordBatch.from_struct_array(pa.array([{}] * count, pa.struct([])))


def chosen(schema: Any, columns: Sequence[str] | None) -> Any:
    """The schema of the chosen columns; all of them by default."""
    if columns is None:
        return schema
    if isinstance(columns, str):
        raise UnhashableError("Give the columns as a list of names.")
    for name in columns:
        found = len(schema.get_all_field_indices(name)) if isinstance(name, str) else 0
        if found != 1 or list(columns).count(name) != 1:
            how = "no column" if not found else "more than one column"
            raise UnhashableError(f"There is {how} {quoted(name)} to hash.")
    return pa.schema([schema.field(name) for name in columns])
