"""Claims: a small Delta table beside the receipts, with one row for each batch ever claimed.

What is written about a batch is elected by an app transaction of its own: of several that have
seen the same state, Delta lets one commit through.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa

from ubunye_core.errors import ConfigError
from ubunye_core.stores.claims import Claim, ClaimKey, Held
from ubunye_core.stores.deciding import (
    KnownClaim,
    decide_claim,
    holder_of,
    own_claim,
    reading_claim,
    renewable,
)
from ubunye_core.stores.delta import sql, upkeep
from ubunye_core.stores.delta.place import Place
from ubunye_core.stores.delta.table import Shape, Snapshot, Table, until_it_holds
from ubunye_core.stores.events import PROPERTIES
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.takeover import end_of_the_old_holder
from ubunye_core.times import utc_now

SUFFIX = "_claims"
_BUCKETS = 64

SCHEMA = pa.schema(
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


class Claims:
    """The claims of a store. Leases are told by the clocks of those who claim."""

    def __init__(self, store: ReceiptStore, place: Place) -> None:
        self._store = store
        self._table = Table(place.beside(SUFFIX), _shape(place.beside(SUFFIX)))

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""

        def once() -> Claim | Held:
            with self._table.lock:
                self._table.made()
                (known, turn), now = self._known(key), utc_now()
                decided = decide_claim(known, key, run_id=run_id, lease=lease, now=now)
                if isinstance(decided, Held):
                    return decided
                if decided.lost is not None:
                    end_of_the_old_holder(self._store, key, decided.lost, now=now)
                self._write(key, decided.begun_at(utc_now()), turn + 1)
                return decided.claim

        return until_it_holds(self._table.place, once)

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""

        def once() -> None:
            with self._table.lock:
                known, turn = self._known(claim.key)
                own = renewable(known, claim)
                self._write(claim.key, replace(own, until=utc_now() + claim.lease), turn + 1)

        until_it_holds(self._table.place, once)

    def release(self, claim: Claim) -> None:
        """Give the right back."""

        def once() -> None:
            with self._table.lock:
                known, turn = self._known(claim.key)
                own = own_claim(known, claim)
                if own is not None:
                    self._write(claim.key, replace(own, is_open=False), turn + 1)

        until_it_holds(self._table.place, once)

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now; None also where nothing was ever claimed."""
        with self._table.lock:
            if self._table.is_missing():
                return None
            known, _ = self._known(key)
        return holder_of(known, key, utc_now())

    def compact(self) -> None:
        """Join the files of the claims, if there are any."""
        with self._table.lock:
            if not self._table.is_missing():
                upkeep.compact(self._table)

    def _known(self, key: ClaimKey) -> tuple[KnownClaim | None, int]:
        """What is on record for a batch, and how often something was written about it.

        Of several rows, the one that was written last stands.
        """
        query = f"SELECT * FROM claims WHERE {_where(key)}"
        rows = list(Snapshot(self._table.place, self._table.now(), "claims").rows(query))
        if not rows:
            return None, 0
        with reading_claim(f"{self._table.place.url}#{key.task}/{key.digest}"):
            last = max(rows, key=lambda row: int(row["turn"]))
            known = KnownClaim(
                run_id=last["run_id"],
                token=last["token"],
                claimed_at=last["claimed_at"],
                until=last["held_until"],
                is_open=last["is_open"],
            )
            return known, int(last["turn"])

    def _write(self, key: ClaimKey, known: KnownClaim, turn: int) -> None:
        row: dict[str, Any] = {
            "bucket": _bucket(key),
            "task": key.task,
            "claim": key.digest,
            "turn": turn,
            "run_id": known.run_id,
            "token": known.token,
            "claimed_at": known.claimed_at,
            "held_until": known.until,
            "is_open": known.is_open,
        }
        elected_by = {f"ubunye-receipts/claim/{key.task}/{key.digest}": turn}
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
        if not set(SCHEMA.names) <= found.keys():
            raise ConfigError(
                f"The Delta table at {place.url} is not a table of claims.",
                hint="The claims of a store are kept beside it; name another place for the store.",
            )

    properties = PROPERTIES | {"delta.dataSkippingStatsColumns": "task,claim"}
    return Shape(schema=SCHEMA, partition_by="bucket", check=check, configuration=properties)
