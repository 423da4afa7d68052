"""pandas frames follow rules of their own, for their types say less than Arrow's."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ubunye_core.hashing import canonical_lines, fingerprint


def _lines(frame: pd.DataFrame) -> list[str]:
    return list(canonical_lines(frame))


def test_a_frame_hashes_like_the_arrow_table_of_its_values() -> None:
    frame = pd.DataFrame(
        {
            "id": [1, 2, 3],
            "name": ["ann", None, "zoë"],
            "paid": pd.array([True, None, False], dtype="boolean"),
            "n": pd.array([1, None, 3], dtype="Int64"),
            "price": [Decimal("1.10"), None, Decimal("22.00")],
            "at": pd.to_datetime(["2024-01-01", None, "2024-01-03"]).tz_localize("Asia/Jakarta"),
        }
    )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    got = fingerprint(frame)
    assert got.route == "pandas"
    assert (got.data_hash, got.schema_hash) == (
        fingerprint(table).data_hash,
        fingerprint(table).schema_hash,
    )


def test_a_float_nan_is_a_null() -> None:
    assert _lines(pd.DataFrame({"a": [1.0, np.nan]})) == ['{"a":1.0}', "{}"]
    assert _lines(pd.DataFrame({"a": np.array([0.1, np.nan], np.float32)})) == ['{"a":0.1}', "{}"]
    assert _lines(pd.DataFrame({"a": pd.Series([1.5, np.nan, None], dtype=object)})) == [
        '{"a":1.5}',
        "{}",
        "{}",
    ]


def test_an_extension_column_keeps_its_nan_apart_from_its_null() -> None:
    array = pd.arrays.FloatingArray(np.array([np.nan, 1.0]), np.array([False, True]))
    assert _lines(pd.DataFrame({"a": array})) == ['{"a":"NaN"}', "{}"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_naive_datetime_is_an_instant_in_utc(unit: str) -> None:
    series = pd.Series(["2024-02-29 12:34:56", None], dtype=f"datetime64[{unit}]")
    assert _lines(pd.DataFrame({"a": series})) == ['{"a":"2024-02-29T12:34:56.000000Z"}', "{}"]


def test_a_naive_datetime_object_is_an_instant_in_utc() -> None:
    cells = [datetime.datetime(2024, 1, 1), None]  # noqa: DTZ001
    assert _lines(pd.DataFrame({"a": pd.Series(cells, dtype=object)})) == [
        '{"a":"2024-01-01T00:00:00.000000Z"}',
        "{}",
    ]


def test_nanoseconds_are_cut_toward_zero() -> None:
    frame = pd.DataFrame({"a": pd.to_datetime([-1, -1001, 1999], unit="ns")})
    assert _lines(frame) == [
        '{"a":"1970-01-01T00:00:00.000000Z"}',
        '{"a":"1969-12-31T23:59:59.999999Z"}',
        '{"a":"1970-01-01T00:00:00.000001Z"}',
    ]


def test_a_category_is_its_values() -> None:
    words = pd.DataFrame({"a": ["x", None, "y"]})
    assert fingerprint(words.astype("category")) == fingerprint(words)
    days = pd.DataFrame({"a": pd.to_datetime(["2024-01-01", None])})
    assert fingerprint(days.astype("category")) == fingerprint(days)


def test_a_named_index_becomes_columns() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="k"))
    assert fingerprint(frame) == fingerprint(frame.reset_index())
    levels = pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["k", None])
    assert _lines(pd.DataFrame({"a": [1, 2]}, index=levels)) == [
        '{"a":1,"k":"x","level_1":1}',
        '{"a":2,"k":"y","level_1":2}',
    ]


def test_an_index_without_a_name_is_left_out() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    assert fingerprint(frame) == fingerprint(frame.reset_index(drop=True))


def test_a_column_that_holds_no_value_has_the_type_of_text() -> None:
    nothing = pd.DataFrame({"a": pd.Series([None, None], dtype=object)})
    words = pd.DataFrame({"a": ["x", "y"]})
    assert fingerprint(nothing).schema_hash == fingerprint(words).schema_hash


def test_column_names_are_their_text() -> None:
    assert _lines(pd.DataFrame({0: [1], "a": [2]})) == ['{"0":1,"a":2}']


def test_a_frame_without_columns_has_rows() -> None:
    assert _lines(pd.DataFrame(index=range(3))) == ["{}"] * 3


def test_only_the_chosen_columns_are_converted() -> None:
    frame = pd.DataFrame({"a": [1, 2], "bad": pd.Series([1, "x"], dtype=object)})
    assert fingerprint(frame, columns=["a"]) == fingerprint(frame[["a"]])
    assert fingerprint(frame, hash=False, columns=["a"]).row_count == 2


def test_rows_are_counted_without_converting_them() -> None:
    frame = pd.DataFrame({"bad": pd.Series([1, "x"], dtype=object)})
    got = fingerprint(frame, hash=False)
    assert (got.row_count, got.error) == (2, None)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, "secret"], dtype=object),
        pd.Series([1j]),
        pd.arrays.SparseArray([0, 0, 1]),
        pd.period_range("2024-01", periods=2, freq="M"),
        pd.interval_range(0, 2),
        pd.Series([{"a", "secret"}], dtype=object),
        pd.Series([object()], dtype=object),
        pd.Series([2**64], dtype=object),
        pd.Series(["\ud800"], dtype=object),
        pd.to_timedelta([1], unit="ns"),
    ],
    ids=["mixed", "complex", "sparse", "period", "interval", "set", "object", "big", "lone", "ns"],
)
def test_a_column_that_has_no_text_is_refused_by_name(column: object) -> None:
    got = fingerprint(pd.DataFrame({"odd": column}))
    assert got.data_hash is None
    assert got.error is not None
    assert "'odd'" in got.error
    assert "secret" not in got.error


def test_a_column_name_used_twice_is_refused() -> None:
    got = fingerprint(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert got.data_hash is None
    assert got.error == "The table has the column name 'a' more than once."


def test_a_series_is_no_table() -> None:
    assert fingerprint(pd.Series([1])).data_hash is None
