"""The name of a table: all of a store's URL that ever stands in SQL, so its grammar is strict."""

from __future__ import annotations

import re

from ubunye_core.errors import ConfigError
from ubunye_core.masking import masked_url

SCHEME = "spark:///"
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}", re.ASCII)
_HINT = (
    "Write it as spark:///catalog.schema.table or spark:///schema.table, with letters, digits, "
    "'_' and '-' in each part."
)


def table_of(url: str) -> str:
    """The table that a store's URL names, such as ``main.ops.receipts``.

    Raises:
        ConfigError: it names none. A table without its schema is none: which one it is would hang
            on what the session uses at the moment.
    """
    parts = url[len(SCHEME) :].split(".")
    named = url[: len(SCHEME)].lower() == SCHEME and len(parts) in (2, 3)
    if not named or not all(map(_PART.fullmatch, parts)):
        raise ConfigError(f"'{masked_url(url)}' does not name a table of Spark.", hint=_HINT)
    return ".".join(parts)


def quoted(table: str) -> str:
    """The name as SQL takes it."""
    return ".".join(f"`{part}`" for part in table.split("."))
