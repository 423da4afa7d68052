"""Parquet, Arrow and CSV files as rows-v1 sees them, streamed in batches.

Folders named ``key=value`` below the given folder add a column, whose type (int32 or text) and
null are those that pyarrow reads from Hive partitions. All files must have the same columns.

CSV has a header line. Its cells are text: an empty cell is the empty text, never a null. A column
whose type is given reads an empty cell as null. A blank line is no row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.parquet as pq

from ubunye_core.hashing import ipc
from ubunye_core.hashing.arrow import SLICE_ROWS, Rows, chosen
from ubunye_core.hashing.files import DataFiles
from ubunye_core.hashing.problems import UnhashableError, quoted
from ubunye_core.hashing.types import schema_of

# The old 96-bit timestamps reach further than nanoseconds do, and would wrap around unsaid.
_PARQUET = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
_CSV_BLOCK_BYTES = 8 * 2**20  # a row must fit in one
_BUFFER_BYTES = 64 * 2**10  # for each column of a file
_BATCH_BYTES = 8 * 2**20
_LEAST_ROWS, MOST_ROWS = 1_024, 131_072
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
_CSV_COLUMN = re.compile(r"In CSV column #(\d+)")


def dataset_rows(
    data: DataFiles, columns: Sequence[str] | None, types: Mapping[str, Any] | None
) -> Rows:
    """The rows of all files, to be read one file after another."""
    return _Reader(data, types).rows(columns)


class _Reader:
    def __init__(self, data: DataFiles, types: Mapping[str, Any] | None) -> None:
        self.data = data
        self.types = {name: _arrow_type(name, type_) for name, type_ in (types or {}).items()}
        self.bad_row = ""
        try:
            self.dataset = self._arrow_dataset() if data.kind == "arrow-file" else self._dataset()
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(data.files[0], error) from None

    def _dataset(self) -> Any:
        return ds.dataset(
            [str(file) for file in self.data.files],
            filesystem=pyarrow.fs.LocalFileSystem(),
            format=_PARQUET if self.data.kind == "parquet" else self._csv_format(),
            partitioning="hive" if self.data.is_folder else None,
            partition_base_dir=str(self.data.base) if self.data.is_folder else None,
        )

    def _arrow_dataset(self) -> Any:
        """Only the files and their folders' keys: pyarrow's datasets don't open Arrow streams."""
        folders = _folder_schema(self.data) if self.data.is_folder else pa.schema([])
        options = ds.FileSystemFactoryOptions(partition_base_dir=str(self.data.base))
        options.partitioning = ds.partitioning(folders, flavor="hive")
        factory = ds.FileSystemDatasetFactory(
            pyarrow.fs.LocalFileSystem(),
            [str(file) for file in self.data.files],
            ds.IpcFileFormat(),
            options,
        )
        return factory.finish(folders)

    def rows(self, columns: Sequence[str] | None) -> Rows:
        first = next(self.dataset.get_fragments())
        whole = self._schema(first)
        if missing := sorted(set(self.types) - set(whole.names)):
            raise UnhashableError(f"There is no column {quoted(missing[0])} to give a type.")
        schema = chosen(whole, columns)
        return Rows(
            schema=schema,
            batches=self._batches(whole, None if columns is None else schema.names),
            counter=self._count,
        )

    def _batches(self, whole: Any, names: list[str] | None) -> Iterator[Any]:
        expected = sorted(schema_of(whole))
        for fragment in self.dataset.get_fragments():
            schema = self._schema(fragment)
            if sorted(schema_of(schema)) != expected:
                raise UnhashableError(
                    f"{quoted(fragment.path)} has other columns or types than "
                    f"{quoted(self.data.files[0])}."
                )
            try:
                yield from _READERS[self.data.kind](fragment, schema, names)
            except (pa.ArrowException, OSError) as error:
                raise self._unreadable(fragment.path, error, schema.names) from None

    def _count(self) -> int:
        try:
            return sum(map(self._rows_of, self.dataset.get_fragments()))
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(self.data.base, error) from None

    def _rows_of(self, fragment: Any) -> int:
        if self.data.kind == "arrow-file":
            return ipc.count_of_file(fragment.path)
        rows: int = _scanner(fragment, self._schema(fragment), None).count_rows()
        return rows

    def _schema(self, fragment: Any) -> Any:
        """The columns of one file and of the folders it lies in."""
        try:
            is_arrow = self.data.kind == "arrow-file"
            own = ipc.schema_of_file(fragment.path) if is_arrow else fragment.physical_schema
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(fragment.path, error) from None
        keys = ds.get_partition_keys(fragment.partition_expression)
        if both := sorted(set(own.names) & set(keys)):
            raise UnhashableError(
                f"Column {quoted(both[0])} stands in {quoted(fragment.path)} and in its path."
            )
        if self.data.kind == "csv":
            own = pa.schema([(name, self.types.get(name, pa.string())) for name in own.names])
        folders = self.dataset.schema
        return pa.schema([*own, *(folders.field(key) for key in sorted(keys))])

    def _csv_format(self) -> Any:
        return ds.CsvFileFormat(
            parse_options=pyarrow.csv.ParseOptions(
                newlines_in_values=True, invalid_row_handler=self._refuse_row
            ),
            convert_options=pyarrow.csv.ConvertOptions(null_values=[""], strings_can_be_null=False),
            read_options=pyarrow.csv.ReadOptions(block_size=_CSV_BLOCK_BYTES),
        )

    def _refuse_row(self, row: Any) -> str:
        where = "a row" if row.number is None else f"row {row.number}"
        self.bad_row = f"{where} has {row.actual_columns} cells for {row.expected_columns} columns"
        return "error"

    def _unreadable(
        self, path: Any, error: Exception, names: Sequence[str] = ()
    ) -> UnhashableError:
        """Only the kind of error and the column's name: Arrow's own message quotes cells."""
        why = self.bad_row or type(error).__name__
        column = _CSV_COLUMN.search(str(error))
        if column and int(column[1]) < len(names):
            why = f"a cell of column {quoted(names[int(column[1])])} does not fit its type"
        return UnhashableError(f"{quoted(path)} could not be read as {self.data.kind}: {why}.")


def _folder_schema(data: DataFiles) -> Any:
    """The columns that folders add: of int32 where every value is one, as pyarrow has it."""
    values: dict[str, set[str]] = {}
    for file in data.files:
        for part in file.relative_to(data.base).parent.parts:
            key, sign, value = part.partition("=")
            if sign:
                values.setdefault(unquote(key), set()).add(unquote(value))
    return pa.schema(
        [
            (key, pa.int32() if all(map(_is_int32, found - {_NULL_FOLDER})) else pa.string())
            for key, found in values.items()
        ]
    )


def _is_int32(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None and -(2**31) <= int(text) < 2**31


def _scanner(fragment: Any, schema: Any, names: list[str] | None) -> Any:
    return fragment.scanner(
        schema=schema,
        columns=None if names is None else {name: ds.field(name) for name in names},
        batch_size=SLICE_ROWS,
        batch_readahead=1,
        fragment_readahead=1,
    )


def _scanned_batches(fragment: Any, schema: Any, names: list[str] | None) -> Iterator[Any]:
    yield from _scanner(fragment, schema, names).to_batches()


def _parquet_batches(fragment: Any, schema: Any, names: list[str] | None) -> Iterator[Any]:
    """The batches of one Parquet file, each read when it is asked for.

    A scanner would read ahead of a slower hash, up to a gigabyte.
    """
    folders = ds.get_partition_keys(fragment.partition_expression)
    wanted = schema.names if names is None else names
    own = [name for name in wanted if name not in folders]
    if not own:  # rows of which only the folder is known: a scanner counts them
        yield from _scanned_batches(fragment, schema, names)
        return
    with open_parquet(fragment.path) as file:
        for batch in parquet_batches(file, own):
            yield _with_folders(batch, schema, wanted, folders)


def open_parquet(path: Any) -> Any:
    """A Parquet file, read through small buffers."""
    return pq.ParquetFile(path, buffer_size=_BUFFER_BYTES, coerce_int96_timestamp_unit="us")


def parquet_batches(file: Any, names: Sequence[str]) -> Iterator[Any]:
    """The batches of an open Parquet file, which may hold more than the named columns."""
    # A name with a dot could mean a field of another column: then all are read.
    some = None if any("." in name for name in file.schema_arrow.names) else list(names)
    rows = _rows_at_a_time(file.metadata)
    for group in range(file.num_row_groups):  # read together they would all stay in memory
        yield from file.iter_batches(rows, row_groups=[group], columns=some)


def _arrow_batches(fragment: Any, schema: Any, names: list[str] | None) -> Iterator[Any]:
    folders = ds.get_partition_keys(fragment.partition_expression)
    wanted = schema.names if names is None else names
    own = [name for name in wanted if name not in folders]
    for batch in ipc.batches_of_file(fragment.path, own if len(own) < len(schema) else None):
        if not wanted:
            yield batch
        else:
            yield _with_folders(batch, schema, wanted, folders)


def _with_folders(batch: Any, schema: Any, names: list[str], folders: Mapping[str, Any]) -> Any:
    """The named columns, of the batch or of the folders it lies in."""
    columns, fields = [], []
    for name in names:
        if name in folders:
            field = schema.field(name)
            columns.append(pa.repeat(pa.scalar(folders[name], field.type), len(batch)))
        else:
            field = batch.schema.field(name)
            columns.append(batch.column(name))
        fields.append(field)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _rows_at_a_time(metadata: Any) -> int:
    """As many rows of a Parquet file as make a slice worth hashing and still a small one."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    # As stored, which can be a fraction of what the values take in memory.
    bytes_of_a_row = max((it.total_byte_size / max(it.num_rows, 1) for it in groups), default=1)
    return min(MOST_ROWS, max(_LEAST_ROWS, int(_BATCH_BYTES / max(bytes_of_a_row, 1))))


_READERS: dict[str, Callable[[Any, Any, list[str] | None], Iterator[Any]]] = {
    "arrow-file": _arrow_batches,
    "csv": _scanned_batches,
    "parquet": _parquet_batches,
}

_SIMPLE_TYPES = {
    **{name: getattr(pa, name)() for name in ("int8", "int16", "int32", "int64")},
    **{name: getattr(pa, name)() for name in ("uint8", "uint16", "uint32", "uint64")},
    "float32": pa.float32(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_DECIMAL = re.compile(r"decimal\((\d{1,2}),(\d{1,2})\)")


def _arrow_type(name: str, type_: Any) -> Any:
    """A type given for a CSV column: an Arrow type, or the canonical name of a flat one."""
    if isinstance(type_, pa.DataType):
        return type_
    if isinstance(type_, str) and type_ in _SIMPLE_TYPES:
        return _SIMPLE_TYPES[type_]
    decimal = _DECIMAL.fullmatch(str(type_))
    if decimal and 1 <= int(decimal[1]) <= 38:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    raise UnhashableError(
        f"Column {quoted(name)} is given a type unknown for CSV: {quoted(type_)}."
    )
