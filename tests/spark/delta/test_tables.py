"""How the store treats the table: made by a writer, never by a reader; only its own columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.spark.delta.tables import append
from ubunye_core import ConfigError, Status, StoreUnavailableError
from ubunye_core.receipt import Window
from ubunye_core.stores.events import COLUMNS, PROPERTIES, event_of
from ubunye_core.stores.spark import SparkStore, open_spark
from ubunye_core.stores.spark.table import Table
from ubunye_core.testing import A_TASK, a_receipt, at

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
SECRET = "Wachtwoord-42"


def test_a_reader_makes_no_table_and_the_first_save_does(quick: Any, table: str) -> None:
    store = open_spark(f"spark:///{table}")
    for ask in (
        store.search,
        store.tasks,
        lambda: store.list_runs(A_TASK, 0),
        lambda: store.load(A_TASK, "run-1"),
        lambda: store.remove(A_TASK, ["run-1"]),
        store.compact,
    ):
        with pytest.raises(StoreUnavailableError, match="the first save makes the table"):
            ask()
    assert {finding.what: finding.good for finding in store.examine()}["write"] is False
    assert not quick.catalog.tableExists(table)
    store.save(a_receipt())
    (detail,) = quick.sql(f"DESCRIBE DETAIL {table}").collect()
    assert (detail.format, detail.partitionColumns) == ("delta", ["task"])
    assert (detail.minReaderVersion, detail.minWriterVersion) == (1, 2)
    assert PROPERTIES.items() <= detail.properties.items()
    assert [field.name for field in quick.table(table).schema] == [c.name for c in COLUMNS]


def test_a_schema_that_is_not_there_is_named_as_the_cause(quick: Any) -> None:
    store = open_spark("spark:///spark_catalog.nobody_has_this.receipts")
    with pytest.raises(StoreUnavailableError):
        store.search()
    with pytest.raises(StoreUnavailableError, match="CREATE SCHEMA"):
        store.save(a_receipt())


@pytest.mark.parametrize(
    "columns", ["task STRING, run_id INT", "id STRING", "started_at TIMESTAMP_NTZ"]
)
def test_another_table_is_refused_and_left_alone(quick: Any, table: str, columns: str) -> None:
    quick.sql(f"CREATE TABLE {table} ({columns}) USING delta")
    store = open_spark(f"spark:///{table}")
    for ask in (store.search, lambda: store.save(a_receipt()), store.tasks):
        with pytest.raises(ConfigError, match="is not a table of receipts"):
            ask()
    assert quick.table(table).count() == 0


def test_a_table_of_these_columns_that_is_not_of_delta_is_not_written(
    quick: Any, table: str
) -> None:
    other = f"{table}_as_parquet"
    Table(table).make()
    quick.sql(f"CREATE TABLE {other} USING parquet AS SELECT * FROM {table}")
    try:
        with pytest.raises(StoreUnavailableError):
            open_spark(f"spark:///{other}").save(a_receipt())
        assert quick.table(other).count() == 0
    finally:
        quick.sql(f"DROP TABLE {other}")


def test_instants_are_kept_whatever_the_zone_of_the_session(
    quick: Any, settings: Any, store: SparkStore
) -> None:
    started = at(0).replace(microsecond=123_457)
    receipt = a_receipt(started_at=started, window=Window(start=at(-60), end=at(0)))
    settings("spark.sql.session.timeZone", "Asia/Jakarta")
    store.save(receipt)
    settings("spark.sql.session.timeZone", "America/New_York")
    assert store.load(A_TASK, "run-1") == receipt
    assert list(store.search(A_TASK, since=started)) == [receipt]
    assert list(store.search(A_TASK, since=started.replace(microsecond=123_458))) == []
    assert store.settled([A_TASK])[A_TASK].window_end == at(0)
    micros = quick.table(store.url.rpartition("/")[2]).selectExpr("unix_micros(started_at)")
    assert micros.collect()[0][0] == int(at(0).timestamp()) * 1_000_000 + 123_457


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_answers_do_not_hang_on_ansi_mode(settings: Any, store: SparkStore, ansi: str) -> None:
    settings("spark.sql.ansi.enabled", ansi)
    store.save(a_receipt(variables={"month": "2026-10", "region": "eu"}))
    store.save(a_receipt(run_id="other", variables={}))
    assert [run.run_id for run in store.search(A_TASK, batch={"region": "eu"})] == ["run-1"]
    assert list(store.search(A_TASK, batch={"nobody": "eu"})) == []


def test_an_error_of_spark_is_told_by_its_name_and_shows_no_value(quick: Any, table: str) -> None:
    Table(table).make()
    view = f"{table.rpartition('.')[2]}_view"
    columns = ", ".join(
        f"CAST(raise_error('{SECRET}') AS STRING) AS document" if c.name == "document" else c.name
        for c in COLUMNS
    )
    append(open_spark(f"spark:///{table}"), event_of(a_receipt(), replaces=None, saved_at=at(0)))
    quick.sql(f"CREATE VIEW default.{view} AS SELECT {columns} FROM {table}")
    try:
        with pytest.raises(StoreUnavailableError, match="USER_RAISED_EXCEPTION") as failed:
            open_spark(f"spark:///default.{view}").search()
        assert SECRET not in str(failed.value)
        assert failed.value.__suppress_context__
    finally:
        quick.sql(f"DROP VIEW default.{view}")


def test_an_examination_leaves_no_trace_and_tells_what_is_not_given(
    quick: Any, table: str, store: SparkStore
) -> None:
    store.save(a_receipt())
    before = quick.sql(f"DESCRIBE HISTORY {table}").count()
    told = {finding.what: finding for finding in store.examine()}
    assert quick.sql(f"DESCRIBE HISTORY {table}").count() == before
    assert told["write"].good is True
    assert told["claim"].good is None
    assert "postgresql://" in told["claim"].why
    assert "1 files" in told["compact"].why


def test_compaction_joins_files_and_changes_no_answer(
    quick: Any, table: str, store: SparkStore
) -> None:
    running = a_receipt(status=Status.RUNNING)
    for minutes in range(4):
        store.save(replace(running, heartbeat_at=at(minutes)))
    store.save(a_receipt())
    before = list(store.search())
    store.compact()
    assert quick.sql(f"DESCRIBE DETAIL {table}").collect()[0].numFiles == 1
    assert list(store.search()) == before == [a_receipt()]
