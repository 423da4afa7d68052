"""The examples of the format, worked out by hand step by step."""

from __future__ import annotations

import datetime
import hashlib
from decimal import Decimal

import pyarrow as pa

from ubunye_core.hashing import canonical_lines, fingerprint, rows_v1

THREE_ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "name": ["ann", "bob", None],
        "amount": pa.array([1.5, None, -0.0], pa.float64()),
        "ts": pa.array([0, 1, None], pa.timestamp("us", "UTC")),
        "flag": [True, None, False],
        "d": pa.array([datetime.date(2024, 1, 1), None, datetime.date(1999, 12, 31)]),
    }
)


def test_a_line_gives_two_numbers_of_64_bits() -> None:
    sums = rows_v1.Sums()
    sums.add(['{"c":42}'])
    assert (sums.a, sums.b) == (17246936429365249290, 15413029094907649116)
    first = hashlib.sha256(b'{"c":42}').digest()[:16]
    assert first.hex() == "ef596d4de80f450ad5e6144cd2bb1c5c"


def test_one_row_of_one_integer() -> None:
    got = fingerprint(pa.table({"c": pa.array([42], pa.int64())}))
    assert got.data_hash == (
        "sha256:3e456024ce76f166475a648bbdc18354116629e8028c8b2061123852acef0e9f"
    )
    assert got.schema_hash == (
        "sha256:374b1c69d75b5bf1f72d05f92b46cc54d4c80797e6d56b8e35bd0876ea92d6f0"
    )


def test_three_rows_of_six_types() -> None:
    assert list(canonical_lines(THREE_ROWS)) == [
        '{"amount":1.5,"d":"2024-01-01","flag":true,"id":1,"name":"ann",'
        '"ts":"1970-01-01T00:00:00.000000Z"}',
        '{"id":2,"name":"bob","ts":"1970-01-01T00:00:00.000001Z"}',
        '{"amount":-0.0,"d":"1999-12-31","flag":false,"id":3}',
    ]
    got = fingerprint(THREE_ROWS)
    assert got.row_count == 3
    assert got.data_hash == (
        "sha256:4e9d1befc8133baa0427a64dc0f39630aec36f17609ac760eee6dde67fa62e95"
    )
    assert got.schema_hash == (
        "sha256:8db672311596fc5c43b86667fdb30e15cf08c0ed26b56616e11e6bf829bd0ebe"
    )


def test_no_rows() -> None:
    got = fingerprint(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}))
    assert got.data_hash == (
        "sha256:80f4a3e9ea73d8a1749f2d0e83330d4d5b11265357bfa31778a092dd90b43bf6"
    )
    assert got.row_count == 0


def test_two_rows_of_nulls() -> None:
    got = fingerprint(pa.table({"a": pa.nulls(2, pa.int32()), "b": pa.nulls(2, pa.string())}))
    assert got.data_hash == (
        "sha256:395160f86cbfa3c3258758dc66827c3155aaf1dbd6aa0953fb6e3784e2dc649e"
    )


def test_sums_that_pass_64_bits_wrap() -> None:
    sums = rows_v1.Sums()
    sums.add(['{"a":7}'] * 300)
    assert (sums.a, sums.b) == (3611812740623653796, 4244010939058192640)
    got = fingerprint(pa.table({"a": pa.array([7] * 300, pa.int32())}))
    assert got.data_hash == (
        "sha256:2c5c3fad724d164c6967b5f31372adbd7f2ff63f19001c01d437b942455356d0"
    )


def test_rows_without_columns_are_counted() -> None:
    got = fingerprint(pa.table({"a": [1, 2, 3]}).select([]))
    assert got.row_count == 3
    assert got.data_hash == (
        "sha256:d612cac6473ab5967dea0ba23bdafa5d0aeebb866569ee3323b81bfb9ce96842"
    )


def test_two_rows_of_the_hard_types() -> None:
    table = pa.table(
        {
            "b": pa.array([b"\x00\xff", None], pa.binary()),
            "dec": pa.array([Decimal("1E-18"), Decimal(-5)], pa.decimal128(38, 18)),
            "f": pa.array([0.1, 1e10], pa.float32()),
            "l": pa.array([[0.1, None], []], pa.list_(pa.float32())),
            "m": pa.array([[("b", 0.1), ("a", None)], None], pa.map_(pa.string(), pa.float32())),
            "n": pa.array([datetime.datetime(1582, 10, 10), -1], pa.timestamp("us")),  # noqa: DTZ001
            "s": pa.array(
                [{"x": "\x01", "y": float("nan")}, {"x": None, "y": 5e-324}],
                pa.struct([("x", pa.string()), ("y", pa.float64())]),
            ),
            "z": ['\x1f"\\\u2028\U0001f600', ""],
        }
    )
    got = fingerprint(table)
    assert got.data_hash == (
        "sha256:d391aeed93f7662c3d23c9c3ab880b14b2498a3e4d0ff19337d9d840a242a984"
    )


def test_the_schema_is_written_in_ascii_only() -> None:
    names = ["日本", "é", "\x7f", "a\tb", "\U0001f600", "\uffff"]
    assert rows_v1.schema_json([(name, "int64") for name in names]) == (
        '[["a\\tb","int64"],["\\u007f","int64"],["\\u00e9","int64"],["\\u65e5\\u672c","int64"],'
        '["\\uffff","int64"],["\\ud83d\\ude00","int64"]]'
    )
