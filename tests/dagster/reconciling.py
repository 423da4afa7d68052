"""What the tests of the sensor that ends receipts stand on: a tick of it, and runs that died."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pytest

from ubunye_core import Orchestrator, Receipt, ReceiptStore, Status
from ubunye_dagster import ReceiptStoreResource, build_reconcile_sensor, recorded
from ubunye_dagster.compat.runs import instance_id

TASK = "pay/monthly/calc"
Tick = Callable[..., Any]
Dies = Callable[..., Receipt]
Deleted = Callable[..., Receipt]


@pytest.fixture
def tick(receipts: Any, instance: dg.DagsterInstance) -> Tick:
    """Evaluate the sensor once."""

    def evaluate(
        cursor: str | None = None,
        *,
        resources: Any = receipts,
        at: dg.DagsterInstance = instance,
        **arguments: Any,
    ) -> Any:
        sensor = build_reconcile_sensor("ended", **arguments)
        context = dg.build_sensor_context(instance=at, cursor=cursor, resources=resources)
        return sensor.evaluate_tick(context)

    return evaluate


class DeadProcess(ReceiptStoreResource):
    """What a process that is killed writes: no end."""

    def get_store(self) -> Any:
        return WithoutEnds(super().get_store())


class WithoutEnds:
    def __init__(self, store: ReceiptStore) -> None:
        self._store = store

    def save(self, receipt: Receipt) -> None:
        if not receipt.status.is_final:
            self._store.save(receipt)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def dead(url: str) -> dict[str, Any]:
    return {"receipts": DeadProcess(url=url)}


@pytest.fixture
def dies(dead: Any, store: ReceiptStore, instance: dg.DagsterInstance) -> Dies:
    """A run of Dagster whose receipt says running, as if its process had been killed."""

    def run(*, fails: bool = True) -> Receipt:
        @dg.asset
        @recorded(TASK, variables={"month": "2024-10"})
        def calc(context: dg.AssetExecutionContext) -> None:
            if fails:
                raise ValueError("the data is bad")

        dg.materialize([calc], resources=dead, instance=instance, raise_on_error=False)
        return end_of(store)

    return run


def end_of(store: ReceiptStore) -> Receipt:
    (receipt,) = store.list_runs(TASK)
    return receipt


@pytest.fixture
def deleted(instance: dg.DagsterInstance, store: ReceiptStore) -> Deleted:
    """A receipt of a run that Dagster does not know any more."""

    def put_receipt(run_id: str, ago: timedelta, **ids: str | None) -> Receipt:
        of = {"instance": instance_id(instance), "run_id": f"of {run_id}", **ids}
        known = {name: text for name, text in of.items() if text is not None}
        receipt = Receipt(
            task=TASK,
            run_id=run_id,
            status=Status.RUNNING,
            started_at=datetime.now(UTC) - ago,
            orchestrator=Orchestrator(name="dagster", ids=known),
        )
        store.save(receipt)
        return receipt

    return put_receipt
