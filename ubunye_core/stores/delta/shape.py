"""The table of events as Arrow sees it."""

from __future__ import annotations

import pyarrow as pa

from ubunye_core.stores.delta.place import Place
from ubunye_core.stores.delta.table import Shape
from ubunye_core.stores.events import COLUMNS, PARTITIONED_BY, PROPERTIES, Kind, check_columns

_IN_ARROW = {
    Kind.TEXT: pa.string(),
    Kind.NUMBER: pa.int64(),
    Kind.TIME: pa.timestamp("us", tz="UTC"),
    Kind.TEXTS: pa.map_(pa.string(), pa.string()),
}


def of_events(place: Place) -> Shape:
    """What the table of events at a place is made like."""
    return Shape(
        schema=pa.schema([(column.name, _IN_ARROW[column.kind]) for column in COLUMNS]),
        partition_by=PARTITIONED_BY,
        check=lambda found: check_columns(found, where=f"The Delta table at {place.url}"),
        configuration=PROPERTIES,
    )
