"""Claims as rows that somebody else has changed."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from ubunye_core import StoreUnavailableError
from ubunye_core.stores import Claim, ClaimKey
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import A_TASK

OCTOBER = ClaimKey.of(A_TASK, {"month": "2026-10"})
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    "damage",
    [{"run_id": "../x"}, {"token": 0}, {"until": 2**62}, {"claimed_at": -(2**62)}],
    ids=str,
)
def test_a_claim_that_cannot_be_read_is_given_to_nobody(
    store: SqlStore, damage: dict[str, object]
) -> None:
    claim = store.claim(OCTOBER, run_id="run-1", lease=MINUTE)
    assert isinstance(claim, Claim)
    claims = store._database.tables.claims
    store._database.write(lambda connection: connection.execute(sa.update(claims).values(damage)))
    for ask in (
        lambda: store.claim(OCTOBER, run_id="run-2", lease=MINUTE),
        lambda: store.holder(OCTOBER),
        lambda: store.renew(claim),
        lambda: store.release(claim),
    ):
        with pytest.raises(StoreUnavailableError, match=r"cannot be read\. Remove it"):
            ask()
