"""From a ``file:`` URL or a plain path to a folder store."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from ubunye_core.errors import ConfigError
from ubunye_core.masking import masked_url
from ubunye_core.stores.files.store import FileStore


def open_files(url: str) -> FileStore:
    """The store at a ``file:`` URL or a plain path."""
    if "://" not in url:
        return FileStore(Path(url))
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise ConfigError(
            f"'{masked_url(url)}' names a machine.",
            hint="A folder's URL has three slashes: file:///srv/receipts.",
        )
    if parts.query or parts.fragment:
        raise ConfigError(f"'{masked_url(url)}' has options; a folder takes none.")
    path = unquote(parts.path)
    if not path.startswith("/") or "\0" in path:
        raise ConfigError(f"'{url}' names no folder.", hint="Write file:///srv/receipts.")
    return FileStore(Path(path))
