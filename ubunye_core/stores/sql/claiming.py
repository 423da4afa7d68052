"""Claims as rows, changed in transactions; whether a lease is over is told by the database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import sqlalchemy as sa

from ubunye_core.stores.claims import Claim, ClaimKey, Held
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.refusals import claim_lost
from ubunye_core.stores.sql.database import Database
from ubunye_core.stores.sql.rows import moment_of
from ubunye_core.stores.sql.writing import Writing
from ubunye_core.stores.takeover import end_of_the_old_holder


class Claiming:
    """The claims in a database."""

    def __init__(self, database: Database) -> None:
        self._dialect, self._claims = database.dialect, database.tables.claims
        claims = self._claims.c
        told = (claims.run_id, claims.token, claims.claimed_at, claims.until, claims.is_open)
        here = (claims.task == sa.bindparam("task"), claims.key == sa.bindparam("key"))
        now = self._dialect.now().label("now")
        self._locked = sa.select(*told).where(*here).with_for_update()
        self._known = sa.select(*told, now).where(*here)

    def claim(
        self, writing: Writing, key: ClaimKey, *, run_id: str, lease: timedelta
    ) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        connection = writing.connection
        won = Claim(key=key, run_id=run_id, token=1, lease=lease)
        if self._first(connection, won):
            return won
        # From here on nobody renews, releases or takes it until the transaction ends.
        known = connection.execute(self._locked, _of(key)).one()
        # The clock is read after the wait for the lock.
        now = connection.execute(sa.select(self._dialect.now())).scalar_one()
        if known.is_open and known.run_id != run_id:
            held = _held(key, known)
            if now < known.until:
                return held
            # In this transaction: the run loses its right and its last word in one step.
            end_of_the_old_holder(
                cast("ReceiptStore", writing),
                held,
                claimed_at=moment_of(known.claimed_at),
                now=moment_of(now),
            )
        again = known.is_open and known.run_id == run_id
        won = Claim(
            key=key, run_id=run_id, token=known.token if again else known.token + 1, lease=lease
        )
        self._set(connection, won, now)
        return won

    def renew(self, connection: sa.Connection, claim: Claim) -> None:
        """Begin the lease anew, if the claim is still this one."""
        until = self._dialect.now() + _micros(claim.lease)
        changed = self._claims.update().where(*self._own(claim)).values(until=until)
        if not self._changes(connection, changed):
            raise claim_lost(claim)

    def release(self, connection: sa.Connection, claim: Claim) -> None:
        """Give the right back; the row stays for its token."""
        connection.execute(self._claims.update().where(*self._own(claim)).values(is_open=False))

    def holder(self, connection: sa.Connection, key: ClaimKey) -> Held | None:
        """Who has the right now."""
        known = connection.execute(self._known, _of(key)).one_or_none()
        is_held = known is not None and known.is_open and known.now < known.until
        return _held(key, known) if is_held else None

    def _first(self, connection: sa.Connection, won: Claim) -> bool:
        """Insert the first claim of a key; False where there is one."""
        now = self._dialect.now()
        row = {
            "task": won.key.task,
            "key": won.key.digest,
            "run_id": won.run_id,
            "token": won.token,
            "claimed_at": now,
            "until": now + _micros(won.lease),
            "is_open": True,
        }
        return self._changes(connection, self._dialect.insert(self._claims).values(row))

    def _set(self, connection: sa.Connection, won: Claim, now: int) -> None:
        here = (self._claims.c.task == won.key.task, self._claims.c.key == won.key.digest)
        connection.execute(
            self._claims.update()
            .where(*here)
            .values(
                run_id=won.run_id,
                token=won.token,
                claimed_at=now,
                until=now + _micros(won.lease),
                is_open=True,
            )
        )

    def _own(self, claim: Claim) -> tuple[sa.ColumnElement[bool], ...]:
        """The row of a claim, while it is this one."""
        claims = self._claims.c
        return (
            claims.task == claim.key.task,
            claims.key == claim.key.digest,
            claims.token == claim.token,
            claims.is_open,
        )

    def _changes(self, connection: sa.Connection, statement: Any) -> bool:
        """Whether a statement that changes one row found it."""
        return connection.execute(statement.returning(self._claims.c.token)).first() is not None


def _of(key: ClaimKey) -> dict[str, str]:
    return {"task": key.task, "key": key.digest}


def _held(key: ClaimKey, known: Any) -> Held:
    return Held(key=key, run_id=known.run_id, token=known.token, until=moment_of(known.until))


def _micros(lease: timedelta) -> int:
    return lease // timedelta(microseconds=1)
