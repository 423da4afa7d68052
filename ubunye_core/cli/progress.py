"""Tell people, on standard error, that long work goes on, and how far it has come."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ubunye_core.cli.output import clean, is_terminal, note
from ubunye_core.counted import count

_QUIET_SECONDS = 10.0
"""Where nobody looks at it as it changes: a line each so many seconds."""
_REDRAWN_SECONDS = 0.2

Tell = Callable[[Callable[[], str]], None]
"""Is handed what makes the text, which is made only when it is shown."""


@contextmanager
def shown(first: str) -> Iterator[Tell]:
    """Within, show what is told: on a terminal as it comes, else only of work that takes a while.

    Args:
        first: What to show before anything is told.
    """
    shows = _on_a_terminal if is_terminal(sys.stderr) else _in_lines
    with shows(first) as tell:
        yield tell


@contextmanager
def counting(what: str) -> Iterator[Callable[[str, int], None]]:
    """Within, what is told of a task and a number of receipts is shown.

    Args:
        what: What is done with them, such as ``Reading``.
    """
    with shown(f"{what} the store: this takes a while.") as tell:
        yield lambda task, receipts: tell(
            lambda: f"{what} {clean(task)}: {count(receipts, 'receipt')} so far."
        )


@contextmanager
def _on_a_terminal(first: str) -> Iterator[Tell]:
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(clean(first))) as status:
        drawn = time.monotonic()

        def tell(text: Callable[[], str]) -> None:
            nonlocal drawn
            now = time.monotonic()
            if now - drawn >= _REDRAWN_SECONDS:
                drawn = now
                status.update(Text(clean(text())))

        yield tell


@contextmanager
def _in_lines(first: str) -> Iterator[Tell]:
    latest: Callable[[], str] = lambda: first  # noqa: E731
    is_done = threading.Event()

    def tell(text: Callable[[], str]) -> None:
        nonlocal latest
        latest = text

    def say() -> None:
        while not is_done.wait(_QUIET_SECONDS):
            note(latest())

    teller = threading.Thread(target=say, daemon=True)
    teller.start()
    try:
        yield tell
    finally:
        is_done.set()
        teller.join()
