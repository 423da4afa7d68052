"""Tell people, on standard error, that a long hash goes on, and how far it has come."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ubunye_core.cli.output import clean, is_terminal, note
from ubunye_core.hashing.progress import watching

_QUIET_SECONDS = 10.0
"""Where nobody looks at it as it changes: a line each so many seconds."""
_REDRAWN_SECONDS = 0.2


@contextmanager
def at_work(path: str) -> Iterator[None]:
    """Within, say how many rows have been read; only of work that takes a while."""
    shows = _on_a_terminal if is_terminal(sys.stderr) else _in_lines
    with shows(path):
        yield


def _told(path: str, rows: int) -> str:
    return f"Hashing {clean(path)}: {f'{rows:,} rows so far' if rows else 'this takes a while'}."


@contextmanager
def _on_a_terminal(path: str) -> Iterator[None]:
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"Hashing {clean(path)}")) as status:
        drawn = time.monotonic()

        def report(rows: int) -> None:
            nonlocal drawn
            now = time.monotonic()
            if now - drawn >= _REDRAWN_SECONDS:
                drawn = now
                status.update(Text(_told(path, rows)))

        with watching(report):
            yield


@contextmanager
def _in_lines(path: str) -> Iterator[None]:
    read = 0
    is_done = threading.Event()

    def report(rows: int) -> None:
        nonlocal read
        read = rows

    def say() -> None:
        while not is_done.wait(_QUIET_SECONDS):
            note(_told(path, read))

    teller = threading.Thread(target=say, daemon=True)
    teller.start()
    try:
        with watching(report):
            yield
    finally:
        is_done.set()
        teller.join()
