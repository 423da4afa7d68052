"""delta-rs and Spark write and read one table, and answer alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ubunye_core import ReceiptConflictError, Status, open_store
from ubunye_core.receipt import Orchestrator, Receipt, Window
from ubunye_core.stores.delta import DeltaStore
from ubunye_core.stores.spark import SparkStore, open_spark
from ubunye_core.testing import A_TASK, a_receipt, a_step, at

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ATTEMPT = Orchestrator(name="airflow", ids={"run": "s-1"}, attempt=1)
SEND = "pay/monthly/send"


def some_runs() -> list[Receipt]:
    running = a_receipt(run_id="b", started_at=at(1), status=Status.RUNNING, variables={})
    return [
        a_receipt(
            variables={"month": "2026-10", "city": "Kraków ☂", "quote": 'it\'s "so"; --\n\ud800'},
            started_at=at(0).replace(microsecond=123_457),
            window=Window(start=at(-60), end=at(0)),
            inputs=(a_step(),),
            extra={"engine_version": "9.9"},
            orchestrator=ATTEMPT,
        ),
        running,
        replace(running, heartbeat_at=at(5)),
        a_receipt(run_id="c", started_at=at(2), status=Status.ERROR, error="Δ"),
        a_receipt(run_id="d", started_at=at(3), variables={"month": "2026-09"}),
        a_receipt(task=SEND),
    ]


QUESTIONS: dict[str, Callable[[Any], object]] = {
    "all": lambda store: list(store.search()),
    "newest": lambda store: list(store.list_runs(A_TASK, 2)),
    "status": lambda store: list(store.search(A_TASK, Status.SUCCESS)),
    "since": lambda store: list(store.search(since=at(2))),
    "batch": lambda store: list(store.search(A_TASK, batch={"month": "2026-10"})),
    "text": lambda store: list(store.search(A_TASK, batch={"city": "Kraków ☂"})),
    "load": lambda store: store.load(A_TASK, "run"),
    "tasks": lambda store: store.tasks(),
    "settled": lambda store: store.settled([A_TASK, SEND]),
    "success": lambda store: list(
        store.success_by_batch(A_TASK, {"month": "2026-09"}, whole=True) or ()
    ),
    "attempt": lambda store: list(store.of_attempt(A_TASK, ATTEMPT)),
    "scan": lambda store: sorted(run.run_id for run in store.scan(A_TASK)),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "receipts"


@pytest.fixture
def by_rust(folder: Path) -> DeltaStore:
    made = open_store(f"delta+file://{folder}")
    assert isinstance(made, DeltaStore)
    made.save_many([])
    return made


@pytest.fixture
def by_spark(quick: Any, table: str, by_rust: DeltaStore, folder: Path) -> SparkStore:
    quick.sql(f"CREATE TABLE {table} USING delta LOCATION 'file://{folder}'")
    return open_spark(f"spark:///{table}")


@pytest.mark.parametrize("writer", ["delta-rs", "spark"])
def test_both_give_the_same_answers_whoever_wrote(
    by_rust: DeltaStore, by_spark: SparkStore, writer: str
) -> None:
    written = by_rust if writer == "delta-rs" else by_spark
    for receipt in some_runs():
        written.save(receipt)
    for name, ask in QUESTIONS.items():
        assert ask(by_spark) == ask(by_rust), name
    assert len(by_spark.search()) == 5
    assert by_spark.load(A_TASK, "b").heartbeat_at == at(5)


def test_each_keeps_the_rules_about_ends_over_the_other(
    by_rust: DeltaStore, by_spark: SparkStore
) -> None:
    for number, (first, second) in enumerate([(by_rust, by_spark), (by_spark, by_rust)]):
        run_id = f"r{number}"
        first.save(a_receipt(run_id=run_id, status=Status.RUNNING))
        second.save(a_receipt(run_id=run_id, status=Status.INTERRUPTED, ended_by="close"))
        first.save(a_receipt(run_id=run_id))
        with pytest.raises(ReceiptConflictError):
            second.save(a_receipt(run_id=run_id, status=Status.ERROR))
        for store in (first, second):
            assert store.load(A_TASK, run_id) == a_receipt(run_id=run_id)


def test_each_reads_on_after_the_other_has_compacted_and_removed(
    by_rust: DeltaStore, by_spark: SparkStore
) -> None:
    for receipt in some_runs():
        by_rust.save(receipt)
    by_spark.compact()
    assert list(by_rust.search()) == list(by_spark.search())
    assert by_spark.remove(A_TASK, ["c", "nobody"]) == 1
    by_rust.compact()
    assert [run.run_id for run in by_spark.search(A_TASK)] == ["d", "b", "run-1"]
    assert list(by_rust.search()) == list(by_spark.search())


def test_a_table_that_spark_made_is_one_for_delta_rs(quick: Any, table: str) -> None:
    by_spark = open_spark(f"spark:///{table}")
    by_spark.save(a_receipt(status=Status.RUNNING))
    (detail,) = quick.sql(f"DESCRIBE DETAIL {table}").collect()
    by_rust = open_store(f"delta+{detail.location.replace('file:', 'file://', 1)}")
    by_rust.save(a_receipt())
    assert by_spark.load(A_TASK, "run-1") == by_rust.load(A_TASK, "run-1") == a_receipt()
