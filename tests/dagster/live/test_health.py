"""A health check follows the receipts, wherever they come from."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.dagster.live.client import Client
from tests.dagster.live.conftest import A_WHILE
from tests.dagster.live.server import until
from ubunye_core import Receipt, ReceiptStore, Status

SENSOR = ("payment", "rates_to_catalog")
TASK = "pay/daily/rates"


def put(store: ReceiptStore, run_id: str, status: Status, started_ago: timedelta) -> None:
    started = datetime.now(UTC) - started_ago
    receipt = Receipt(task=TASK, run_id=run_id, status=status, started_at=started)
    store.save(replace(receipt, ended_at=started + timedelta(seconds=1)))


def test_a_check_of_freshness_fails_passes_fails_and_passes_again(
    client: Client, store: ReceiptStore
) -> None:
    def says(passes: bool, why: str) -> None:
        def holds() -> bool:
            last = client.check(TASK, "receipt_health").get("evaluation")
            return bool(last) and last["success"] is passes and why in last["description"]

        until(
            holds,
            within=A_WHILE,
            what=lambda: (
                f"{why}; {client.check(TASK, 'receipt_health')}, "
                f"ticks: {client.ticks(*SENSOR)[-3:]}"
            ),
        )

    put(store, "old", Status.SUCCESS, timedelta(hours=3))
    client.turn_on(*SENSOR)
    says(False, "older than 1h")
    put(store, "fresh", Status.SUCCESS, timedelta(minutes=2))
    put(store, "old-and-late", Status.SUCCESS, timedelta(hours=4))
    says(True, "is healthy")
    put(store, "failed", Status.ERROR, timedelta(minutes=1))
    says(False, "run failed failed")
    put(store, "mended", Status.SUCCESS, timedelta(seconds=30))
    says(True, "is healthy")
