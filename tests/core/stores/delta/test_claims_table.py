"""Claims as rows of a Delta table that somebody else has written to."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.core.stores.broken_claims import is_given_to_nobody, taken
from ubunye_core.stores.delta import open_delta
from ubunye_core.stores.delta.claims import SCHEMA
from ubunye_core.testing import a_receipt


@pytest.mark.parametrize("column", ["turn", "run_id", "token", "held_until", "is_open"])
def test_a_claim_that_cannot_be_read_is_given_to_nobody(tmp_path: Path, column: str) -> None:
    store = open_delta(f"delta+file://{tmp_path}/receipts")
    store.save(a_receipt())
    claim = taken(store)
    table = DeltaTable(f"{tmp_path}/receipts_claims")
    row = pa.table(table.to_pyarrow_table()).to_pylist()[0]
    damaged = pa.Table.from_pylist([row | {"turn": 99} | {column: None}], schema=SCHEMA)
    write_deltalake(table, damaged, mode="append")
    is_given_to_nobody(store, claim)
