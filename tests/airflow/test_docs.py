"""The code of the how-to page is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from airflow.sdk import DAG, DagRunState

from tests.airflow.conftest import RunDag
from ubunye_core import ReceiptStore

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "airflow.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)


@pytest.mark.slow
def test_the_code_of_the_page_runs_and_the_payment_waits_for_the_calculation(
    store: ReceiptStore,
    store_url: str,
    tmp_path: Path,
    run_dag: RunDag,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("UBUNYE_STORE", store_url)
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"id": [1, 2]}).to_csv("people.csv", index=False)
    names: dict[str, Any] = {"__name__": "a_dag_file"}
    with DAG("page", schedule=None):
        for block in BLOCKS:
            exec(compile(block, str(PAGE), "exec"), names)
    assert len(BLOCKS) == 13
    gated = ("pay_calc", "pay_send", "pay_told")
    for dag_id in gated:  # without the key that the templates ask for
        assert run_dag(names[dag_id](), {}).state == DagRunState.FAILED
    assert "UndefinedError" in caplog.text
    assert not store.search()
    month = {"month": "2026-10"}
    for dag_id in gated:
        assert run_dag(names[dag_id](), month).state == DagRunState.SUCCESS
    assert [run.task for run in store.search()] == ["pay/monthly/send", "pay/monthly/calc"]
    assert store.search("pay/monthly/send")[0].upstreams[0].task == "pay/monthly/calc"
    assert run_dag(names["pay_report"](), month).returned == {"report": "2026-10"}
    (report,) = store.list_runs("pay/monthly/report")
    assert dict(report.variables) == month
    review = run_dag(names["pay_review"](), {})
    assert "pay/monthly/calc" in review.returned["how_reliable"]
    backfill = run_dag(names["backfill_missed_windows"](), {})
    missed = [each["conf"]["month"] for each in backfill.returned["missed"]]
    assert missed == sorted(missed)
    assert len(missed) in (1, 2)  # months that were due in 90 days of any clock
    assert "2026-10" not in missed
    assert (names["nightly"].cron, names["nightly"].of) == ("0 2 * * *", "previous")
