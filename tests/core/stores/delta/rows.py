"""Rows that no writer of ours would append."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
from deltalake import write_deltalake

from ubunye_core import BadReceiptError
from ubunye_core.codec import decode
from ubunye_core.stores.delta import DeltaStore
from ubunye_core.stores.delta.place import place_of
from ubunye_core.stores.delta.shape import of_events
from ubunye_core.stores.events import Event, event_of, new_event_id

NOW = datetime(2026, 10, 16, tzinfo=UTC)


def put(store: DeltaStore, task: str, run_id: str, document: bytes) -> None:
    """Append a row with this document; its columns tell what the document tells."""
    text = document.decode("utf-8", "replace")
    try:
        row = event_of(decode(document, where="here"), replaces=None, saved_at=NOW)
    except BadReceiptError:
        row = Event(task=task, run_id=run_id, event=new_event_id(NOW, after=None))
    append(store, replace(row, task=task, run_id=run_id, document=text))


def append(store: DeltaStore, *rows: Event) -> None:
    place = place_of(store.url)
    data = pa.Table.from_pylist([row.as_row() for row in rows], schema=of_events(place).schema)
    write_deltalake(place.uri, data, mode="append", storage_options=dict(place.options))
