"""Draw the columns of rows from their documents anew, and move damage out of the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sqlalchemy as sa

from ubunye_core.stores.capabilities import Repaired
from ubunye_core.stores.protocol import Unreadable
from ubunye_core.stores.sql import schema
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.queries import PAGE, Queries, as_bytes
from ubunye_core.stores.sql.rows import Stored, drawn
from ubunye_core.stores.sql.writing import Writing


@dataclass
class _Done:
    hints: int = 0
    set_aside: list[str] = field(default_factory=list)
    left: list[Unreadable] = field(default_factory=list)


def repair(database: Database, queries: Queries, *, set_aside: bool) -> Repaired:
    """Bring older tables up to date, then look at every row; each page is one transaction."""
    older = database.bring_up_to_date()
    remark = ""
    if older is not None:
        remark = f"Its tables were brought from version {older} to {len(schema.STEPS)}."
    done, after = _Done(), ("", "")
    while True:
        one_page = partial(_page, database, queries, after=after, set_aside=set_aside)
        last, page = database.write(one_page, makes=False)
        done.hints += page.hints
        done.set_aside += page.set_aside
        done.left += page.left
        if last is None:
            return Repaired(
                hints=done.hints,
                set_aside=tuple(done.set_aside),
                left=tuple(done.left),
                remark=remark,
            )
        after = last


def _page(
    database: Database,
    queries: Queries,
    connection: sa.Connection,
    *,
    after: tuple[str, str],
    set_aside: bool,
) -> tuple[tuple[str, str] | None, _Done]:
    writing, done, last = Writing(database, queries, connection), _Done(), None
    rows = queries.whole_rows(after, PAGE).rows(connection)
    for row in rows:
        last = (row.task, row.run_id)
        new = _drawn(row, database.url)
        if isinstance(new, dict) and new.items() <= row._mapping.items():
            continue
        for locked in writing.locked(row.task, [row.run_id]):
            _mend(locked, writing, done, set_aside=set_aside)
    return (last if len(rows) == PAGE else None), done


def _mend(row: Any, writing: Writing, done: _Done, *, set_aside: bool) -> None:
    new = _drawn(row, writing.url)
    if isinstance(new, dict):
        writing.write(row, new)
        done.hints += 1
    elif set_aside:
        writing.set_aside(row.task, row.run_id)
        writing.remove(row.task, [row.run_id])
        done.set_aside.append(f"ubunye_damaged {row.task} {row.run_id}")
    else:
        done.left.append(new)


def _drawn(row: Any, url: str) -> dict[str, Any] | Unreadable:
    """The columns that the document of a row makes, or why there are none."""
    document = as_bytes(row.document)
    read = Stored(row.task, row.run_id, None, None, None, document).read(url)
    return read if isinstance(read, Unreadable) else drawn(read, document)
