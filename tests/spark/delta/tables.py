"""Tables for the tests, and rows that no writer of ours would append."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from ubunye_core import BadReceiptError
from ubunye_core.codec import decode
from ubunye_core.stores.events import Event, event_of, new_event_id
from ubunye_core.stores.spark import SparkStore, open_spark
from ubunye_core.stores.spark.table import Table

NOW = datetime(2026, 10, 16, tzinfo=UTC)

# Thousands of queries on a handful of rows: what helps a large one only costs here.
QUICK = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
}


def an_empty_store(table: str) -> SparkStore:
    """The store of a table, which it makes."""
    made = open_spark(f"spark:///{table}")
    Table(table).make()
    return made


def put(store: SparkStore, task: str, run_id: str, document: bytes) -> None:
    """Append a row with this document; its columns tell what the document tells."""
    text = document.decode("utf-8", "replace")
    try:
        row = event_of(decode(document, where="here"), replaces=None, saved_at=NOW)
    except BadReceiptError:
        row = Event(task=task, run_id=run_id, event=new_event_id(NOW, after=None))
    append(store, replace(row, task=task, run_id=run_id, document=text))


def append(store: SparkStore, *rows: Event) -> None:
    """Append rows as they are."""
    Table(store.url.rpartition("/")[2]).append(rows)
