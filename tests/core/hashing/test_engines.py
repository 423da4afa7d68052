"""Frames of every engine hash like the Arrow table of the same rows."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.hashing.tables import TEXTS
from ubunye_core.hashing import fast, fingerprint

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12, 0, 0, 123_456)  # noqa: DTZ001


def _table(rows: int) -> pa.Table:
    cells: dict[str, list[Any]] = {
        "id": [*range(rows)],
        "name": [None if at % 7 == 0 else f'n"{at}é' for at in range(rows)],
        "amount": [None if at % 5 == 0 else at / 8 for at in range(rows)],
        "large": [at * 1e20 for at in range(rows)],
        "flag": [at % 3 == 0 for at in range(rows)],
        "day": [DAY + datetime.timedelta(at) for at in range(rows)],
        "at": [NOON + datetime.timedelta(seconds=at) for at in range(rows)],
        "price": [decimal.Decimal(at).scaleb(-2) for at in range(rows)],
        "tags": [None if at % 4 == 0 else [f"t{at}", None] for at in range(rows)],
        "point": [{"x": at, "y": None if at % 2 else "y"} for at in range(rows)],
        "raw": [bytes([at % 256, 255]) for at in range(rows)],
    }
    table = pa.table(cells)
    zoned = table["at"].cast(pa.timestamp("us", "UTC"))
    return table.set_column(
        table.schema.get_field_index("price"), "price", table["price"].cast(pa.decimal128(12, 2))
    ).append_column("instant", zoned)


SIZES = (3, 2 * fast.LEAST_ROWS, 40_000)


@pytest.mark.parametrize("rows", SIZES)
def test_a_polars_frame_hashes_like_its_rows(rows: int) -> None:
    table = _table(rows)
    frame = pl.from_arrow(table)
    assert fingerprint(frame) == fingerprint(table)
    assert fingerprint(frame[1:]) == fingerprint(table.slice(1))


def test_categories_and_enums_of_polars_are_text() -> None:
    words = ["b", "a", None, "b"] * 200
    expected = fingerprint(pa.table({"a": words}))
    for type_ in (pl.Categorical(), pl.Enum(["a", "b", "unused"])):
        assert fingerprint(pl.DataFrame({"a": pl.Series(words, dtype=type_)})) == expected


@pytest.mark.parametrize("rows", SIZES)
def test_a_duckdb_relation_hashes_like_its_rows(rows: int) -> None:
    table = _table(rows)
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'Asia/Kolkata'")
        relation = connection.from_arrow(table)
        assert fingerprint(relation) == fingerprint(table)
        assert fingerprint(relation.filter("id > 1")) == fingerprint(table.slice(2))


@pytest.mark.parametrize("rows", SIZES)
def test_readers_datasets_and_streams_hash_like_their_rows(rows: int, tmp_path: Any) -> None:
    table = _table(rows)
    expected = fingerprint(table)
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=10_000)
    dataset = ds.dataset(tmp_path / "a.parquet")
    frames = [table.to_reader(), table.to_reader(max_chunksize=7), dataset, dataset.scanner()]
    for frame in frames[:3]:
        assert fingerprint(frame) == expected
    assert fingerprint(frames[3].to_reader()) == expected
    assert fingerprint(tmp_path / "a.parquet").data_hash == expected.data_hash


@given(st.lists(st.tuples(st.none() | st.integers(-9, 9), st.none() | TEXTS), max_size=9))
def test_engines_agree_on_any_rows(rows: list[tuple[int | None, str | None]]) -> None:
    numbers, texts = [row[0] for row in rows], [row[1] for row in rows]
    table = pa.table({"n": pa.array(numbers, pa.int64()), "t": pa.array(texts, pa.string())})
    frame = pl.DataFrame({"n": numbers, "t": texts}, schema={"n": pl.Int64, "t": pl.String})
    assert fingerprint(frame) == fingerprint(table)
