"""A table that can't be hashed has no data hash and says why; nothing is raised or given away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from ubunye_core.errors import UbunyeError
from ubunye_core.hashing import UnhashableError, canonical_lines, fingerprint, row_count
from ubunye_core.hashing.arrow import Rows

SECRET = "hunter2"


def _invalid_text() -> pa.Array:
    data = SECRET.encode() + b"\xff"
    offsets = pa.array([0, len(data)], pa.int32()).buffers()[1]
    return pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(data)])


def _map(entries: list[tuple[Any, Any]], key: pa.DataType) -> pa.Array:
    return pa.array([entries], pa.map_(key, pa.string()))


class _Odd(pa.ExtensionType):
    def __init__(self) -> None:
        super().__init__(pa.string(), "tests.odd")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, data: bytes) -> _Odd:
        return cls()


COLUMNS = {
    "invalid UTF-8": _invalid_text(),
    "one map key twice": _map([(SECRET, "x"), (SECRET, "y")], pa.string()),
    "binary map keys": _map([(SECRET.encode(), SECRET)], pa.binary()),
    "list map keys": _map([([SECRET], SECRET)], pa.list_(pa.string())),
    "struct map keys": _map([({"a": SECRET}, SECRET)], pa.struct([("a", pa.string())])),
    "time map keys": _map([(1, SECRET)], pa.time64("us")),
    "seconds beyond 64 bits": pa.array([2**62], pa.timestamp("s")),
    "duration beyond 64 bits": pa.array([-(2**62)], pa.duration("s")),
    "parts of a microsecond": pa.array([1], pa.time64("ns")),
    "a duration's nanoseconds": pa.array([1], pa.duration("ns")),
    "no time of a day": pa.array([86_400], pa.int32()).view(pa.time32("s")),
    "an extension of somebody": pa.ExtensionArray.from_storage(_Odd(), pa.array([SECRET])),
    "a union": pa.UnionArray.from_dense(
        pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([SECRET])]
    ),
    "an interval of months": pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    "one field name twice": pa.StructArray.from_arrays(
        [pa.array([SECRET]), pa.array([SECRET])], names=["f", "f"]
    ),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_without_text_is_named_but_its_values_are_not(kind: str) -> None:
    got = fingerprint(pa.table({"odd": COLUMNS[kind]}))
    assert got.data_hash is None
    assert got.error is not None
    assert "'odd'" in got.error
    assert SECRET not in got.error
    assert len(got.error) < 300


@pytest.mark.parametrize("kind", COLUMNS)
def test_the_rows_can_be_counted_all_the_same(kind: str) -> None:
    table = pa.table({"odd": COLUMNS[kind]})
    assert row_count(table) == 1
    assert fingerprint(table).row_count == 1


@pytest.mark.parametrize("depth", ["flat", "list", "struct", "map"])
def test_an_extension_this_process_does_not_know_is_refused(depth: str) -> None:
    odd = pa.field("x", pa.string(), metadata={"ARROW:extension:name": "somebody.odd"})
    type_ = {
        "list": pa.list_(odd),
        "struct": pa.struct([odd]),
        "map": pa.map_(pa.string(), odd),
    }.get(depth)
    field = odd if type_ is None else pa.field("x", type_)
    got = fingerprint(pa.table([pa.nulls(1, field.type)], schema=pa.schema([field])))
    assert got.error == "Column 'x' has extension type 'somebody.odd', unknown here."


def test_polars_columns_of_python_objects_are_refused() -> None:
    members = {"__module__": "polars.dataframe.frame", "schema": {"odd": "Object"}}
    frame = type("DataFrame", (), {**members, "__arrow_c_stream__": None})()
    assert fingerprint(frame).error == "Column 'odd' holds Python objects."
    of_our_own = type("Frame", (pl.DataFrame,), {})({"odd": [object()]}, schema={"odd": pl.Object})
    assert fingerprint(of_our_own).error == "Column 'odd' holds Python objects."


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        ({"a\0b": [1]}, r"column name 'a\x00b'"),
        ({"a": [{"\0": 1}]}, r"field name '\x00'"),
        ({"a": [[{"b": {"c\0d": 1}}]]}, r"field name 'c\x00d'"),
    ],
)
def test_a_name_at_which_polars_would_abort_the_process_is_refused(
    cells: dict[str, Any], name: str
) -> None:
    for kind in (pl.DataFrame, type("Frame", (pl.DataFrame,), {})):
        got = fingerprint(kind(cells))
        assert got.data_hash is None
        assert got.error is not None
        assert f"has the {name}, of which what follows the NUL gets lost" in got.error


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ('1 AS "a\0b"', r"column name 'a\x00b'"),
        ("{'c\0d': 1} AS a", r"field name 'c\x00d'"),
        ("[map {1: [{'c\0d': 1}]::STRUCT(\"c\0d\" INT)[1]}] AS a", r"field name 'c\x00d'"),
    ],
)
def test_a_name_that_duckdb_would_cut_is_refused(query: str, name: str) -> None:
    with duckdb.connect() as connection:
        got = fingerprint(connection.sql(f"SELECT {query}"))
    assert got.data_hash is None
    assert got.error is not None
    assert f"has the {name}, of which what follows the NUL gets lost" in got.error


def test_only_the_chosen_columns_must_be_good() -> None:
    table = pa.table({"a": [1], "odd": COLUMNS["a union"]})
    assert fingerprint(table, columns=["a"]) == fingerprint(pa.table({"a": [1]}))


def test_a_column_name_used_twice_is_refused() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert fingerprint(table).error == "The table has the column name 'a' more than once."
    assert fingerprint(table, columns=["a"]).data_hash is None


@pytest.mark.parametrize("columns", [["no"], ["a", "a"], "a", [1]])
def test_columns_that_cannot_be_chosen_are_refused(columns: Any) -> None:
    got = fingerprint(pa.table({"a": [1]}), columns=columns)
    assert got.data_hash is None
    assert got.error


@pytest.mark.parametrize("frame", [None, 5, [1, 2], {"a": [1]}, pa.array([1]), object(), b"bytes"])
def test_what_is_no_table_is_refused(frame: Any) -> None:
    got = fingerprint(frame)
    assert (got.data_hash, got.schema_hash, got.row_count) == (None, None, None)
    assert got.error
    assert fingerprint(frame, hash=False).error


def test_a_stream_of_values_is_no_table() -> None:
    assert fingerprint(pa.chunked_array([[1, 2]])).data_hash is None


def _batches(error: BaseException) -> Iterator[pa.RecordBatch]:
    yield pa.record_batch({"a": [1]})
    raise error


def test_a_stream_that_breaks_off_has_no_hash() -> None:
    broken = _batches(ValueError(f"password {SECRET}"))
    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), broken)
    got = fingerprint(reader)
    assert got.data_hash is None
    assert got.schema_hash is not None
    assert got.error is not None
    assert SECRET not in got.error


class _Frame:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise self.error


def test_a_panic_of_another_library_is_an_error_text() -> None:
    class PanicException(BaseException):
        pass

    got = fingerprint(_Frame(PanicException(SECRET)))
    assert got.error == "The rows could not be read (PanicException)."


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_a_request_to_stop_passes_through(error: BaseException) -> None:
    with pytest.raises(type(error)):
        fingerprint(_Frame(error))


def test_asking_for_the_lines_fails_loudly() -> None:
    table = pa.table({"odd": COLUMNS["a union"]})
    with pytest.raises(UnhashableError, match="odd"):
        list(canonical_lines(table))
    with pytest.raises(UbunyeError):
        row_count(None)


def test_a_long_name_is_cut() -> None:
    got = fingerprint(pa.table({"n" * 5_000: COLUMNS["a union"]}))
    assert got.error is not None
    assert len(got.error) < 300


def test_what_else_spark_calls_a_frame_is_refused_by_name() -> None:
    members = {"__module__": "pyspark.pandas.frame", "to_spark": None}
    got = fingerprint(type("DataFrame", (), members)())
    assert got.error == "'DataFrame' of pyspark is no kind of table. Give its to_spark()."


@pytest.mark.parametrize(("known", "told"), [(1, "1"), (2000, "2,000")])
def test_rows_that_went_missing_while_they_were_read_are_told(known: int, told: str) -> None:
    table = pa.table({"a": pa.array([], pa.int64())})
    cut = Rows(schema=table.schema, batches=table.to_batches(), row_count=known)
    with pytest.raises(UnhashableError, match=f"^Rows that could be read: 0 of {told}"):
        cut.sums()
