"""Tell people, on standard error, that a long hash goes on, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ubunye_core.cli.output import clean
from ubunye_core.cli.progress import shown
from ubunye_core.counted import count
from ubunye_core.hashing.progress import watching


@contextmanager
def at_work(path: str) -> Iterator[None]:
    """Within, say how many rows have been read; only of work that takes a while."""

    def told(rows: int) -> str:
        far = f"{count(rows, 'row')} so far" if rows else "this takes a while"
        return f"Hashing {clean(path)}: {far}."

    with shown(told(0)) as tell, watching(lambda rows: tell(lambda: told(rows))):
        yield
