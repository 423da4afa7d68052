"""Keys of partitions: which there are, their times, and their dimensions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import dagster as dg

from ubunye_dagster.compat.context import partition_keys


def time_window(
    context: Any, definition: dg.PartitionsDefinition | None, key: str
) -> dg.TimeWindow | None:
    """The period of one partition; None where its keys are no times.

    The context's own window spans all keys of a range, so the definition is asked first.
    """
    if isinstance(definition, dg.MultiPartitionsDefinition):
        return definition.time_window_for_partition_key(key) if _has_time(definition) else None
    if isinstance(definition, dg.TimeWindowPartitionsDefinition):
        return definition.time_window_for_partition_key(key)
    if definition is not None or len(partition_keys(context)) != 1:
        return None
    try:
        found: dg.TimeWindow = context.partition_time_window
    except dg.DagsterError:
        return None
    return found


def dimensions_of(definition: dg.PartitionsDefinition | None, key: str) -> dict[str, str]:
    """The key of each dimension of a multi-partition key; nothing for any other key."""
    if isinstance(key, dg.MultiPartitionKey):
        return dict(key.keys_by_dimension)
    if not isinstance(definition, dg.MultiPartitionsDefinition):
        return {}
    try:
        return dict(definition.get_partition_key_from_str(key).keys_by_dimension)
    except Exception:  # Dagster's CheckError has no public name
        return {}


def _has_time(definition: dg.MultiPartitionsDefinition) -> bool:
    return definition.has_time_window_dimension


def is_known_key(definition: dg.PartitionsDefinition, key: str, instance: Any) -> bool:
    """Whether a definition has this key now.

    A run request for a key that it does not have loses the whole tick. Keys that are added while
    Dagster runs are in its instance.
    """
    with dg.partition_loading_context(dynamic_partitions_store=instance):
        try:
            return definition.has_partition_key(key)
        except dg.DagsterError:  # a key of other dimensions
            return False


def is_before_the_first(definition: dg.PartitionsDefinition, key: str) -> bool:
    """Whether a key is older than all that a definition has: it will never have it."""
    if isinstance(definition, dg.MultiPartitionsDefinition):
        parts = dimensions_of(definition, key)
        return any(
            is_before_the_first(each.partitions_def, parts[each.name])
            for each in definition.partitions_defs
            if each.name in parts
        )
    if not isinstance(definition, dg.TimeWindowPartitionsDefinition):
        return False
    try:
        return definition.time_window_for_partition_key(key).start < definition.start
    except ValueError:  # no time is written so
        return True


def key_of_period(
    definition: dg.TimeWindowPartitionsDefinition, start: datetime, end: datetime
) -> str | None:
    """The key of the partition that is exactly this period, whether it exists (yet) or not.

    Dagster writes the hours that a zone shows twice in a way of its own, so it writes the key.
    """
    key = definition.get_partition_key_for_timestamp(start.timestamp())
    found = definition.time_window_for_partition_key(key)
    is_same = (found.start.timestamp(), found.end.timestamp()) == (
        start.timestamp(),
        end.timestamp(),
    )
    return key if is_same else None


def keys_of_period(
    definition: dg.TimeWindowPartitionsDefinition, start: datetime, end: datetime, *, at_most: int
) -> tuple[str, ...]:
    """The keys of the partitions that lie wholly inside a period, whether they exist (yet) or not.

    None of them where there are more than so many. Instants are compared in UTC: two in a zone
    that shows an hour twice are not in order.
    """
    keys: list[str] = []
    at, last = start.timestamp(), end.timestamp()
    while at < last:
        key = definition.get_partition_key_for_timestamp(at)
        found = definition.time_window_for_partition_key(key)
        first, at = found.start.timestamp(), max(found.end.timestamp(), at + 1)
        if first >= start.timestamp() and found.end.timestamp() <= last:
            keys.append(key)
        if len(keys) > at_most:
            return ()
    return tuple(keys)
