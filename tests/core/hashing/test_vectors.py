"""The recorded vectors of rows-v1. A vector never changes: another number is another method."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ubunye_core.hashing import canonical_lines, fingerprint

VECTORS = json.loads(
    (Path(__file__).parents[2] / "data" / "vectors" / "rows-v1.json").read_text(encoding="utf-8")
)


def _table(vector: dict[str, Any]) -> pa.Table:
    data = base64.b64decode(vector["arrow_ipc_base64"])
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()


def _expecting(expectation: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in VECTORS if v["expect"] == expectation]


def test_every_vector_is_looked_at() -> None:
    assert len(VECTORS) == 107
    assert {vector["expect"] for vector in VECTORS} == {"hash", "error", "any"}


@pytest.mark.parametrize("vector", _expecting("hash"))
def test_a_table_has_the_recorded_hash(vector: dict[str, Any]) -> None:
    table = _table(vector)
    assert list(canonical_lines(table)) == vector["lines"]
    got = fingerprint(table)
    assert got.error is None
    assert got.data_hash == vector["data_hash"]
    assert got.schema_hash == vector["schema_hash"]
    assert got.row_count == vector["rows"]


@pytest.mark.parametrize("vector", _expecting("error"))
def test_a_table_that_cannot_be_hashed_says_why(vector: dict[str, Any]) -> None:
    got = fingerprint(_table(vector))
    assert got.data_hash is None
    assert got.error


@pytest.mark.parametrize("vector", _expecting("any"))
def test_a_table_the_format_leaves_open_is_refused(vector: dict[str, Any]) -> None:
    got = fingerprint(_table(vector))
    assert got.data_hash is None
    assert got.error
