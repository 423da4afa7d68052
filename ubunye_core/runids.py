"""Run ids that sort by time: UUIDs of version 7 (RFC 9562)."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

_VERSION_7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

A_NAME_SHOWS = timedelta(milliseconds=1)
"""How finely an id tells when its run started: within the millisecond, it may be any time."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def new_run_id(started_at: datetime) -> str:
    """An id for a run that starts now; no two are the same."""
    return _version_7(started_at, os.urandom(10))


def run_id_of_attempt(started_at: datetime, scheduler: str, ids: Mapping[str, str]) -> str:
    """The id of a scheduler's attempt: the same for the same first start and ids."""
    digest = hashlib.sha256(scheduler.encode(errors="surrogatepass"))
    for name, text in sorted(ids.items()):
        digest.update(f"\0{name}\0{text}".encode(errors="surrogatepass"))
    return _version_7(started_at, digest.digest()[:10])


def time_in(run_id: str) -> datetime | None:
    """The start that an id of version 7 shows, to the millisecond; None for any other id."""
    match = _VERSION_7.fullmatch(run_id)
    if match is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=int(match[1] + match[2], 16))
    except OverflowError:
        return None


def shows_its_start(run_id: str, started_at: datetime) -> bool:
    """Whether an id shows no time, or the start of its run: stores find runs by their names."""
    shown = time_in(run_id)
    return shown is None or abs(started_at - shown) <= A_NAME_SHOWS


def _version_7(moment: datetime, tail: bytes) -> str:
    milliseconds = (moment - _EPOCH) // timedelta(milliseconds=1) & (1 << 48) - 1
    number = milliseconds << 80 | int.from_bytes(tail, "big")
    number = number & ~(0xF << 76) | 7 << 76
    number = number & ~(0x3 << 62) | 2 << 62
    text = f"{number:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
