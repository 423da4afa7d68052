"""When two receipts are the same, and when two URLs name one store."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ubunye_core.codec import as_json
from ubunye_core.receipt import Receipt
from ubunye_core.stores import ReceiptStore


def canonical(receipt: Receipt) -> str:
    """The receipt as text that is the same for the same content, whatever order it was kept in."""
    return json.dumps(as_json(receipt), sort_keys=True, separators=(",", ":"))


def digest_of(text: str) -> bytes:
    """Stands for such a text."""
    return hashlib.sha256(text.encode("ascii")).digest()[:16]


def is_same_place(one: ReceiptStore, other: ReceiptStore) -> bool:
    """Whether two stores are known to be one: users, passwords and links aside."""
    if one.url.startswith("memory:"):  # its name is shared only where the store is
        return one is other
    return one is other or _place(one.url) == _place(other.url)


def _place(url: str) -> tuple[object, ...]:
    """What a URL names, without who asks for it; a path on this machine without its links."""
    parts = urlsplit(url)
    kind = "postgresql" if parts.scheme.startswith("postgres") else parts.scheme
    if parts.netloc not in ("", "localhost"):
        port = parts.port or (5432 if kind == "postgresql" else None)
        return (kind, parts.hostname, port, parts.path.rstrip("/"), parts.query)
    # SQLite's URL has one slash more before a path that begins with one.
    path = parts.path[1:] if kind.startswith("sqlite") else parts.path
    return (kind, str(Path(unquote(path)).resolve()), parts.query)
