"""Each example DAG runs to its end, by ``dag.test()``."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import ParamValidationError

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


@pytest.mark.parametrize("name", ["pay_calc", "pay_send"])
@pytest.mark.parametrize("month", [None, "August", "2026-8"])
def test_the_form_of_an_example_asks_for_the_month(name: str, month: str | None) -> None:
    params = example(name).params
    if month is None:
        with pytest.raises(ParamValidationError, match="month: No value passed"):
            params.validate()
    else:
        with pytest.raises(ParamValidationError, match="does not match"):
            params["month"] = month
    params["month"] = "2026-08"
    assert params.validate() == MONTH


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
