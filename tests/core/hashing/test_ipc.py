"""Arrow files and streams hash like the table they hold, and damaged ones do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from ubunye_core.hashing import Fingerprint, canonical_lines, fingerprint, row_count

TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int32()),
        "a.b": ["x", None, "", "y"],
        "at": pa.array([0, 1, None, -1], pa.timestamp("us", "UTC")),
        "tags": pa.array([["p"], [], None, [None]], pa.list_(pa.string())),
        "kind": pa.array(["u", "v", "u", None]).dictionary_encode(),
    }
)
Write = Callable[[Path, pa.Table], None]


def _file(path: Path, table: pa.Table) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def _stream(path: Path, table: pa.Table) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def _feather(path: Path, table: pa.Table) -> None:
    pa.feather.write_feather(table, path, compression="zstd", chunksize=2)


def _same(got: Fingerprint, expected: Fingerprint) -> None:
    assert got.error is None
    assert (got.data_hash, got.schema_hash, got.row_count) == (
        expected.data_hash,
        expected.schema_hash,
        expected.row_count,
    )


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.arrow", _file),
        ("t.ipc", _file),
        ("no ending", _file),
        ("t.feather", _feather),
        ("t.arrows", _stream),
        ("t.arrow", _stream),
    ],
)
def test_an_arrow_file_or_stream_hashes_like_its_table(
    tmp_path: Path, name: str, write: Write
) -> None:
    write(tmp_path / name, TABLE)
    got = fingerprint(tmp_path / name, per_column=True)
    _same(got, fingerprint(TABLE))
    assert got.column_hashes == fingerprint(TABLE, per_column=True).column_hashes
    assert got.route == "arrow-file"
    some = fingerprint(tmp_path / name, columns=["a.b", "kind"])
    _same(some, fingerprint(TABLE.select(["kind", "a.b"])))
    _same(fingerprint(tmp_path / name, columns=[]), fingerprint(TABLE.select([])))
    assert row_count(tmp_path / name) == 4
    assert sorted(canonical_lines(tmp_path / name)) == sorted(canonical_lines(TABLE))


def test_a_folder_of_arrow_hashes_like_all_its_files(tmp_path: Path) -> None:
    for folder, ids, write in (
        ("day=3/zone=a%20b", [1, 2, 3], _file),
        ("day=4/zone=__HIVE_DEFAULT_PARTITION__", [4], _stream),
    ):
        (tmp_path / folder).mkdir(parents=True)
        write(tmp_path / folder / "f.arrow", pa.table({"id": ids}))
    (tmp_path / "_SUCCESS").touch()
    expected = pa.table(
        {
            "id": [1, 2, 3, 4],
            "day": pa.array([3, 3, 3, 4], pa.int32()),
            "zone": ["a b", "a b", "a b", None],
        }
    )
    _same(fingerprint(tmp_path), fingerprint(expected))
    _same(fingerprint(tmp_path, columns=["zone"]), fingerprint(expected.select(["zone"])))
    assert row_count(tmp_path) == 4


@pytest.mark.parametrize(
    "values",
    [
        ["1", "-3"],
        ["007", "2147483647"],
        ["1", "2147483648"],
        ["1", "x"],
        ["1", "__HIVE_DEFAULT_PARTITION__"],
        ["a%3Db", "+1"],
        ["1.0", "99999999999999999999999"],
    ],
)
def test_folders_of_arrow_files_add_the_columns_that_those_of_parquet_do(
    tmp_path: Path, values: list[str]
) -> None:
    for number, value in enumerate(values):
        table = pa.table({"id": [number]})
        for kind in ("arrow", "parquet"):
            (tmp_path / kind / f"k={value}" / "plain").mkdir(parents=True)
        _file(tmp_path / "arrow" / f"k={value}" / "plain" / "f.arrow", table)
        pq.write_table(table, tmp_path / "parquet" / f"k={value}" / "plain" / "f.parquet")
    _same(fingerprint(tmp_path / "arrow"), fingerprint(tmp_path / "parquet"))


@pytest.mark.parametrize("write", [_file, _stream])
def test_a_table_without_rows_or_columns_hashes_like_itself(tmp_path: Path, write: Write) -> None:
    for table in (TABLE.slice(0, 0), pa.table({})):
        write(tmp_path / "f.arrow", table)
        _same(fingerprint(tmp_path / "f.arrow"), fingerprint(table))
        assert row_count(tmp_path / "f.arrow") == 0


@pytest.mark.parametrize("write", [_file, _stream])
def test_an_arrow_file_that_is_cut_off_anywhere_has_no_hash(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "f.arrow", TABLE)
    whole = (tmp_path / "f.arrow").read_bytes()
    for length in range(0, len(whole), 8):
        (tmp_path / "f.arrow").write_bytes(whole[:length])
        got = fingerprint(tmp_path / "f.arrow")
        assert got.data_hash is None, length
        assert got.error


def test_two_streams_in_one_file_have_no_hash(tmp_path: Path) -> None:
    _stream(tmp_path / "f.arrows", TABLE)
    (tmp_path / "f.arrows").write_bytes((tmp_path / "f.arrows").read_bytes() * 2)
    got = fingerprint(tmp_path / "f.arrows")
    assert got.data_hash is None
    assert "several streams" in str(got.error)


def test_an_arrow_file_whose_offsets_lead_out_of_it_has_no_hash(tmp_path: Path) -> None:
    _file(tmp_path / "f.arrow", pa.table({"a": ["secret"]}))
    raw = (tmp_path / "f.arrow").read_bytes()
    good = b"\0\0\0\0\x06\0\0\0"
    assert raw.count(good) >= 1
    at = raw.rindex(good, 0, raw.index(b"secret"))
    (tmp_path / "f.arrow").write_bytes(raw[:at] + b"\0\0\0\0\xff\xff\xff\x7f" + raw[at + 8 :])
    got = fingerprint(tmp_path / "f.arrow")
    assert got.data_hash is None
    assert "Column 'a' (string) holds what its type cannot hold" in str(got.error)
    assert "secret" not in str(got.error)


def test_text_that_is_not_utf8_is_told_by_its_column(tmp_path: Path) -> None:
    offsets = pa.py_buffer(b"\0\0\0\0\2\0\0\0")
    column = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xff\xfe")])
    _file(tmp_path / "f.arrow", pa.table({"a": column}))
    got = fingerprint(tmp_path / "f.arrow")
    assert got.data_hash is None
    assert "Column 'a' (string) holds text that is not valid UTF-8." in str(got.error)


def test_arrow_files_with_other_columns_are_no_table(tmp_path: Path) -> None:
    _file(tmp_path / "1.arrow", pa.table({"a": [1]}))
    _file(tmp_path / "2.arrow", pa.table({"a": ["x"]}))
    assert "other columns or types" in str(fingerprint(tmp_path).error)


def test_an_arrow_file_of_the_first_feather_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.feather").write_bytes(b"FEA1" + b"\0" * 60)
    got = fingerprint(tmp_path / "f.feather")
    assert got.data_hash is None
    assert "could not be read as arrow-file" in str(got.error)
