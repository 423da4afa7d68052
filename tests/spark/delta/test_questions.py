"""A run is recorded through Spark, and the questions are answered from the table."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.javas import java_homes
from tests.spark.programs import report_of
from ubunye_core import (
    Status,
    Verdict,
    check_upstream,
    fingerprint,
    job_health,
    open_store,
    record_run,
)
from ubunye_core.stores.spark import open_spark
from ubunye_core.testing import A_TASK

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "spark-store.md"
CODE = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
OUTPUT = re.findall(r"^```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)


def test_a_run_that_is_recorded_as_on_databricks_answers_the_questions(
    quick: Any, table: str
) -> None:
    url = f"spark:///{table}"
    variables = {"month": "2026-10"}
    people = quick.createDataFrame([(1, 20), (2, 17)], "id int, age int")
    with record_run(A_TASK, variables=variables, store=url) as run:
        run.read("people", people)
        under_way = open_store(url).load(A_TASK, run.run_id)
    assert under_way.status is Status.RUNNING
    assert under_way.heartbeat_every == timedelta(minutes=10)
    (receipt,) = open_store(url).search(A_TASK)
    assert receipt.status is Status.SUCCESS
    assert receipt.inputs[0].data_hash == fingerprint(people).data_hash
    assert check_upstream([A_TASK], variables=variables, store=url).verdict is Verdict.PASS
    other = check_upstream([A_TASK], variables={"month": "2026-11"}, store=url)
    assert other.verdict is Verdict.FAIL
    assert job_health(A_TASK, store=url).verdict is Verdict.PASS
    with pytest.raises(ZeroDivisionError), record_run(A_TASK, variables=variables, store=url):
        raise ZeroDivisionError
    assert job_health(A_TASK, store=url).verdict is Verdict.FAIL
    assert check_upstream([A_TASK], variables=variables, store=url).verdict is Verdict.PASS
    assert check_upstream(["pay/*/*"], variables=variables, store=url).verdict is Verdict.PASS


def test_a_table_that_is_not_there_leaves_the_questions_open(quick: Any, table: str) -> None:
    answer = check_upstream([A_TASK], variables={"month": "1"}, store=f"spark:///{table}")
    assert answer.verdict is Verdict.UNKNOWN
    assert "cannot be read through Spark" in answer.reason


def test_through_spark_connect_it_is_the_same_store(delta: Any, tmp_path: Path) -> None:
    report = report_of("delta.connect", tmp_path, java_home=next(iter(java_homes().values())))
    assert report["session"] == "pyspark.sql.connect.session"
    assert report["absent"] == "NoTableError"
    assert report["runs"] == ["b", "a"]
    assert report["loaded"] is True
    assert report["refused"] == "ReceiptConflictError"
    assert report["elected"] == [1, 1, 1]
    assert report["success"] == ["b", "a"]
    assert report["settled"] == []
    assert report["many"] == 4
    assert report["removed"] == [2, 2]
    assert report["verdict"] == "PASS"


def test_the_code_of_the_page_runs_and_prints_what_it_says(
    quick: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    quick.sql("CREATE SCHEMA IF NOT EXISTS ops")
    try:
        page = "".join(CODE).replace("spark:///main.ops.", "spark:///spark_catalog.ops.")
        exec(compile(page, PAGE.name, "exec"), {"spark": quick})
        assert capsys.readouterr().out == "".join(OUTPUT)
        assert open_spark("spark:///ops.receipts").tasks() == [A_TASK]
    finally:
        quick.sql("DROP SCHEMA ops CASCADE")
