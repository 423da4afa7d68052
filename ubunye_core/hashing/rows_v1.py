"""rows-v1 in plain words: from canonical lines to the two hashes.

A row is one line of text. Each line's SHA-256 gives two 64-bit numbers, which are summed over
the rows, so the order of the rows does not matter but each row and each repetition does. The
sums catch accidents; they do not stop somebody who chooses rows to collide.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

METHOD = "rows-v1"

Schema = Sequence[tuple[str, str]]
"""Pairs of column name and canonical type name, in any order."""

_MASK = 2**64 - 1
_first_two_words = struct.Struct(">QQ16x").unpack


@dataclass
class Sums:
    """The rows seen so far: how many, and their two sums."""

    rows: int = 0
    a: int = 0
    b: int = 0

    def add(self, lines: Iterable[str]) -> None:
        """Add rows, each given as its canonical line."""
        rows, a, b = self.rows, self.a, self.b
        sha256 = hashlib.sha256
        for line in lines:
            first, second = _first_two_words(sha256(line.encode()).digest())
            rows += 1
            a += first
            b += second
        self.rows, self.a, self.b = rows, a & _MASK, b & _MASK

    def merge(self, other: Sums) -> None:
        """Add the rows of other sums."""
        self.rows += other.rows
        self.a = (self.a + other.a) & _MASK
        self.b = (self.b + other.b) & _MASK


def line(members: Iterable[str | None]) -> str:
    """The canonical line of a row; each member is ``"name":value`` or None for a null."""
    return f"{{{','.join(filter(None, members))}}}"


def schema_json(schema: Schema) -> str:
    """The canonical schema: sorted pairs, no spaces, only ASCII."""
    # Python compares text by code points, which is the order the format asks for.
    return json.dumps(sorted(schema), separators=(",", ":"), ensure_ascii=True)


def schema_hash(schema: Schema) -> str:
    """The hash of the column names and types."""
    return sha256_name(schema_json(schema))


def data_hash(schema: Schema, sums: Sums) -> str:
    """The hash of the schema and of every row."""
    return sha256_name(
        f'{{"method":"{METHOD}","rows":{sums.rows},"schema":{schema_json(schema)},'
        f'"sums":[{sums.a},{sums.b}]}}'
    )


def sha256_name(text: str) -> str:
    """``sha256:`` and the hex digest of an ASCII text."""
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"
