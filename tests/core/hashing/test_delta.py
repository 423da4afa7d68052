"""Delta tables hash like the rows of their newest version; what cannot be read so is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from ubunye_core.hashing import Fingerprint, fingerprint, row_count

TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int32()),
        "small": pa.array([1, None, -3, 4], pa.int16()),
        "tiny": pa.array([1, None, -3, 4], pa.int8()),
        "a.b": ["x", None, "", "y"],
        "at": pa.array([0, 1, None, -1], pa.timestamp("us", "UTC")),
        "tags": pa.array([["p"], [], None, [None]], pa.list_(pa.string())),
        "s": pa.array([{"x": 1.5, "y": None}, None, {"x": None, "y": b"\xff"}, {}],
                      pa.struct([("x", pa.float64()), ("y", pa.binary())])),
        "m": pa.array([[("k", 1)], [], None, [("a", None)]], pa.map_(pa.string(), pa.int64())),
    }
)  # fmt: skip

PRICE = pa.decimal128(10, 2)


def _same(got: Fingerprint, expected: Fingerprint) -> None:
    assert got.error is None
    assert (got.data_hash, got.schema_hash, got.row_count) == (
        expected.data_hash,
        expected.schema_hash,
        expected.row_count,
    )


def _add_to_log(table: Path, *actions: dict[str, Any]) -> None:
    """Commit actions as another writer would."""
    version = len(list((table / "_delta_log").glob("*.json")))
    lines = "\n".join(map(json.dumps, actions))
    (table / "_delta_log" / f"{version:020}.json").write_text(lines)


def _added(path: str, file: Path, values: dict[str, str | None] | None = None) -> dict[str, Any]:
    return {
        "add": {
            "path": path,
            "partitionValues": values or {},
            "size": file.stat().st_size,
            "modificationTime": 0,
            "dataChange": True,
        }
    }


def test_a_delta_table_hashes_like_the_rows_of_its_newest_version(tmp_path: Path) -> None:
    place = tmp_path / "t"
    write_deltalake(place, TABLE.slice(0, 2))
    write_deltalake(place, TABLE.slice(2), mode="append")
    for location in (place, str(place), place.as_uri()):
        _same(fingerprint(location), fingerprint(TABLE))
        assert fingerprint(location).route == "delta"
    _same(fingerprint(place, columns=["a.b", "id"]), fingerprint(TABLE.select(["id", "a.b"])))
    _same(fingerprint(place, columns=[]), fingerprint(TABLE.select([])))
    each = fingerprint(place, per_column=True).column_hashes
    assert each == fingerprint(TABLE, per_column=True).column_hashes
    DeltaTable(place).delete("id = 2")
    left = TABLE.filter(pa.array([True, False, True, True]))
    _same(fingerprint(place), fingerprint(left))
    assert row_count(place) == 3
    write_deltalake(place, TABLE.select(["id"]), mode="overwrite", schema_mode="overwrite")
    _same(fingerprint(place), fingerprint(TABLE.select(["id"])))


def test_the_folder_of_a_delta_table_may_have_an_odd_name_or_is_refused(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", TABLE)
    odd = (tmp_path / "t").rename(tmp_path / "odd name=1 #é [x]")
    _same(fingerprint(odd), fingerprint(TABLE))
    escaped = odd.rename(tmp_path / "a%20b")
    write_deltalake(tmp_path / "a b", TABLE.slice(1))
    got = fingerprint(escaped)
    assert got.data_hash is None
    assert "has a '%'" in str(got.error)


def test_a_relative_path_of_a_delta_table_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_deltalake(tmp_path / "t", TABLE)
    monkeypatch.chdir(tmp_path)
    _same(fingerprint("t"), fingerprint(TABLE))
    monkeypatch.chdir(tmp_path / "t")
    _same(fingerprint("."), fingerprint(TABLE))


def test_a_delta_table_without_rows_hashes_like_its_schema(tmp_path: Path) -> None:
    DeltaTable.create(tmp_path / "t", TABLE.schema)
    _same(fingerprint(tmp_path / "t"), fingerprint(TABLE.slice(0, 0)))
    assert row_count(tmp_path / "t") == 0


def test_partition_columns_have_the_types_and_values_of_the_delta_table(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([1, 2, 3, 4], pa.int64()),
            "text": ["a b", "x%20y", None, "é/="],
            "day": [date(2020, 1, 1), None, date(1, 1, 1), date(9999, 1, 1)],
            "at": pa.array([0, 1, None, -1], pa.timestamp("us", "UTC")),
            "naive": pa.array([0, 1, None, -1], pa.timestamp("us")),
            "price": pa.array([Decimal("1.10"), None, Decimal(2), Decimal(0)], PRICE),
            "yes": [True, False, None, True],
            "tiny": pa.array([1, None, -3, 4], pa.int8()),
            "f": pa.array([0.1, None, 100.25, -0.5]),
            "f4": pa.array([0.1, None, 100.25, -0.5], pa.float32()),
        }
    )  # fmt: skip
    keys = [name for name in table.column_names if name != "id"]
    write_deltalake(tmp_path / "t", table, partition_by=keys)
    _same(fingerprint(tmp_path / "t"), fingerprint(table))
    for some in (["day"], ["price", "text"], ["at", "id"]):
        _same(fingerprint(tmp_path / "t", columns=some), fingerprint(table.select(some)))
    assert row_count(tmp_path / "t") == 4


def test_a_binary_partition_column_is_refused(tmp_path: Path) -> None:
    table = pa.table({"id": [1], "key": [b"a\xff"]})
    write_deltalake(tmp_path / "t", table, partition_by=["key"])
    got = fingerprint(tmp_path / "t")
    assert got.data_hash is None
    assert "'key' is binary" in str(got.error)


def test_a_column_added_later_is_null_in_older_files(tmp_path: Path) -> None:
    inner = pa.struct([("x", pa.int64())])
    old = pa.table({"id": [1], "s": pa.array([{"x": 1}], inner)})
    wider = pa.struct([("x", pa.int64()), ("y", pa.string())])
    new = pa.table({"id": [2], "s": pa.array([{"x": 2, "y": "b"}], wider), "more": ["c"]})
    write_deltalake(tmp_path / "t", old)
    write_deltalake(tmp_path / "t", new, mode="append", schema_mode="merge")
    expected = pa.table(
        {
            "id": [1, 2],
            "s": pa.array([{"x": 1, "y": None}, {"x": 2, "y": "b"}], wider),
            "more": [None, "c"],
        }
    )
    _same(fingerprint(tmp_path / "t"), fingerprint(expected))
    _same(fingerprint(tmp_path / "t", columns=["more"]), fingerprint(expected.select(["more"])))


def test_files_may_store_timestamps_in_96_bits_and_numbers_in_wider_ones(tmp_path: Path) -> None:
    place = tmp_path / "t"
    table = TABLE.select(["id", "tiny", "at"])
    DeltaTable.create(place, table.schema)
    stored = table.cast(
        pa.schema([("id", pa.int64()), ("tiny", pa.int32()), ("at", pa.timestamp("ns"))])
    )
    file = place / "part 0.parquet"
    pq.write_table(stored, file, use_deprecated_int96_timestamps=True, store_schema=False)
    _add_to_log(place, _added("part%200.parquet", file))
    _same(fingerprint(place), fingerprint(table))


def _other_type(place: Path) -> None:
    pq.write_table(pa.table({"id": ["1"]}), place / "x.parquet")
    _add_to_log(place, _added("x.parquet", place / "x.parquet"))


def _number_too_large(place: Path) -> None:
    pq.write_table(pa.table({"id": pa.array([2**40])}), place / "x.parquet")
    _add_to_log(place, _added("x.parquet", place / "x.parquet"))


def _unknown_column(place: Path) -> None:
    pq.write_table(pa.table({"ID": pa.array([1], pa.int32())}), place / "x.parquet")
    _add_to_log(place, _added("x.parquet", place / "x.parquet"))


def _outside(place: Path) -> None:
    pq.write_table(pa.table({"id": pa.array([1], pa.int32())}), place.parent / "x.parquet")
    uri = (place.parent / "x.parquet").as_uri()
    _add_to_log(place, _added(uri, place.parent / "x.parquet"))


def _upwards(place: Path) -> None:
    pq.write_table(pa.table({"id": pa.array([1], pa.int32())}), place.parent / "x.parquet")
    _add_to_log(place, _added("../x.parquet", place.parent / "x.parquet"))


def _lost_file(place: Path) -> None:
    next(place.glob("*.parquet")).unlink()


def _damaged_file(place: Path) -> None:
    next(place.glob("*.parquet")).write_bytes(b"secret")


def _damaged_log(place: Path) -> None:
    _add_to_log(place, {"add": {"path": "secret"}})


def _protocol(place: Path, *features: str, configuration: dict[str, str] | None = None) -> None:
    log = place / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "protocol" in action:
            action["protocol"] = {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": list(features),
                "writerFeatures": list(features),
            }
        if "metaData" in action:
            action["metaData"]["configuration"] = configuration or {}
            schema = json.loads(action["metaData"]["schemaString"])
            for number, field in enumerate(schema["fields"], 1):
                physical = f"col-{number}" if configuration else field["name"]
                field["metadata"] = {
                    "delta.columnMapping.id": number,
                    "delta.columnMapping.physicalName": physical,
                }
            action["metaData"]["schemaString"] = json.dumps(schema)
    log.write_text("\n".join(map(json.dumps, actions)))


def _mapped(place: Path) -> None:
    _protocol(place, "columnMapping", configuration={"delta.columnMapping.mode": "name"})


def _unknown_feature(place: Path) -> None:
    _protocol(place, "tomorrow")


def _widened(place: Path) -> None:
    _protocol(place, "typeWidening")


def _deleted_rows(place: Path) -> None:
    """Six rows of the only file are deleted, by a vector in the log."""
    _protocol(place, "deletionVectors")
    file = next(place.glob("*.parquet"))
    vector = {
        "storageType": "i",
        "pathOrInlineDv": "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
        "sizeInBytes": 44,
        "cardinality": 6,
    }
    add = _added(file.name, file)
    add["add"] |= {"deletionVector": vector, "stats": json.dumps({"numRecords": 40})}
    removed = {"remove": {"path": file.name, "dataChange": True, "deletionTimestamp": 0}}
    _add_to_log(place, removed, add)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_other_type, "is int32, and string in one of its files"),
        (_number_too_large, "could not be read as delta"),
        (_unknown_column, "a column 'ID' that its Delta table does not have"),
        (_outside, "files outside of its folder"),
        (_upwards, "files outside of its folder"),
        (_lost_file, "could not be read as delta: FileNotFoundError"),
        (_damaged_file, "could not be read as delta"),
        (_damaged_log, "could not be read as delta"),
        (_mapped, "column mapping"),
        (_unknown_feature, ""),
        (_widened, ""),
        (_deleted_rows, "deletion vectors"),
    ],
)
def test_a_delta_table_that_cannot_be_read_exactly_has_no_hash(
    tmp_path: Path, change: Callable[[Path], None], reason: str
) -> None:
    place = tmp_path / "t"
    write_deltalake(place, pa.table({"id": pa.array(range(40), pa.int32())}))
    change(place)
    got = fingerprint(place)
    assert got.data_hash is None
    assert got.error
    assert reason in got.error
    assert "secret" not in got.error


def test_deletion_vectors_that_are_allowed_and_not_used_do_not_matter(tmp_path: Path) -> None:
    table = pa.table({"id": pa.array(range(40), pa.int32())})
    write_deltalake(tmp_path / "t", table)
    _protocol(tmp_path / "t", "deletionVectors")
    _same(fingerprint(tmp_path / "t"), fingerprint(table))


def test_types_cannot_be_given_for_a_delta_table(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", TABLE)
    got = fingerprint(tmp_path / "t", types={"id": "int64"})
    assert got.error == "Types can be given for CSV only."


def test_a_delta_table_without_delta_rs_is_told_with_the_extra_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_deltalake(tmp_path / "t", TABLE)
    monkeypatch.setitem(sys.modules, "deltalake", None)
    got = fingerprint(tmp_path / "t")
    assert got.error == (
        "Reading a Delta table needs 'deltalake'. pip install 'ubunye-receipts[delta]'"
    )
