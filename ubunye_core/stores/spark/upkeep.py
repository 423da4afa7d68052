"""What keeps a table of many small commits fast, and what can be told of it."""

from __future__ import annotations

from collections.abc import Iterator

from ubunye_core.errors import UbunyeError
from ubunye_core.stores.capabilities import Finding
from ubunye_core.stores.spark.session import LostError
from ubunye_core.stores.spark.table import Table

DUE_AT = 1_000
"""Files: with so many, questions get slow, and it is time to compact."""


def compact(table: Table) -> None:
    """Join the files of all tasks, and remove those that nobody has needed for a day.

    Raises:
        StoreUnavailableError: it cannot be done now, or the catalog does not allow it.
    """
    table.rows()
    table.run("OPTIMIZE {table}", "compacted")
    table.run("VACUUM {table}", "swept")


def examine(table: Table) -> Iterator[Finding]:
    """What can be told of the table."""
    yield _may_write(table)
    yield Finding(
        what="durability", good=True, why="a save is a commit of Delta: whole, or not there"
    )
    yield Finding(
        what="claim",
        good=None,
        why="not given here; a folder, a bucket, sqlite:///, postgresql://, Delta without Spark "
        "(delta+file://, delta+s3://) or a ledger (jsonl:///) gives them",
    )
    yield _files(table)


def _may_write(table: Table) -> Finding:
    try:
        table.rows()
        table.append([])  # no rows: Delta records nothing
    except (UbunyeError, LostError) as error:
        return Finding(what="write", good=False, why=str(error))
    return Finding(what="write", good=True, why="an append of no rows was taken")


def _files(table: Table) -> Finding:
    try:
        (detail,) = table.run("DESCRIBE DETAIL {table}", "described")
        files = int(detail["numFiles"])
    except (UbunyeError, LostError, KeyError, TypeError, ValueError):
        return Finding(what="compact", good=None, why="how many files it has cannot be told")
    due = files >= DUE_AT
    advice = "it is time to compact it" if due else f"compact it when they are {DUE_AT:,}"
    return Finding(what="compact", good=not due, why=f"it has {files:,} files: {advice}")
