"""Saving and removing receipts, inside a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from ubunye_core.errors import BadReceiptError, ReceiptConflictError
from ubunye_core.receipt import Receipt
from ubunye_core.stores.ends import on_record, standing
from ubunye_core.stores.refusals import not_found
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.queries import Queries, stored
from ubunye_core.stores.sql.rows import row_of


class Writing:
    """One transaction that reads and writes receipts."""

    def __init__(self, database: Database, queries: Queries, connection: sa.Connection) -> None:
        self.connection, self.url = connection, database.url
        self._dialect, self._tables = database.dialect, database.tables
        self._queries = queries

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id."""
        for row in self._queries.one(task, run_id).stored(self.connection):
            return row.receipt(self.url)
        raise not_found(run_id, task=task, url=self.url)

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends."""
        while True:
            known = self.locked(receipt.task, [receipt.run_id])
            if known:
                self._update(known[0], receipt)
                return
            stands = standing(None, receipt)
            if stands is None or self._insert([row_of(stands)]):
                return
            # Another writer has inserted it since we looked.

    def save_all(self, receipts: Sequence[Receipt]) -> list[ReceiptConflictError | BadReceiptError]:
        """``save`` for each; returns why some were refused.

        Those of new runs are inserted together. Runs are taken in one order, so that two of these
        do not wait for each other.
        """
        ordered = sorted(receipts, key=lambda each: (each.task, each.run_id))
        known: dict[tuple[str, str], Any] = {}
        for task, some in groupby(ordered, key=lambda each: each.task):
            for row in self.locked(task, [each.run_id for each in some]):
                known[row.task, row.run_id] = row
        fresh: dict[tuple[str, str], dict[str, Any]] = {}
        later: list[Receipt] = []
        refused: list[ReceiptConflictError | BadReceiptError] = []
        for receipt in ordered:
            key = (receipt.task, receipt.run_id)
            try:
                if key in known:
                    self._update(known.pop(key), receipt)
                elif key in fresh:
                    later.append(receipt)
                elif (stands := standing(None, receipt)) is not None:
                    fresh[key] = row_of(stands)
            except (ReceiptConflictError, BadReceiptError) as error:
                refused.append(error)
        inserted = self._insert(list(fresh.values()))
        later += [each for each in ordered if (each.task, each.run_id) in fresh.keys() - inserted]
        for receipt in later:
            try:
                self.save(receipt)
            except (ReceiptConflictError, BadReceiptError) as error:
                refused.append(error)
        return refused

    def remove(self, task: str, run_ids: Iterable[str]) -> int:
        """Remove the receipts of these runs, and what is drawn from them."""
        receipts = self._tables.receipts
        rows = self.locked(task, list(run_ids))
        for row in rows:
            self._forget_variables(row)
        here = (receipts.c.task == task, receipts.c.run_id.in_([row.run_id for row in rows]))
        self.connection.execute(receipts.delete().where(*here))
        return len(rows)

    def set_aside(self, task: str, run_id: str) -> None:
        """Keep a copy of a damaged document where nobody looks."""
        receipts = self._tables.receipts.c
        damage = sa.select(
            receipts.task, receipts.run_id, receipts.document, self._dialect.now()
        ).where(receipts.task == task, receipts.run_id == run_id)
        names = ["task", "run_id", "document", "set_aside_at"]
        self.connection.execute(self._tables.damaged.insert().from_select(names, damage))

    def locked(self, task: str, run_ids: Sequence[str]) -> list[Any]:
        """The rows of runs, which nobody else changes until the transaction ends."""
        return list(self._queries.locked(task, run_ids).rows(self.connection))

    def write(self, known: Any, row: dict[str, Any]) -> None:
        """Put a row in the place of one that is locked."""
        receipts = self._tables.receipts
        here = (receipts.c.task == known.task, receipts.c.run_id == known.run_id)
        self.connection.execute(receipts.update().where(*here).values(row))
        if (row["pairs"], row["started_at"]) != (known.pairs, known.started_at):
            self._forget_variables(known)
            self._insert_variables([row])

    def _update(self, known: Any, offered: Receipt) -> None:
        held = stored(known)
        current = on_record(partial(held.receipt, self.url), offered)
        stands = standing(current, offered)
        if stands is None:
            return
        if current is None:
            self.set_aside(held.task, held.run_id)
        self.write(known, row_of(stands))

    def _insert(self, rows: list[dict[str, Any]]) -> set[tuple[str, str]]:
        """Insert rows where none are; returns the task and run id of each that was."""
        if not rows:
            return set()
        receipts = self._tables.receipts
        statement = self._dialect.insert(receipts).returning(receipts.c.task, receipts.c.run_id)
        inserted = {(row.task, row.run_id) for row in self.connection.execute(statement, rows)}
        self._insert_variables([row for row in rows if (row["task"], row["run_id"]) in inserted])
        return inserted

    def _insert_variables(self, rows: Sequence[dict[str, Any]]) -> None:
        pairs = [
            {name: row[name] for name in ("task", "started_at", "run_id")} | {"pair": int(pair)}
            for row in rows
            for pair in row["pairs"].split()
        ]
        if pairs:
            self.connection.execute(self._dialect.insert(self._tables.variables), pairs)

    def _forget_variables(self, known: Any) -> None:
        variables = self._tables.variables
        if known.pairs and known.started_at is not None:
            self.connection.execute(
                variables.delete()
                .where(variables.c.pair.in_([int(pair) for pair in known.pairs.split()]))
                .where(variables.c.task == known.task)
                .where(variables.c.started_at == known.started_at)
                .where(variables.c.run_id == known.run_id)
            )
