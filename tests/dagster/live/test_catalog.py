"""Receipts of other places come into Dagster's catalog, each once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.dagster.live.client import Client
from tests.dagster.live.conftest import A_WHILE, two_ticks_after
from tests.dagster.live.server import until
from ubunye_core import Receipt, ReceiptStore, Status

SENSOR = ("payment", "news_to_catalog")
TASK = "news/daily/letter"


def put(store: ReceiptStore, run_id: str, started_ago: timedelta) -> None:
    started = datetime.now(UTC) - started_ago
    receipt = Receipt(task=TASK, run_id=run_id, status=Status.SUCCESS, started_at=started)
    store.save(replace(receipt, ended_at=started + timedelta(seconds=1)))


def test_receipts_are_reported_once_also_without_a_cursor_and_an_old_one_is_not_the_latest(
    client: Client, store: ReceiptStore
) -> None:
    put(store, "newer", timedelta(hours=1))
    put(store, "older", timedelta(hours=2))
    client.turn_on(*SENSOR)

    def reported(kind: str) -> list[str]:
        return client.reported(TASK)[f"asset{kind}"]

    until(
        lambda: len(reported("Materializations")) >= 2,
        within=A_WHILE,
        what=lambda: f"two materialisations; ticks: {client.ticks(*SENSOR)[-3:]}",
    )
    put(store, "old-and-late", timedelta(hours=3))
    until(
        lambda: reported("Observations"),
        within=A_WHILE,
        what=lambda: f"an observation; ticks: {client.ticks(*SENSOR)[-3:]}",
    )
    client.wipe_cursor(*SENSOR)
    two_ticks_after(client, *SENSOR, client.last_tick(*SENSOR))
    assert reported("Materializations") == ["newer", "older"]
    assert reported("Observations") == ["old-and-late"]
