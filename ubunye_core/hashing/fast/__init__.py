"""rows-v1 by the column: the same lines as the plain definition, several times faster.

A slice of rows becomes lines in three steps. ``texts`` says for each column how its values become
text: an SQL expression where DataFusion's text is exactly ours, an array of ready texts elsewhere.
``lines`` puts names, commas and braces around them, so that nulls leave no trace. ``query`` lets
DataFusion join and hash the lines of a slice, and sums the digests. ``run`` does that slice by
slice in a few threads.

The rules of text stand in this folder a second time, each with the reason why it is exact:
``texts`` (which rule), ``floats``, ``strings``, ``calendar`` and ``nested``. What has no rule here,
and each slice that fails for any reason, goes through the plain definition.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from functools import cache

LEAST_ROWS = 200
"""Below, a query costs more than writing the rows one by one."""

_MANY_ROWS = 100_000
_log = logging.getLogger("ubunye_core.hashing")
_used_by: set[int] = set()  # process ids


@cache
def is_installed() -> bool:
    """Whether what the fast rules need is there."""
    found = all(importlib.util.find_spec(name) for name in ("datafusion", "numpy"))
    return found and sys.byteorder == "little"  # words are written into text byte by byte


def note_use() -> None:
    """DataFusion starts threads of its own in this process."""
    _used_by.add(os.getpid())


def is_usable() -> bool:
    """Whether DataFusion can be asked here.

    Its threads do not survive a fork. In the child of a process that used it a query may wait for
    a thread that is no more, or for a lock that one held, so there it is not asked.
    """
    return is_installed() and not _was_forked()


def _was_forked() -> bool:
    return not _used_by <= {os.getpid()}


def say_that_it_is_slow(rows: int | None) -> None:
    """Tell once why many rows take long."""
    if rows is not None and rows < _MANY_ROWS:
        return
    if not is_installed():
        _say("'datafusion' is not installed (pip install 'ubunye-receipts[arrow]').")
    elif _was_forked():
        _say("DataFusion was used before this process was forked.")
    else:
        _say("'datafusion' could not be imported.")


@cache
def _say(why: str) -> None:
    _log.warning(
        "%s Rows are hashed by the plain definition: exact, but several times slower.", why
    )
