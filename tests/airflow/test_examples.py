"""Each example DAG runs to its end, by ``dag.test()``."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG

from tests.airflow.conftest import RunDag
from ubunye_core import ReceiptStore, Status

EXAMPLES = Path(__file__).parents[2] / "example_dags"
MONTH = {"month": "2026-08"}
CONF: dict[str, dict[str, Any]] = {
    "pay_calc": MONTH,
    "pay_send": MONTH,
    "backfill_missed_windows": {"since": "2026-08-15T00:00:00Z"},
}
"""In an order in which each finds what it needs."""


def example(name: str) -> DAG:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / "airflow" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: DAG = module.dag
    return found


def test_every_example_is_run_here() -> None:
    assert set(CONF) == {file.stem for file in (EXAMPLES / "airflow").glob("*.py")}


@pytest.mark.slow
def test_each_example_dag_runs_to_its_end(
    store: ReceiptStore,
    store_url: str,
    run_dag: RunDag,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UBUNYE_STORE", store_url)
    monkeypatch.setenv("PAY_DATA", str(tmp_path))
    shutil.copy(EXAMPLES / "data" / "people.csv", tmp_path)
    for name, conf in CONF.items():
        ended = run_dag(example(name), conf)
        assert ended.state == "success", (name, ended.errors)
    (calculated,), (sent,) = (
        store.list_runs("pay/monthly/calc"),
        store.list_runs("pay/monthly/send"),
    )
    assert (calculated.status, sent.status) == (Status.SUCCESS, Status.SUCCESS)
    assert [pin.run_id for pin in sent.upstreams] == [calculated.run_id]
