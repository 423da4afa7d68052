"""From what a run read or wrote to a step of its receipt."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from ubunye_core.hashing import Fingerprint, fingerprint
from ubunye_core.masking import masked_url, told
from ubunye_core.receipt import Step

FORMATS = frozenset({"avro", "csv", "json", "orc", "parquet"})
"""The endings of file names that name a format."""


def step_of(
    name: str,
    data: object,
    *,
    direction: str,
    hash: bool,
    columns: Iterable[str] | None,
    per_column: bool,
    format: str | None,
    location: str | Path | None,
) -> Step:
    """What is recorded of an input or output; see ``Run.read``. Never raises."""
    began = time.monotonic()
    found = _hashed(data, hash, columns, per_column)
    place = told(location if location is not None else data if _is_path(data) else "")
    return Step(
        name=told(name),
        direction=direction,
        format=told("" if format is None else format) or _format_of(place) or found.route or "",
        location=masked_url(place),
        row_count=found.row_count,
        schema_hash=found.schema_hash,
        data_hash=found.data_hash,
        hash_method=found.method if found.data_hash is not None else None,
        hash_error=found.error,
        hash_seconds=round(time.monotonic() - began, 6) if found.data_hash else None,
        route=found.route,
        column_hashes=found.column_hashes,
    )


def _is_path(data: object) -> bool:
    return isinstance(data, str | Path)


def _hashed(
    data: object, hash: bool, columns: Iterable[str] | None, per_column: bool
) -> Fingerprint:
    """The fingerprint of what was read or written; whatever goes wrong becomes its error."""
    if data is None:
        return Fingerprint()
    try:
        named = [columns] if isinstance(columns, str) else columns
        return fingerprint(
            data,
            columns=None if named is None else list(named),
            hash=hash,
            per_column=bool(per_column),
        )
    except Exception as error:
        return Fingerprint(error=f"it could not be hashed ({type(error).__name__})")


def _format_of(place: str) -> str | None:
    """The format that the name of a file tells."""
    ending = Path(place).suffix.removeprefix(".").lower()
    return ending if ending in FORMATS else None
