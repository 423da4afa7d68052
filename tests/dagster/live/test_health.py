"""A health check follows the receipts, wherever they come from."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.dagster.live.client import Client
from tests.dagster.live.conftest import finished
from ubunye_core import Receipt, ReceiptStore, Status

TASK = "pay/daily/rates"


def put(store: ReceiptStore, run_id: str, status: Status, started_ago: timedelta) -> None:
    started = datetime.now(UTC) - started_ago
    receipt = Receipt(task=TASK, run_id=run_id, status=status, started_at=started)
    store.save(replace(receipt, ended_at=started + timedelta(seconds=1)))


def test_a_check_of_freshness_fails_passes_fails_and_passes_again(
    client: Client, store: ReceiptStore
) -> None:
    def passes() -> tuple[bool, str]:
        run = client.launch("payment", "health")
        finished(client, run)
        check = client.check(TASK, "receipt_health")
        assert check["runId"] == run
        return check["evaluation"]["success"], check["evaluation"]["description"]

    put(store, "old", Status.SUCCESS, timedelta(hours=3))
    is_healthy, said = passes()
    assert not is_healthy
    assert "older than 1h" in said

    put(store, "fresh", Status.SUCCESS, timedelta(minutes=2))
    put(store, "old-and-late", Status.SUCCESS, timedelta(hours=4))
    assert passes()[0]

    put(store, "failed", Status.ERROR, timedelta(minutes=1))
    is_healthy, said = passes()
    assert not is_healthy
    assert "the latest failed" in said

    put(store, "mended", Status.SUCCESS, timedelta(seconds=30))
    assert passes()[0]
