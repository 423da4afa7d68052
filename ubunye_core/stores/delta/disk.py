"""A table in a folder: what delta-rs leaves to the system, so that a save outlives a power cut."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from urllib.parse import unquote

from ubunye_core.stores.delta.place import LOG


def commit_without_content(root: Path, first: int, last: int) -> str | None:
    """The name of a commit that is there and empty, which delta-rs takes for one of no changes.

    A power cut leaves such files. Versions whose files are gone are behind a checkpoint.
    """
    for version in range(first, last + 1):
        path = _commit(root, version)
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_size == 0:
                return path.name
    return None


def first_commit(root: Path) -> int:
    """The lowest version whose commit is in the log."""
    found = [name[:-5] for name in os.listdir(root / LOG) if name.endswith(".json")]
    return min(
        (int(name[:-5]) for name in found if name[:-5].isascii() and name[:-5].isdigit()), default=0
    )


def put_to_disk(root: Path, first: int, last: int) -> None:
    """Wait until these commits, and the files they added, are on the disk."""
    folders = {root / LOG, root}
    for version in range(first, last + 1):
        path = _commit(root, version)
        with contextlib.suppress(FileNotFoundError):
            for line in path.read_text("utf-8").splitlines():
                added = json.loads(line).get("add")
                if added is not None:
                    file = root / unquote(added["path"])
                    folders.add(file.parent)
                    _sync(file)
            _sync(path)
    for folder in folders:
        _sync(folder)


def _commit(root: Path, version: int) -> Path:
    return root / LOG / f"{version:020}.json"


def _sync(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
