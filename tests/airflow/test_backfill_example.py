"""The example DAG catches up exactly the months that were not calculated."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.airflow.conftest import RunDag
from tests.airflow.test_examples import EXAMPLES, example
from ubunye_core import Receipt, ReceiptStore, Status


@pytest.fixture
def months(
    store: ReceiptStore, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """July and September 2024 are calculated, and the data of all months is there."""
    monkeypatch.setenv("UBUNYE_STORE", store_url)
    monkeypatch.setenv("PAY_DATA", str(tmp_path))
    shutil.copy(EXAMPLES / "data" / "people.csv", tmp_path)
    for month in (7, 9):
        receipt = Receipt(
            task="pay/monthly/calc",
            run_id=f"r-{month}",
            status=Status.SUCCESS,
            started_at=datetime(2024, month + 1, 1, tzinfo=UTC),
            ended_at=datetime(2024, month + 1, 1, 0, 5, tzinfo=UTC),
            variables={"month": f"2024-{month:02}"},
        )
        store.save(receipt)


@pytest.mark.slow
@pytest.mark.usefixtures("months")
def test_the_months_that_were_missed_are_triggered_calculated_and_not_missed_any_more(
    store: ReceiptStore, run_dag: RunDag
) -> None:
    backfill, calc = example("backfill_missed_windows"), example("pay_calc")
    assert run_dag(calc, {"month": "2024-07"}).state == "success"  # it is known to Airflow
    since = {"since": "2024-06-15T00:00:00Z"}

    def handed_on() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = run_dag(backfill, since).returned["missed"]
        return found

    ended = run_dag(backfill, since)
    assert ended.states["catch_up[0]"] == "success"
    first = ended.returned["missed"]
    assert [each["conf"]["month"] for each in first] == ["2024-06", "2024-08"]
    assert handed_on() == []  # they are queued
    for each in first:
        assert run_dag(calc, each["conf"]).state == "success"
    newest = store.list_runs("pay/monthly/calc")[0]
    assert newest.variables == {"month": "2024-08"}
    assert newest.window is not None
    assert newest.window.time_zone == "Africa/Johannesburg"
    assert newest.triggered_by is not None
    assert newest.triggered_by.reason == "catch-up of 2024-08, which was missing"
    assert {each["conf"]["month"] for each in handed_on()}.isdisjoint({"2024-06", "2024-08"})
