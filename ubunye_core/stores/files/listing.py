"""A task's folder as the system lists it: receipts whose names show their start, and others.

The id of a run of ours is a UUID of version 7: its name shows the start to the millisecond, and
names sort by it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ubunye_core.stores.files.place import SUFFIX

_SHOWS_ITS_START = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json"
)
_FORM = b"00000000-0000-0000-0000-000000000000.json/"
_DIGITS_AS_0 = bytes.maketrans(b"0123456789abcdef", b"0" * 16)
_VERSION, _VARIANT = 14, 19
"""Where these digits stand in a name."""
_AT_ONCE = 4_096
"""So many names stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The file names of a task's receipts."""

    showing: list[bytes]
    """Those that are ids of version 7. They are ASCII, and as bytes they cost half as much."""
    others: list[str]


def shows_start(name: str) -> bool:
    """Whether a file name is an id of version 7."""
    return _SHOWS_ITS_START.fullmatch(name) is not None


def told_apart(entries: list[bytes]) -> Listing:
    """The receipts among all that stands in a folder."""
    showing: list[bytes] = []
    others: list[str] = []
    for first in range(0, len(entries), _AT_ONCE):
        names = entries[first : first + _AT_ONCE]
        if _show_start(names):
            showing += names
            continue
        for name in names:
            text = os.fsdecode(name)
            if shows_start(text):
                showing.append(name)
            elif text.endswith(SUFFIX) and not text.startswith("."):
                others.append(text)
    return Listing(showing, sorted(others))


def _show_start(names: list[bytes]) -> bool:
    """Whether all these names are ids of version 7.

    The same as the pattern says of each, told of many at once. No name holds a slash, so where
    slashes stand between them as between names of the usual length, each has it.
    """
    joined, length = b"/".join((*names, b"")), len(_FORM)
    return (
        joined[_VERSION::length] == b"7" * len(names)
        and not joined[_VARIANT::length].translate(None, b"89ab")
        and joined.translate(_DIGITS_AS_0) == _FORM * len(names)
    )
