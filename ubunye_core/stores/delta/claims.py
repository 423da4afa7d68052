"""Claims: a small Delta table beside the receipts, with one row for each batch ever claimed.

What is written about a batch is elected by an app transaction of its own: of several that have
seen the same state, Delta lets one commit through.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from ubunye_core.errors import ConfigError
from ubunye_core.stores.claims import Claim, ClaimKey, Held, check_claim
from ubunye_core.stores.delta import sql, upkeep
from ubunye_core.stores.delta.place import Place
from ubunye_core.stores.delta.table import Shape, Snapshot, Table, until_it_holds
from ubunye_core.stores.events import PROPERTIES
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.refusals import claim_lost
from ubunye_core.stores.takeover import end_of_the_old_holder
from ubunye_core.times import utc_now

SUFFIX = "_claims"
_BUCKETS = 64

_SCHEMA = pa.schema(
    [
        ("bucket", pa.string()),
        ("task", pa.string()),
        ("claim", pa.string()),
        ("turn", pa.int64()),
        ("run_id", pa.string()),
        ("token", pa.int64()),
        ("claimed_at", pa.timestamp("us", tz="UTC")),
        ("held_until", pa.timestamp("us", tz="UTC")),
        ("is_open", pa.bool_()),
    ]
)


@dataclass(frozen=True, kw_only=True)
class _Claimed:
    """A claim on record; it stays when it is given back, for its token."""

    run_id: str
    token: int
    turn: int
    """Counts what was written about this batch."""
    claimed_at: datetime
    held_until: datetime
    is_open: bool = True

    def held(self, key: ClaimKey) -> Held:
        return Held(key=key, run_id=self.run_id, token=self.token, until=self.held_until)


class Claims:
    """The claims of a store. Leases are told by the clocks of those who claim."""

    def __init__(self, store: ReceiptStore, place: Place) -> None:
        self._store = store
        self._table = Table(place.beside(SUFFIX), _shape(place.beside(SUFFIX)))

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        check_claim(run_id, lease)

        def once() -> Claim | Held:
            with self._table.lock:
                self._table.made()
                known, now = self._known(key), utc_now()
                if known is not None and known.is_open and known.run_id != run_id:
                    if now < known.held_until:
                        return known.held(key)
                    end_of_the_old_holder(
                        self._store, known.held(key), claimed_at=known.claimed_at, now=now
                    )
                again = known is not None and known.is_open and known.run_id == run_id
                token = 1 if known is None else known.token + (not again)
                turn = 1 if known is None else known.turn + 1
                self._write(
                    key,
                    _Claimed(
                        run_id=run_id,
                        token=token,
                        turn=turn,
                        claimed_at=now,
                        held_until=now + lease,
                    ),
                )
                return Claim(key=key, run_id=run_id, token=token, lease=lease)

        return until_it_holds(self._table.place, once)

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""

        def once() -> None:
            with self._table.lock:
                known = self._own(claim)
                if known is None:
                    raise claim_lost(claim)
                until = utc_now() + claim.lease
                self._write(claim.key, replace(known, turn=known.turn + 1, held_until=until))

        until_it_holds(self._table.place, once)

    def release(self, claim: Claim) -> None:
        """Give the right back."""

        def once() -> None:
            with self._table.lock:
                known = self._own(claim)
                if known is not None:
                    self._write(claim.key, replace(known, turn=known.turn + 1, is_open=False))

        until_it_holds(self._table.place, once)

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now; None also where nothing was ever claimed."""
        with self._table.lock:
            if self._table.is_missing():
                return None
            known = self._known(key)
        is_held = known is not None and known.is_open and utc_now() < known.held_until
        return known.held(key) if known is not None and is_held else None

    def compact(self) -> None:
        """Join the files of the claims, if there are any."""
        with self._table.lock:
            if not self._table.is_missing():
                upkeep.compact(self._table)

    def _own(self, claim: Claim) -> _Claimed | None:
        """The claim on record, if it is still this one."""
        known = self._known(claim.key)
        return known if known and known.is_open and known.token == claim.token else None

    def _known(self, key: ClaimKey) -> _Claimed | None:
        """What is on record for a batch: of several rows, the one that was written last."""
        query = f"SELECT * FROM claims WHERE {_where(key)}"
        rows = list(Snapshot(self._table.place, self._table.now(), "claims").rows(query))
        if not rows:
            return None
        last = max(rows, key=lambda row: int(row["turn"]))
        return _Claimed(
            run_id=last["run_id"],
            token=last["token"],
            turn=last["turn"],
            claimed_at=last["claimed_at"],
            held_until=last["held_until"],
            is_open=last["is_open"],
        )

    def _write(self, key: ClaimKey, claimed: _Claimed) -> None:
        row: dict[str, Any] = {
            "bucket": _bucket(key),
            "task": key.task,
            "claim": key.digest,
            "turn": claimed.turn,
            "run_id": claimed.run_id,
            "token": claimed.token,
            "claimed_at": claimed.claimed_at,
            "held_until": claimed.held_until,
            "is_open": claimed.is_open,
        }
        elected_by = {f"ubunye-receipts/claim/{key.task}/{key.digest}": claimed.turn}
        self._table.replace([row], where=_where(key), elected_by=elected_by)
        upkeep.after_an_append(self._table, ("bucket", _bucket(key)))


def _bucket(key: ClaimKey) -> str:
    """The part of the table that a batch is in: few batches are rewritten with it."""
    digest = hashlib.sha256(f"{key.task}/{key.digest}".encode()).digest()
    return f"{digest[0] % _BUCKETS:02}"


def _where(key: ClaimKey) -> str:
    parts = {"bucket": _bucket(key), "task": key.task, "claim": key.digest}
    return " AND ".join(f"{name} = {sql.quoted(text)}" for name, text in parts.items())


def _shape(place: Place) -> Shape:
    def check(found: Mapping[str, str]) -> None:
        if not set(_SCHEMA.names) <= found.keys():
            raise ConfigError(
                f"The Delta table at {place.url} is not a table of claims.",
                hint="The claims of a store are kept beside it; name another place for the store.",
            )

    properties = PROPERTIES | {"delta.dataSkippingStatsColumns": "task,claim"}
    return Shape(schema=_SCHEMA, partition_by="bucket", check=check, configuration=properties)
