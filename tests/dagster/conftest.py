"""A store in a folder, receipts in it, and a Dagster that keeps nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from ubunye_core import Receipt, ReceiptStore, Status, open_store
from ubunye_dagster import ReceiptStoreResource

DAY = datetime(2024, 10, 9, 6, tzinfo=UTC)
"""Long ago by any clock: a receipt from the future is not believed."""
Put = Callable[..., Receipt]


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / "receipts").mkdir()
    return str(tmp_path / "receipts")


@pytest.fixture
def store(url: str) -> ReceiptStore:
    return open_store(url)


@pytest.fixture
def receipts(url: str) -> dict[str, ReceiptStoreResource]:
    return {"receipts": ReceiptStoreResource(url=url)}


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def put(store: ReceiptStore) -> Put:
    """Put a receipt of pay/monthly/calc into the store."""

    def put_receipt(
        status: Status | str = Status.SUCCESS,
        *,
        task: str = "pay/monthly/calc",
        run_id: str = "r1",
        started_at: datetime = DAY,
        **variables: Any,
    ) -> Receipt:
        receipt = Receipt(
            task=task,
            run_id=run_id,
            status=Status(status),
            started_at=started_at,
            variables=variables,
        )
        if receipt.status.is_final:
            receipt = replace(receipt, ended_at=started_at + timedelta(minutes=5))
        store.save(receipt)
        return receipt

    return put_receipt
