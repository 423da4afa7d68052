"""From a ``file:`` URL or a plain path to a folder store."""

from __future__ import annotations

from pathlib import Path

from ubunye_core.stores.addresses import local_path
from ubunye_core.stores.files.store import FileStore


def open_files(url: str) -> FileStore:
    """The store at a ``file:`` URL or a plain path."""
    if "://" not in url:
        return FileStore(Path(url))
    return FileStore(Path(local_path(url, what="folder", example="file:///srv/receipts")))
