"""Which column changed: on request each column has a hash of its own."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from ubunye_core.hashing import fast, fingerprint

ROWS = 3 * fast.LEAST_ROWS
TABLE = pa.table(
    {
        "id": range(ROWS),
        "name": [None if at % 3 else f"n{at}" for at in range(ROWS)],
        "nothing": pa.nulls(ROWS),
    }
)


@pytest.mark.parametrize("table", [TABLE, TABLE.slice(0, 2), TABLE.slice(0, 0)], ids=len)
def test_each_column_has_the_hash_of_the_table_that_has_it_alone(table: pa.Table) -> None:
    got = fingerprint(table, per_column=True)
    assert got.column_hashes == {
        name: fingerprint(table.select([name])).data_hash for name in table.column_names
    }
    assert got.data_hash == fingerprint(table).data_hash


def test_only_the_changed_column_has_another_hash() -> None:
    before = fingerprint(TABLE, per_column=True).column_hashes
    changed = TABLE.set_column(1, "name", pa.array(["x", *TABLE["name"].to_pylist()[1:]]))
    after = fingerprint(changed, per_column=True).column_hashes
    assert before
    assert after
    assert [name for name in before if before[name] != after[name]] == ["name"]


def test_a_stream_is_read_once_for_all_of_them() -> None:
    got = fingerprint(TABLE.to_reader(max_chunksize=100), per_column=True)
    assert got == fingerprint(TABLE, per_column=True)


def test_without_the_request_there_are_none() -> None:
    assert fingerprint(TABLE).column_hashes is None
    assert fingerprint(TABLE, hash=False, per_column=True).column_hashes is None


def test_a_fingerprint_with_them_can_be_kept_in_a_set_and_sent_elsewhere() -> None:
    got = fingerprint(TABLE, per_column=True)
    assert {got, pickle.loads(pickle.dumps(got))} == {got}
