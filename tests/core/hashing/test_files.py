"""Files and folders hash like the table they hold."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from ubunye_core.hashing import Fingerprint, canonical_lines, fingerprint, row_count

TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int32()),
        "a.b": ["x", None, "", "y"],
        "at": pa.array([0, 1, None, -1], pa.timestamp("us", "UTC")),
        "tags": pa.array([["p"], [], None, [None]], pa.list_(pa.string())),
    }
)


def _same(got: Fingerprint, expected: Fingerprint) -> None:
    assert got.error is None
    assert (got.data_hash, got.schema_hash, got.row_count) == (
        expected.data_hash,
        expected.schema_hash,
        expected.row_count,
    )


def test_a_parquet_file_hashes_like_its_table(tmp_path: Path) -> None:
    file = tmp_path / "odd name=1 [x].parquet"
    pq.write_table(TABLE, file, row_group_size=2)
    for location in (file, str(file), file.as_uri()):
        _same(fingerprint(location), fingerprint(TABLE))
        assert fingerprint(location).route == "parquet"
    _same(fingerprint(file, columns=["a.b", "id"]), fingerprint(TABLE.select(["id", "a.b"])))
    _same(fingerprint(file, columns=[]), fingerprint(TABLE.select([])))
    _same(fingerprint(pa.dataset.dataset(file)), fingerprint(TABLE))


def test_old_timestamps_of_parquet_may_lie_in_any_year(tmp_path: Path) -> None:
    table = pa.table({"at": pa.array([-62_135_596_800_000_000, 253_402_300_799_999_999])})
    table = table.cast(pa.schema([("at", pa.timestamp("us"))]))
    pq.write_table(table, tmp_path / "f.parquet", use_deprecated_int96_timestamps=True)
    _same(fingerprint(tmp_path), fingerprint(table))


def test_a_parquet_file_needs_no_suffix(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "000000_0")
    _same(fingerprint(tmp_path / "000000_0"), fingerprint(TABLE))


def test_a_folder_hashes_like_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    pq.write_table(TABLE.slice(0, 1), tmp_path / "deep" / "b.parquet")
    reordered = TABLE.slice(1).select(["tags", "at", "a.b", "id"])
    pq.write_table(reordered, tmp_path / "a.parquet")
    for hidden in ("_SUCCESS", ".a.parquet.crc", "_metadata"):
        (tmp_path / hidden).write_text("not data")
    (tmp_path / "_temporary").mkdir()
    pq.write_table(TABLE, tmp_path / "_temporary" / "c.parquet")
    _same(fingerprint(tmp_path), fingerprint(TABLE))
    assert row_count(tmp_path) == 4


def test_files_may_store_one_type_in_different_layouts(tmp_path: Path) -> None:
    words = pa.table({"a": ["x", "y"]})
    pq.write_table(words, tmp_path / "1.parquet")
    coded = pa.table({"a": words["a"].dictionary_encode()})
    pq.write_table(coded, tmp_path / "2.parquet")
    _same(fingerprint(tmp_path), fingerprint(pa.concat_tables([words, words])))


def test_folders_named_by_key_and_value_add_columns(tmp_path: Path) -> None:
    for folder, ids in (("_day=3/zone=eu", [1]), ("_day=4/zone=us", [2, 3])):
        (tmp_path / folder).mkdir(parents=True)
        pq.write_table(pa.table({"id": ids}), tmp_path / folder / "f.parquet")
    expected = pa.table(
        {
            "id": [1, 2, 3],
            "_day": pa.array([3, 4, 4], pa.int32()),
            "zone": ["eu", "us", "us"],
        }
    )
    _same(fingerprint(tmp_path), fingerprint(expected))
    _same(fingerprint(tmp_path, columns=["zone"]), fingerprint(expected.select(["zone"])))


def test_the_rows_of_parquet_are_counted_from_its_metadata(tmp_path: Path) -> None:
    file = tmp_path / "f.parquet"
    pq.write_table(TABLE, file)
    raw = bytearray(file.read_bytes())
    raw[4:12] = b"\xff" * 8  # the rows are damaged, the footer is not
    file.write_bytes(raw)
    got = fingerprint(file, hash=False)
    assert (got.row_count, got.data_hash, got.error) == (4, None, None)


def test_cells_of_csv_are_text_and_never_null(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text('\ufeffid,note\r\n007,\r\n1.10,"two\nlines, ""quoted"""\r\n\r\nNA,""\r\n')
    expected = pa.table({"id": ["007", "1.10", "NA"], "note": ["", 'two\nlines, "quoted"', ""]})
    assert fingerprint(file).route == "csv"
    _same(fingerprint(file), fingerprint(expected))
    assert row_count(file) == 3


def test_columns_of_csv_can_be_given_types(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("id,price,day,at,x,s\n1,1.10,2024-01-31,2024-01-01 00:00:00Z,NaN,a\n,,,,,\n")
    types = {
        "id": "int64",
        "price": "decimal(10,2)",
        "day": "date",
        "at": "timestamp",
        "x": pa.float64(),
    }
    assert list(canonical_lines(file, types=types)) == [
        '{"at":"2024-01-01T00:00:00.000000Z","day":"2024-01-31","id":1,"price":1.10,"s":"a",'
        '"x":"NaN"}',
        '{"s":""}',
    ]


def test_a_folder_of_csv_hashes_like_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "d=x").mkdir()
    (tmp_path / "d=x" / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "d=x" / "2.csv.gz").write_bytes(gzip.compress(b"b,a\n4,3\n"))
    expected = pa.table({"a": ["1", "3"], "b": ["2", "4"], "d": ["x", "x"]})
    _same(fingerprint(tmp_path), fingerprint(expected))


def _write_mixed_schemas(folder: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), folder / "1.parquet")
    pq.write_table(pa.table({"a": [1], "more": [2]}), folder / "2.parquet")


def _write_other_types(folder: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), folder / "1.parquet")
    pq.write_table(pa.table({"a": ["secret"]}), folder / "2.parquet")


def _write_both_kinds(folder: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), folder / "1.parquet")
    (folder / "2.csv").write_text("a\n1\n")


def _write_delta(folder: Path) -> None:
    (folder / "_delta_log").mkdir()
    pq.write_table(pa.table({"a": [1]}), folder / "1.parquet")


def _write_delta_below(folder: Path) -> None:
    (folder / "table" / "_delta_log").mkdir(parents=True)


def _write_text(folder: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), folder / "1.parquet")
    (folder / "notes.txt").write_text("secret")


def _write_broken(folder: Path) -> None:
    (folder / "1.parquet").write_text("secret")


def _write_partition_twice(folder: Path) -> None:
    (folder / "a=1").mkdir()
    pq.write_table(pa.table({"a": pa.array([1], pa.int32())}), folder / "a=1" / "1.parquet")


def _write_link_upwards(folder: Path) -> None:
    (folder / "up").symlink_to(folder)


def _write_long_row(folder: Path) -> None:
    (folder / "1.csv").write_text("a,b\n1,2\nsecret,2,3\n")


def _write_bad_utf8(folder: Path) -> None:
    (folder / "1.csv").write_bytes(b"a,b\n1,2\nsecret\xff,2\n")


def _write_header_twice(folder: Path) -> None:
    (folder / "1.csv").write_text("a,a\n1,secret\n")


def _write_nothing(folder: Path) -> None:
    (folder / "_SUCCESS").touch()


def _write_empty_csv(folder: Path) -> None:
    (folder / "1.csv").touch()


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (_write_mixed_schemas, "other columns or types"),
        (_write_other_types, "other columns or types"),
        (_write_both_kinds, "CSV and Parquet"),
        (_write_delta, "could not be read as delta"),
        (_write_delta_below, "is a Delta table"),
        (_write_text, "neither Parquet, Arrow nor CSV"),
        (_write_broken, "could not be read as parquet"),
        (_write_partition_twice, "and in its path"),
        (_write_link_upwards, "links back"),
        (_write_long_row, "3 cells for 2 columns"),
        (_write_bad_utf8, "could not be read as csv"),
        (_write_header_twice, "could not be read as csv"),
        (_write_nothing, "holds no Parquet, Arrow or CSV file"),
        (_write_empty_csv, "could not be read as csv"),
    ],
)
def test_a_folder_that_is_not_one_table_is_refused(
    tmp_path: Path, write: Callable[[Path], None], reason: str
) -> None:
    write(tmp_path)
    got = fingerprint(tmp_path)
    assert got.data_hash is None
    assert got.error is not None
    assert reason in got.error
    assert "secret" not in got.error


def test_a_damaged_parquet_file_has_no_hash(tmp_path: Path) -> None:
    file = tmp_path / "f.parquet"
    pq.write_table(TABLE, file)
    raw = bytearray(file.read_bytes())
    raw[4:60] = b"\xff" * 56
    file.write_bytes(raw)
    got = fingerprint(file)
    assert got.data_hash is None
    assert got.error


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("nowhere/at/all.parquet", "There is no file or folder"),
        ("s3://bucket/key", "Only local paths and file:// URLs are read, not s3://."),
        ("file://server/share", "Only local paths"),
        ("", "The path is empty."),
        ("/dev/null", "is not a regular file"),
        ("nul\0byte", ""),
    ],
)
def test_a_place_that_cannot_be_read_is_refused(location: str, reason: str) -> None:
    got = fingerprint(location)
    assert got.data_hash is None
    assert got.error is not None
    assert reason in got.error


def test_a_cell_that_does_not_fit_its_type_is_told_by_its_column(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("id,pin\n1,secret\n")
    got = fingerprint(file, types={"pin": "int64"})
    assert got.data_hash is None
    assert got.error is not None
    assert "a cell of column 'pin' does not fit its type" in got.error
    assert "secret" not in got.error


@pytest.mark.parametrize("types", [{"no": "int64"}, {"id": "money"}, {"id": "decimal(99,2)"}])
def test_types_that_cannot_be_given_are_refused(tmp_path: Path, types: dict[str, str]) -> None:
    file = tmp_path / "f.csv"
    file.write_text("id\n1\n")
    got = fingerprint(file, types=types)
    assert got.data_hash is None
    assert got.error


def test_types_are_for_csv_only() -> None:
    assert fingerprint(TABLE, types={"id": "int64"}).error == "Types can be given for CSV only."
