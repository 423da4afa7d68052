"""The example's definitions calculate a month, and pay it only when it is calculated."""

from __future__ import annotations

import shutil
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest

from example_dags import dagster_defs
from ubunye_core import open_store
from ubunye_dagster import ReceiptStoreResource

DATA = Path(dagster_defs.__file__).parent / "data"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(DATA / "people.csv", tmp_path)
    monkeypatch.setenv("PAY_DATA", str(tmp_path))
    monkeypatch.setenv("UBUNYE_STORE", str(tmp_path / "receipts"))
    (tmp_path / "receipts").mkdir()
    return tmp_path


def materialize(asset: str, month: str) -> bool:
    job = dagster_defs.defs.resolve_implicit_global_asset_job_def()
    run = job.execute_in_process(
        partition_key=f"{month}-01", asset_selection=[dg.AssetKey(asset)], raise_on_error=False
    )
    return bool(run.success)


def test_a_month_is_paid_only_when_it_has_been_calculated(data: Path) -> None:
    store = open_store()
    assert not materialize("send", "2026-09")
    assert store.list_runs("pay/monthly/send")[0].was_refused
    assert not (data / "out" / "send").exists()

    assert materialize("calc", "2026-09")
    assert not materialize("send", "2026-10")
    assert materialize("send", "2026-09")
    assert len(pd.read_csv(data / "out" / "send" / "2026-09.csv")) == 17

    (calculated,) = store.list_runs("pay/monthly/calc")
    paid = store.list_runs("pay/monthly/send")[0]
    assert calculated.outputs[0].data_hash == paid.inputs[0].data_hash
    assert [pin.run_id for pin in paid.upstreams] == [calculated.run_id]


def test_the_months_that_were_missed_are_requested_and_then_no_more(data: Path) -> None:
    def requested(instance: dg.DagsterInstance) -> list[str]:
        context = dg.build_sensor_context(
            instance=instance,
            repository_def=dagster_defs.defs.get_repository_def(),
            resources={"receipts": ReceiptStoreResource()},
        )
        tick = dagster_defs.catch_up.evaluate_tick(context)
        return [request.partition_key[:7] for request in tick.run_requests or []]

    with dg.DagsterInstance.ephemeral() as instance:
        first = requested(instance)
        assert first == sorted(first)
        assert 0 < len(first) <= 2
        assert requested(instance) == first
        assert materialize("calc", first[0])
        assert first[0] not in requested(instance)
