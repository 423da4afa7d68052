"""The hash of the code a run ran."""

from __future__ import annotations

import hashlib
from pathlib import Path


def code_hash(path: str | Path | None) -> str | None:
    """The hash of every ``*.py`` file below a folder, or of one file.

    Line ends don't matter; ``__pycache__`` and what is hidden is left out. A single file, with any
    suffix, hashes like a folder that holds only it. None where there is no such file, or where
    one can't be read.
    """
    if path is None:
        return None
    base = Path(path)
    try:
        return _hash(base, base.parent if base.is_file() else base)
    except (OSError, UnicodeError):
        return None


def _hash(base: Path, root: Path) -> str | None:
    files = [base] if base.is_file() else _python_files(base)
    if not files:
        return None
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(b"\0")
        digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
        digest.update(b"\0")
    return f"sha256:{digest.hexdigest()}"


def _python_files(folder: Path) -> list[Path]:
    found = []
    for file in folder.rglob("*.py"):
        parts = file.relative_to(folder).parts
        hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if not hidden and file.is_file():
            found.append((parts, file))
    return [file for _, file in sorted(found)]  # a/b.py before a-b.py
