"""What a database says of itself: rights, guarantees, clock and version."""

from __future__ import annotations

from collections.abc import Iterator

from ubunye_core.stores.capabilities import Finding
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.schema import STEPS


def examine(database: Database) -> Iterator[Finding]:
    """What can be told of a database without leaving a trace in it."""
    dialect, tables = database.dialect, database.tables
    yield from database.read(lambda connection: list(dialect.examine(connection, tables)))
    clock = "the server's clock" if dialect.has_own_clock else "this machine's clock"
    yield Finding(
        what="claim",
        good=True,
        why=f"one row for each batch, changed in transactions; leases run by {clock}",
    )
    yield Finding(what="tables", good=True, why=f"they have version {len(STEPS)}, the newest")
