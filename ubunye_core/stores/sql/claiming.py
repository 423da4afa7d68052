"""Claims as rows, changed in transactions; whether a lease is over is told by the database."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, cast

import sqlalchemy as sa

from ubunye_core.stores.claims import Claim, ClaimKey, Held
from ubunye_core.stores.deciding import (
    KnownClaim,
    Take,
    decide_claim,
    holder_of,
    own_claim,
    reading_claim,
    renewable,
)
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.queries import Queries
from ubunye_core.stores.sql.rows import moment_of
from ubunye_core.stores.sql.writing import Writing
from ubunye_core.stores.takeover import end_of_the_old_holder


class Claiming:
    """The claims in a database."""

    def __init__(self, database: Database, queries: Queries) -> None:
        self._database, self._queries = database, queries
        self._dialect, self._claims = database.dialect, database.tables.claims
        claims = self._claims.c
        told = (claims.run_id, claims.token, claims.claimed_at, claims.until, claims.is_open)
        here = (claims.task == sa.bindparam("of_task"), claims.key == sa.bindparam("of_key"))
        self._locked = sa.select(*told).where(*here).with_for_update()
        self._known = sa.select(*told, self._dialect.now().label("now")).where(*here)
        self._clock = sa.select(self._dialect.now())
        self._changed = self._claims.update().where(*here)

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        return self._database.write(
            lambda connection: self._claim(connection, key, run_id=run_id, lease=lease)
        )

    def _claim(
        self, connection: sa.Connection, key: ClaimKey, *, run_id: str, lease: timedelta
    ) -> Claim | Held:
        first = decide_claim(None, key, run_id=run_id, lease=lease, now=None)
        if isinstance(first, Take) and self._is_first(connection, first.claim):
            return first.claim
        # From here on nobody renews, releases or takes it until the transaction ends.
        known = self._of(connection, key)
        # The clock is read after the wait for the lock.
        now = self._now(connection)
        decided = decide_claim(known, key, run_id=run_id, lease=lease, now=now)
        if isinstance(decided, Held):
            return decided
        if decided.lost is not None:
            # In this transaction: the run loses its right and its last word in one step.
            writing = cast("ReceiptStore", Writing(self._database, self._queries, connection))
            end_of_the_old_holder(writing, key, decided.lost, now=now)
        self._change(connection, key, **self._begun(decided.claim))
        return decided.claim

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew, if the claim is still this one."""

        def work(connection: sa.Connection) -> None:
            renewable(self._of(connection, claim.key), claim)
            until = self._dialect.now() + _micros(claim.lease)
            self._change(connection, claim.key, until=until)

        self._database.write(work, makes=False)

    def release(self, claim: Claim) -> None:
        """Give the right back; the row stays for its token."""

        def work(connection: sa.Connection) -> None:
            if own_claim(self._of(connection, claim.key), claim) is not None:
                self._change(connection, claim.key, is_open=False)

        self._database.write(work, makes=False)

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now; row and clock are read by one statement."""

        def work(connection: sa.Connection) -> Held | None:
            row = connection.execute(self._known, _named(key)).one_or_none()
            return None if row is None else holder_of(self._read(row, key), key, moment_of(row.now))

        return self._database.read(work)

    def _of(self, connection: sa.Connection, key: ClaimKey) -> KnownClaim | None:
        """What is on record of a key, which nobody else changes until the transaction ends."""
        row = connection.execute(self._locked, _named(key)).one_or_none()
        return None if row is None else self._read(row, key)

    def _read(self, row: Any, key: ClaimKey) -> KnownClaim:
        with reading_claim(f"{self._database.url}#{key.task}/{key.digest}"):
            return KnownClaim(
                run_id=row.run_id,
                token=row.token,
                claimed_at=moment_of(row.claimed_at),
                until=moment_of(row.until),
                is_open=row.is_open,
            )

    def _now(self, connection: sa.Connection) -> datetime:
        return moment_of(connection.execute(self._clock).scalar_one())

    def _is_first(self, connection: sa.Connection, claim: Claim) -> bool:
        """Insert the first claim of a key; False where there is one."""
        row = {"task": claim.key.task, "key": claim.key.digest, **self._begun(claim)}
        insert = self._dialect.insert(self._claims).values(row)
        return connection.execute(insert.returning(self._claims.c.token)).first() is not None

    def _begun(self, claim: Claim) -> dict[str, Any]:
        """The columns of a claim whose lease begins when they are written."""
        now = self._dialect.now()
        return {
            "run_id": claim.run_id,
            "token": claim.token,
            "claimed_at": now,
            "until": now + _micros(claim.lease),
            "is_open": True,
        }

    def _change(self, connection: sa.Connection, key: ClaimKey, **columns: Any) -> None:
        connection.execute(self._changed.values(**columns), _named(key))


def _named(key: ClaimKey) -> dict[str, str]:
    return {"of_task": key.task, "of_key": key.digest}


def _micros(lease: timedelta) -> int:
    return lease // timedelta(microseconds=1)
