"""Claims as rows of a Delta table that somebody else has written to."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from ubunye_core import StoreUnavailableError
from ubunye_core.stores import Claim, ClaimKey
from ubunye_core.stores.delta import open_delta
from ubunye_core.stores.delta.claims import SCHEMA
from ubunye_core.testing import A_TASK, a_receipt

OCTOBER = ClaimKey.of(A_TASK, {"month": "2026-10"})
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("column", ["turn", "run_id", "token", "held_until", "is_open"])
def test_a_claim_that_cannot_be_read_is_given_to_nobody(tmp_path: Path, column: str) -> None:
    store = open_delta(f"delta+file://{tmp_path}/receipts")
    store.save(a_receipt())
    claim = store.claim(OCTOBER, run_id="run-1", lease=MINUTE)
    assert isinstance(claim, Claim)
    table = DeltaTable(f"{tmp_path}/receipts_claims")
    row = pa.table(table.to_pyarrow_table()).to_pylist()[0]
    damaged = pa.Table.from_pylist([row | {"turn": 99} | {column: None}], schema=SCHEMA)
    write_deltalake(table, damaged, mode="append")
    for ask in (
        lambda: store.claim(OCTOBER, run_id="run-2", lease=MINUTE),
        lambda: store.holder(OCTOBER),
        lambda: store.renew(claim),
        lambda: store.release(claim),
    ):
        with pytest.raises(StoreUnavailableError, match=r"cannot be read\. Remove it"):
            ask()
