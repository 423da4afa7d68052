"""The current rows of a Delta table, read through delta-rs from its log.

Its columns are those of the table's own schema, partition columns included. A column that an older
file does not have is null there. What would need more than reading the files that the log names
(deletion vectors, column mapping, widened types, features of later protocols) has no hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from ubunye_core.errors import MissingExtraError
from ubunye_core.hashing.arrow import Rows, chosen
from ubunye_core.hashing.datasets import MOST_ROWS, open_parquet, parquet_batches
from ubunye_core.hashing.problems import UnhashableError, is_interruption, quoted
from ubunye_core.hashing.types import BINARIES, LISTS, is_, is_any, type_name

_HARMLESS = frozenset({"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"})
"""Features of tables whose files hold the rows as they are."""


def delta_rows(base: Path, columns: Sequence[str] | None) -> Rows:
    """The rows of the table's newest version, to be read one file after another."""
    try:
        import deltalake
    except ImportError:
        raise MissingExtraError("Reading a Delta table needs 'deltalake'.", "delta") from None
    if "%" in str(base.resolve()):
        raise UnhashableError(
            f"The path of the Delta table {quoted(base)} has a '%', which delta-rs takes for an "
            "escape of another path."
        )
    try:
        table = deltalake.DeltaTable(base.resolve())
        _refuse_features(base, table)
        schema = pa.schema(table.schema().to_arrow())
        files = _files_of(base, table, schema)
    except UnhashableError:
        raise
    except BaseException as error:  # a panic of its Rust code is no Exception
        raise _unreadable(base, error) from None
    reader = _Reader(base, files, schema, chosen(schema, columns))
    return Rows(schema=reader.schema, batches=reader.batches(), counter=reader.count)


@dataclass(frozen=True)
class _File:
    path: Path
    values: Mapping[str, Any]  # of the partition columns


def _refuse_features(base: Path, table: Any) -> None:
    features = set(table.protocol().reader_features or ()) - _HARMLESS
    if (table.metadata().configuration or {}).get("delta.columnMapping.mode", "none") != "none":
        raise UnhashableError(f"{quoted(base)} is a Delta table with column mapping.", hint=_HINT)
    features.discard("columnMapping")
    if "deletionVectors" in features:
        if pa.table(table.deletion_vectors()).num_rows:
            raise UnhashableError(
                f"{quoted(base)} is a Delta table with deletion vectors.",
                hint=f"Purge them, or give {_FRAME}.",
            )
        features.discard("deletionVectors")
    if features:
        raise UnhashableError(
            f"{quoted(base)} is a Delta table with features that are not read here: "
            f"{', '.join(sorted(features))}.",
            hint=_HINT,
        )


_FRAME = "the Spark frame that reads it"
_HINT = f"Give {_FRAME}."


def _files_of(base: Path, table: Any, schema: Any) -> list[_File]:
    """The files that hold the newest version's rows, in the order of their paths."""
    keys = list(table.metadata().partition_columns)
    for key in keys:
        if is_any(BINARIES, schema.field(key).type):  # delta-rs reads their escapes as they stand
            raise UnhashableError(f"Partition column {quoted(key)} is binary.", hint=_HINT)
    added = pa.table(table.get_add_actions(flatten=True))
    values = {key: added.column(f"partition.{key}") for key in keys}
    files = []
    for row, path in enumerate(added.column("path").to_pylist()):
        within = Path(unquote(path))
        if ":/" in path or within.is_absolute() or ".." in within.parts:
            raise UnhashableError(
                f"{quoted(base)} is a Delta table with files outside of its folder.", hint=_HINT
            )
        files.append(
            _File(base / within, {key: column[row].as_py() for key, column in values.items()})
        )
    return sorted(files, key=lambda file: file.path)


class _Reader:
    def __init__(self, base: Path, files: list[_File], whole: Any, schema: Any) -> None:
        self.base, self.files, self.whole, self.schema = base, files, whole, schema

    def batches(self) -> Iterator[Any]:
        for file in self.files:
            try:
                with open_parquet(file.path) as opened:
                    yield from self._of(file, opened)
            except (pa.ArrowException, OSError) as error:
                raise _unreadable(file.path, error) from None

    def count(self) -> int:
        total = 0
        for file in self.files:
            try:
                with open_parquet(file.path) as opened:
                    total += opened.metadata.num_rows
            except (pa.ArrowException, OSError) as error:
                raise _unreadable(file.path, error) from None
        return total

    def _of(self, file: _File, opened: Any) -> Iterator[Any]:
        held = opened.schema_arrow.names
        if unknown := sorted(set(held) - set(self.whole.names)):
            raise UnhashableError(
                f"{quoted(file.path)} has a column {quoted(unknown[0])} that its Delta table "
                "does not have."
            )
        own = [name for name in self.schema.names if name in held and name not in file.values]
        if own:
            for batch in parquet_batches(opened, own):
                yield self._batch(file, batch, batch.num_rows)
            return
        rows = opened.metadata.num_rows
        for start in range(0, rows, MOST_ROWS):
            yield self._batch(file, None, min(MOST_ROWS, rows - start))

    def _batch(self, file: _File, batch: Any, rows: int) -> Any:
        """The rows of one batch in the columns of the table."""
        if not len(self.schema):
            return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))
        names = () if batch is None else batch.schema.names
        columns = []
        for field in self.schema:
            if field.name in file.values:
                value = pa.scalar(file.values[field.name], field.type)
                columns.append(pa.repeat(value, rows))
            elif field.name in names:
                columns.append(_fitted(field, batch.column(field.name)))
            else:
                columns.append(pa.nulls(rows, field.type))
        return pa.RecordBatch.from_arrays(columns, names=self.schema.names)


def _fitted(field: Any, column: Any) -> Any:
    """A column of a file in the type that the table gives it."""
    if type_name(column.type) == type_name(field.type):
        return column
    if not _is_stored_as(field.type, column.type):
        raise UnhashableError(
            f"Column {quoted(field.name)} of the Delta table is {type_name(field.type)}, and "
            f"{type_name(column.type)} in one of its files."
        )
    return column.cast(field.type)


def _is_stored_as(type_: Any, stored: Any) -> bool:
    """Whether files may store a Delta type so: the same values, said in other words."""
    if type_name(type_) == type_name(stored):
        return True
    if is_("integer", type_):
        return is_("integer", stored)
    if is_("timestamp", type_) and is_("timestamp", stored):
        return type_.tz is not None and stored.tz is None  # of 96 bits, which say no zone
    if is_any(LISTS, type_) and is_any(LISTS, stored):
        return _is_stored_as(type_.value_type, stored.value_type)
    if is_("map", type_) and is_("map", stored):
        return _is_stored_as(type_.key_type, stored.key_type) and _is_stored_as(
            type_.item_type, stored.item_type
        )
    if is_("struct", type_) and is_("struct", stored):
        fields = {field.name: field.type for field in type_}
        return all(
            field.name in fields and _is_stored_as(fields[field.name], field.type)
            for field in stored
        )
    return False


def _unreadable(path: Path, error: BaseException) -> BaseException:
    """Only the kind of error: the message may quote values. A request to stop stays one."""
    if is_interruption(error):
        return error
    return UnhashableError(f"{quoted(path)} could not be read as delta: {type(error).__name__}.")
