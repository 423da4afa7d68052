"""What a path stands for: one Parquet, Arrow or CSV file, all files of a folder, a Delta table.

A folder is read whole or not at all: a file of no known kind, a mix of kinds, or a table format
below it (which also keeps files that are no longer rows) is refused. Hidden files and those that
start with an underscore are no data, save folders such as ``_day=3``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ubunye_core.hashing.problems import UnhashableError, quoted

ARROW_MAGIC = b"ARROW1"
_DELTA_LOG = "_delta_log"
_TABLE_FORMATS = {_DELTA_LOG: "Delta", ".hoodie": "Hudi"}
_PARQUET_MAGIC = b"PAR1"
_ARROW_ENDINGS = (".arrow", ".arrows", ".feather", ".ipc")
_KINDS = {"arrow-file": "Arrow", "csv": "CSV", "parquet": "Parquet"}


@dataclass(frozen=True)
class DataFiles:
    """The files behind a path, in the order of their paths; those of Delta are in its log."""

    base: Path
    files: tuple[Path, ...]
    kind: str  # "parquet", "arrow-file", "csv" or "delta"
    is_folder: bool


def find_files(location: str | os.PathLike[Any]) -> DataFiles:
    """The data files that a path or ``file://`` URL stands for."""
    base = _local_path(location)
    if base.is_dir():
        if (base / _DELTA_LOG).exists():
            return DataFiles(base, (), "delta", True)
        files = tuple(sorted(_walk(base, frozenset())))
        if not files:
            raise UnhashableError(f"{quoted(base)} holds no Parquet, Arrow or CSV file.")
        kinds = sorted({_kind(file) for file in files})
        if len(kinds) > 1:
            mixed = " and ".join(_KINDS[kind] for kind in kinds)
            raise UnhashableError(f"{quoted(base)} holds {mixed} files.")
        return DataFiles(base, files, kinds[0], True)
    if not base.exists():
        raise UnhashableError(f"There is no file or folder {quoted(base)}.")
    return DataFiles(base, (base,), _kind(base), False)


def _local_path(location: str | os.PathLike[Any]) -> Path:
    text = os.fsdecode(location)
    if not text:
        raise UnhashableError("The path is empty.")
    if "://" not in text:
        return Path(text)
    url = urlsplit(text)
    if url.scheme != "file" or url.netloc not in ("", "localhost"):
        raise UnhashableError(f"Only local paths and file:// URLs are read, not {url.scheme}://.")
    return Path(unquote(url.path))


def _walk(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    here = folder.resolve()
    if here in above:
        raise UnhashableError(f"{quoted(folder)} links back to a folder above it.")
    for entry in os.scandir(folder):
        if entry.name in _TABLE_FORMATS:
            raise UnhashableError(
                f"{quoted(folder)} is a {_TABLE_FORMATS[entry.name]} table, "
                "whose files are not all rows of it.",
                hint="Give its own folder, or the frame that reads it."
                if entry.name == _DELTA_LOG
                else "Give the frame that reads it.",
            )
        is_folder = entry.is_dir()
        is_partition = is_folder and "=" in entry.name
        if entry.name.startswith(".") or (entry.name.startswith("_") and not is_partition):
            continue
        if is_folder:
            yield from _walk(Path(entry.path), above | {here})
        else:
            yield Path(entry.path)


def _kind(file: Path) -> str:
    if not file.is_file():  # opening a pipe would wait for its writer
        raise UnhashableError(f"{quoted(file)} is not a regular file.")
    name = file.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        return "csv"
    try:
        with file.open("rb") as opened:
            magic = opened.read(max(len(_PARQUET_MAGIC), len(ARROW_MAGIC)))
    except OSError as error:
        raise UnhashableError(f"{quoted(file)} can't be opened ({type(error).__name__}).") from None
    if magic == ARROW_MAGIC or name.endswith(_ARROW_ENDINGS):
        return "arrow-file"
    if magic.startswith(_PARQUET_MAGIC) or name.endswith(".parquet"):
        return "parquet"
    raise UnhashableError(f"{quoted(file)} is neither Parquet, Arrow nor CSV.")
