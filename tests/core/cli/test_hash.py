"""``hash``: the same number for the same rows, and an honest failure."""

from __future__ import annotations

import io
import sys
import time

import pytest

from ubunye_core import fingerprint
from ubunye_core.cli import fingerprints, hashprogress, progress


@pytest.fixture
def tables(folder):
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({"id": [1, 2, 3], "name": ["ann", "bob", "cy"]})
    pyarrow.parquet.write_table(table, folder / "a.parquet")
    pyarrow.parquet.write_table(table.take([2, 0, 1]), folder / "b.parquet")
    (folder / "c.csv").write_text("id,name\n1,ann\n")
    return folder


def test_a_table_s_hash_is_that_of_the_library(ask, tables):
    answer = ask("hash", "a.parquet")
    assert answer.code == 0
    assert fingerprint(tables / "a.parquet").data_hash in answer.out
    assert "3" in answer.out.splitlines()[1].split()


def test_the_order_of_rows_does_not_matter(ask, tables):
    first, second = ask("hash", "a.parquet", "b.parquet", "--json").document["hashes"]
    assert first["data_hash"] == second["data_hash"]
    assert set(first) == {
        "path",
        "data_hash",
        "schema_hash",
        "row_count",
        "hash_method",
        "hash_error",
        "route",
        "column_hashes",
    }
    assert (first["route"], first["column_hashes"]) == ("parquet", None)
    assert (first["row_count"], first["hash_method"]) == (3, "rows-v1")


def test_columns_can_be_chosen(ask, tables):
    (found,) = ask("hash", "a.parquet", "--columns", "name, id", "--json").document["hashes"]
    assert found["data_hash"] == fingerprint(tables / "a.parquet").data_hash
    (found,) = ask("hash", "a.parquet", "--columns", "id", "--json").document["hashes"]
    assert found["data_hash"] == fingerprint(tables / "a.parquet", columns=["id"]).data_hash


def test_what_cannot_be_hashed_is_exit_3_with_the_reason(ask, tables):
    answer = ask("hash", "a.parquet", "nowhere.parquet")
    assert answer.code == 3
    assert "a.parquet" in answer.out
    assert "nowhere.parquet" in answer.err
    found = ask("hash", "a.parquet", "nowhere.parquet", "--json").document
    assert (found["verdict"], found["exit_code"]) == ("UNKNOWN", 3)
    assert found["hashes"][1]["data_hash"] is None
    assert found["hashes"][1]["hash_error"]


def test_a_column_that_is_not_there_is_exit_3(ask, tables):
    assert ask("hash", "a.parquet", "--columns", "nope").code == 3


def test_a_csv_file_is_hashed_as_text(ask, tables):
    assert ask("hash", "c.csv").code == 0


def test_no_store_is_needed_and_nothing_is_written(shell, tables):
    before = sorted(tables.iterdir())
    answer = shell("hash", "a.parquet", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert sorted(tables.iterdir()) == before


def test_nothing_to_hash_is_wrong_usage(ask, folder):
    assert ask("hash").code == 2


def test_each_column_is_hashed_on_request(ask, tables):
    expected = fingerprint(tables / "a.parquet", per_column=True).column_hashes
    (found,) = ask("hash", "a.parquet", "--per-column", "--json").document["hashes"]
    assert found["column_hashes"] == expected
    answer = ask("hash", "a.parquet", "--per-column")
    for name, data_hash in expected.items():
        assert f"{name.ljust(6)}  {data_hash}" in answer.out


def test_arrow_files_and_delta_tables_are_hashed(ask, tables):
    import pyarrow as pa
    import pyarrow.parquet
    from deltalake import write_deltalake

    table = pyarrow.parquet.read_table(tables / "a.parquet")
    write_deltalake(tables / "delta", table)
    with pa.ipc.new_stream(tables / "d.arrows", table.schema) as writer:
        writer.write_table(table)
    answer = ask("hash", "a.parquet", "delta", "d.arrows", "--json")
    assert answer.code == 0
    assert len({each["data_hash"] for each in answer.document["hashes"]}) == 1
    assert [each["route"] for each in answer.document["hashes"]] == [
        "parquet",
        "delta",
        "arrow-file",
    ]


def test_a_long_hash_says_so_and_how_far_it_has_come_on_standard_error(
    ask, tables, monkeypatch, until_said
):
    def slow(*words, **more):
        until_said("this takes a while")
        got = fingerprint(*words, **more)
        until_said("3 rows")
        return got

    monkeypatch.setattr(fingerprints, "fingerprint", slow)
    answer = ask("hash", "a.parquet", "--json")
    assert answer.code == 0
    assert "Hashing a.parquet: this takes a while." in answer.err
    assert "Hashing a.parquet: 3 rows so far." in answer.err
    assert answer.document["hashes"]


def test_on_a_terminal_a_hash_shows_the_rows_read_so_far(ask, tables, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_REDRAWN_SECONDS", 0)
    with hashprogress.at_work("a.parquet"):
        fingerprint("a.parquet")
        time.sleep(0.3)
    assert "3 rows so far" in seen.getvalue()
