"""The tables of receipts, and the index that each question goes by.

The document is the truth. The other columns of a receipt are drawn from it when it is saved, so
that questions find it; a row that somebody else placed may leave them null, and is then read by
every question about its task. Times are microseconds since 1970 in UTC, which both databases
keep, compare and hand over exactly.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

# Names are ASCII. Ordered by their bytes, they sort as they do in Python, in any database.
_NAME = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_MOMENT = sa.BigInteger()

SIZE = "document_size"
"""The column of how many bytes a document has, where the database reckons it."""


def _tune(receipts: sa.Table, connection: sa.Connection, **_: object) -> None:
    """Leave a server room on each page, and have it compress documents by lz4, where it can.

    A heartbeat changes no indexed column; room on the page keeps it from touching an index. Lz4 is
    read faster. Not said with the table, for SQLAlchemy 2.0 knows no such options of a table.
    """
    if connection.dialect.name != "postgresql":
        return
    place = connection.dialect.identifier_preparer.format_table(receipts)
    connection.execute(sa.text(f"ALTER TABLE {place} SET (fillfactor = 80)"))
    known = "SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
    if connection.execute(sa.text(known)).scalar():
        change = f"ALTER TABLE {place} ALTER COLUMN document SET COMPRESSION lz4"
        connection.execute(sa.text(change))


class Tables:
    """The tables, in the database's own place for them or in a schema of this name."""

    def __init__(self, schema: str | None = None) -> None:
        self.schema = schema
        self.all = sa.MetaData(schema=schema)
        self.versions = sa.Table(
            "ubunye_schema",
            self.all,
            sa.Column("version", sa.Integer, nullable=False),
        )
        self.receipts = _receipts(self.all)
        sa.event.listen(self.receipts, "after_create", _tune)
        self.variables = sa.Table(
            "ubunye_variables",
            self.all,
            sa.Column("pair", sa.BigInteger, primary_key=True),
            sa.Column("task", _NAME, primary_key=True),
            sa.Column("started_at", _MOMENT, primary_key=True),
            sa.Column("run_id", _NAME, primary_key=True),
            sqlite_with_rowid=False,
        )
        self.claims = sa.Table(
            "ubunye_claims",
            self.all,
            sa.Column("task", _NAME, primary_key=True),
            sa.Column("key", _NAME, primary_key=True),
            sa.Column("run_id", _NAME, nullable=False),
            sa.Column("token", sa.BigInteger, nullable=False),
            sa.Column("claimed_at", _MOMENT, nullable=False),
            sa.Column("until", _MOMENT, nullable=False),
            sa.Column("is_open", sa.Boolean, nullable=False),
        )
        self.damaged = sa.Table(
            "ubunye_damaged",
            self.all,
            sa.Column("task", _NAME, nullable=False),
            sa.Column("run_id", _NAME, nullable=False),
            sa.Column("document", sa.Text, nullable=False),
            sa.Column("set_aside_at", _MOMENT, nullable=False),
        )


def _receipts(all_tables: sa.MetaData) -> sa.Table:
    success, running = sa.text("status = 'success'"), sa.text("status = 'running'")
    placed, attempts = sa.text("status IS NULL"), sa.text("attempt_key IS NOT NULL")
    return sa.Table(
        "ubunye_receipts",
        all_tables,
        sa.Column("task", _NAME, primary_key=True),
        sa.Column("run_id", _NAME, primary_key=True),
        sa.Column("status", _NAME),
        sa.Column("started_at", _MOMENT),
        sa.Column("ended_at", _MOMENT),
        sa.Column("window_start", _MOMENT),
        sa.Column("window_end", _MOMENT),
        sa.Column("batch_key", _NAME),
        sa.Column("attempt_key", _NAME),
        sa.Column("pairs", sa.Text),
        sa.Column("seal", sa.Text),
        sa.Column("document", sa.Text, nullable=False),
        sa.Index("ubunye_receipts_of_task", "task", "started_at", "run_id"),
        sa.Index("ubunye_receipts_of_all", "started_at", "run_id", "task"),
        sa.Index("ubunye_receipts_of_status", "task", "status", "started_at", "run_id"),
        sa.Index("ubunye_receipts_of_batch", "task", "batch_key", "started_at", "run_id"),
        _partial("ubunye_receipts_success", success, "task", "batch_key", "started_at", "run_id"),
        _partial("ubunye_receipts_running", running, "started_at", "run_id", "task"),
        _partial("ubunye_receipts_attempt", attempts, "task", "attempt_key"),
        _partial("ubunye_receipts_placed", placed, "task", "run_id"),
    )


def _partial(name: str, where: sa.TextClause, *columns: str) -> sa.Index:
    return sa.Index(name, *columns, postgresql_where=where, sqlite_where=where)
