"""Kinds of types are told by their numbers, as Arrow itself tells them."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from ubunye_core.hashing import types

SAMPLES = [
    *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.null()),
    *(pa.string(), pa.large_string(), pa.string_view()),
    *(pa.binary(), pa.large_binary(), pa.binary(3), pa.binary_view()),
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time64("us")),
    *(pa.timestamp("us"), pa.timestamp("s", "UTC"), pa.duration("ns")),
    *(pa.decimal32(3, 1), pa.decimal64(3, 1), pa.decimal128(3, 1), pa.decimal256(3, 1)),
    *(pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.list_(pa.int8(), 2)),
    *(pa.list_view(pa.int8()), pa.large_list_view(pa.int8())),
    *(pa.map_(pa.int8(), pa.int8()), pa.struct([])),
    *(pa.dictionary(pa.int8(), pa.string()), pa.run_end_encoded(pa.int16(), pa.int8())),
    *(pa.uuid(), pa.bool8(), pa.month_day_nano_interval()),
    pa.dense_union([pa.field("a", pa.int8())]),
]
SOURCES = Path(types.__file__).parent.rglob("*.py")
KINDS = {kind for path in SOURCES for kind in re.findall(r'is_\("(\w+)"', path.read_text("utf-8"))}


@pytest.mark.parametrize(
    "kind", sorted(KINDS | {*types.STRINGS, *types.BINARIES, *types.LISTS, "floating", "integer"})
)
def test_a_type_is_of_the_kinds_that_arrow_says(kind: str) -> None:
    told = [types.is_(kind, sample) for sample in SAMPLES]
    assert told == [getattr(pa.types, f"is_{kind}")(sample) for sample in SAMPLES]
    assert any(told)
