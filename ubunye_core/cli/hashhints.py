"""Why a path has no hash, as far as a look at the file itself can tell more than the hash did."""

from __future__ import annotations

import codecs
import contextlib
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from ubunye_core.hashing import Fingerprint
from ubunye_core.hashing.files import DataFiles, find_files
from ubunye_core.hashing.problems import UnhashableError, quoted
from ubunye_core.names import near

_CHUNK = 2**20
_MOST_NAMES = 20
_Found = tuple[str, str]
"""What is wrong, and what to try."""


def with_hints(found: Fingerprint, path: str, columns: Sequence[str] | None) -> Fingerprint:
    """What a path hashed to; where it has no hash, its error says what is wrong with the file."""
    if found.error is None:
        return found
    with contextlib.suppress(Exception):  # a help in the text, which no answer hangs on
        told = _look(path, columns)
        if told is not None:
            what, hint = told
            return replace(found, error=f"{what} {hint}")
    return found


def _look(path: str, columns: Sequence[str] | None) -> _Found | None:
    try:
        data = find_files(path)
    except UnhashableError as error:
        file = Path(path)
        close = [] if file.exists() else near(file.name, _names_in(file.parent))
        return (error.message, f"Did you mean {_listed(close)}?") if close else None
    for file in data.files:
        told = _wrong_file(file, data.kind)
        if told is not None:
            return told
    return None if columns is None else _wrong_columns(data, columns)


def _names_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if not each.name.startswith(".")]


def _wrong_file(file: Path, kind: str) -> _Found | None:
    with _opened(file) as opened:
        if not opened.read(1):
            more = ": not even a header line" if kind == "csv" else ""
            return f"{quoted(file)} is empty{more}.", "Try: write it again."
    line = _line_not_in_utf8(file) if kind == "csv" else None
    if line is None:
        return None
    return f"{quoted(file)} is not UTF-8 (line {line:,}).", "Try: save it as UTF-8."


def _opened(file: Path) -> BinaryIO:
    if file.name.lower().endswith(".gz"):
        return cast(BinaryIO, gzip.open(file, "rb"))
    return file.open("rb")


def _line_not_in_utf8(file: Path) -> int | None:
    """The first line of a file that is no UTF-8."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with _opened(file) as opened:
        for chunk in _chunks(opened):
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].count(b"\n")
            line += chunk.count(b"\n")
    return None


def _chunks(opened: BinaryIO) -> Iterator[bytes]:
    """What a file holds, and nothing at its end."""
    while chunk := opened.read(_CHUNK):
        yield chunk
    yield b""


def _wrong_columns(data: DataFiles, columns: Sequence[str]) -> _Found | None:
    names = _columns_of(data)
    unknown = [each for each in columns if each not in names]
    if not unknown:
        return None
    close = list(dict.fromkeys(meant for each in unknown for meant in near(each, names)[:1]))
    hint = f"Did you mean {_listed(close)}? " if close else ""
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    there = ", ".join(map(quoted, names[:_MOST_NAMES]))
    none = "is no column" if len(unknown) == 1 else "are no columns"
    return (
        f"There {none} {' and '.join(map(quoted, unknown))} to hash.",
        f"{hint}There are: {there}{more}.",
    )


def _columns_of(data: DataFiles) -> list[str]:
    from ubunye_core.hashing import datasets, delta

    rows = (
        delta.delta_rows(data.base, None)
        if data.kind == "delta"
        else datasets.dataset_rows(data, None, None)
    )
    return [str(name) for name in rows.schema.names]


def _listed(names: Sequence[str]) -> str:
    return " or ".join(map(quoted, names))
