"""Saving and removing receipts, inside a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from ubunye_core.errors import BadReceiptError, ReceiptNotFoundError
from ubunye_core.receipt import Receipt
from ubunye_core.stores.ends import standing
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.reading import Queries, stored
from ubunye_core.stores.sql.rows import row_of


class Writing:
    """One transaction that reads and writes receipts."""

    def __init__(self, database: Database, queries: Queries, connection: sa.Connection) -> None:
        self._dialect, self._tables = database.dialect, database.tables
        self._queries, self._connection, self.url = queries, connection, database.url

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id."""
        row = self._connection.execute(self._queries.one(task, run_id)).one_or_none()
        if row is None:
            raise ReceiptNotFoundError(f"{self.url} holds no run '{run_id}' of {task}.")
        return stored(row).receipt(self.url)

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends."""
        while True:
            known = self._locked(receipt.task, receipt.run_id)
            if known is not None:
                self._update(known, receipt)
                return
            stands = standing(None, receipt)
            if stands is None or self._insert([row_of(stands)]):
                return
            # Another writer has inserted it since we looked.

    def insert_new(self, receipts: Sequence[Receipt]) -> bool:
        """Insert receipts of runs that are not on record; False if one is now, after all."""
        offered = [standing(None, receipt) for receipt in receipts]
        return self._insert([row_of(each) for each in offered if each is not None])

    def remove(self, task: str, run_ids: Iterable[str]) -> int:
        """Remove the receipts of these runs, and what is drawn from them."""
        receipts = self._tables.receipts
        removed = 0
        for run_id in run_ids:
            known = self._locked(task, run_id)
            if known is not None:
                self._forget_variables(known)
                here = (receipts.c.task == task, receipts.c.run_id == run_id)
                self._connection.execute(receipts.delete().where(*here))
                removed += 1
        return removed

    def set_aside(self, row: Any, now: Any) -> None:
        """Keep a copy of a damaged document where nobody looks."""
        self._connection.execute(
            self._tables.damaged.insert().from_select(
                ["task", "run_id", "document", "set_aside_at"],
                sa.select(
                    self._tables.receipts.c.task,
                    self._tables.receipts.c.run_id,
                    self._tables.receipts.c.document,
                    now,
                ).where(
                    self._tables.receipts.c.task == row.task,
                    self._tables.receipts.c.run_id == row.run_id,
                ),
            )
        )

    def _locked(self, task: str, run_id: str) -> Any:
        """The row of a run, which nobody else changes until the transaction ends."""
        receipts = self._tables.receipts.c
        query = self._queries.one(task, run_id).add_columns(receipts.pairs)
        return self._connection.execute(query.with_for_update()).one_or_none()

    def _update(self, known: Any, offered: Receipt) -> None:
        held = stored(known[:6])
        try:
            current: Receipt | None = held.receipt(self.url)
        except BadReceiptError:
            if not offered.status.is_final:
                raise
            current = None  # a run's end heals a damaged record of its own
        stands = standing(current, offered)
        if stands is None:
            return
        if current is None:
            self.set_aside(held, self._dialect.now())
        row = row_of(stands)
        receipts = self._tables.receipts
        here = (receipts.c.task == held.task, receipts.c.run_id == held.run_id)
        self._connection.execute(receipts.update().where(*here).values(row))
        if (row["pairs"], row["started_at"]) != (known.pairs, held.started_at):
            self._forget_variables(known)
            self._insert_variables([row])

    def _insert(self, rows: list[dict[str, Any]]) -> bool:
        """Insert rows; False, and nothing kept by the caller, where one was there."""
        if not rows:
            return True
        receipts = self._tables.receipts
        statement = self._dialect.insert(receipts).values(rows).returning(receipts.c.run_id)
        if len(self._connection.execute(statement).all()) != len(rows):
            return False
        self._insert_variables(rows)
        return True

    def _insert_variables(self, rows: Sequence[dict[str, Any]]) -> None:
        pairs = [
            {
                "pair": int(pair),
                "task": row["task"],
                "started_at": row["started_at"],
                "run_id": row["run_id"],
            }
            for row in rows
            for pair in row["pairs"].split()
        ]
        if pairs:
            self._connection.execute(self._dialect.insert(self._tables.variables), pairs)

    def _forget_variables(self, known: Any) -> None:
        variables = self._tables.variables
        if known.pairs and known.started_at is not None:
            self._connection.execute(
                variables.delete()
                .where(variables.c.pair.in_([int(pair) for pair in known.pairs.split()]))
                .where(variables.c.task == known.task)
                .where(variables.c.started_at == known.started_at)
                .where(variables.c.run_id == known.run_id)
            )
