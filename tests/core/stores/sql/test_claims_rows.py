"""Claims as rows that somebody else has changed."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.core.stores.broken_claims import is_given_to_nobody, taken
from ubunye_core.stores.sql.store import SqlStore


@pytest.mark.parametrize(
    "damage",
    [{"run_id": "../x"}, {"token": 0}, {"until": 2**62}, {"claimed_at": -(2**62)}],
    ids=str,
)
def test_a_claim_that_cannot_be_read_is_given_to_nobody(
    store: SqlStore, damage: dict[str, object]
) -> None:
    claim = taken(store)
    claims = store._database.tables.claims
    store._database.write(lambda connection: connection.execute(sa.update(claims).values(damage)))
    is_given_to_nobody(store, claim)
