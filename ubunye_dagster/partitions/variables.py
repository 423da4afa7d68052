"""Which variables a partition is named by: ``partition_format``, ``partition_key``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from ubunye_core import ConfigError, Window


@dataclass(frozen=True)
class Partition:
    """One partition that a step runs for."""

    key: str
    dimensions: Mapping[str, str] = field(default_factory=dict)
    """The key of each dimension, where there are several."""
    period: dg.TimeWindow | None = None
    """Its time, in the zone of its definition."""

    @property
    def window(self) -> Window | None:
        """Its time, as a receipt has it."""
        if self.period is None:
            return None
        return Window(
            start=self.period.start, end=self.period.end, time_zone=_zone(self.period.start)
        )


@dataclass(frozen=True)
class PartitionText:
    """The text that a variable has for a partition: made by ``partition_format`` and its like."""

    format: str | None = None
    """How to write the time at which the partition starts; None takes the key as it is."""
    dimension: str | None = None

    def of(self, partition: Partition) -> str:
        """The variable's text.

        Raises:
            ConfigError: the partition has no such dimension, or no time.
        """
        if self.format is not None and self.dimension is None:
            if partition.period is None:
                raise ConfigError(
                    f"The partition '{partition.key}' has no time to be written as {self.format}.",
                    hint="Use partition_key() for keys that are no times.",
                )
            return partition.period.start.strftime(self.format)
        if self.dimension is None:
            return str(partition.key)
        if self.dimension not in partition.dimensions:
            raise ConfigError(
                f"The partition '{partition.key}' has no dimension '{self.dimension}'.",
                hint=f"It has: {', '.join(partition.dimensions) or 'none'}.",
            )
        return partition.dimensions[self.dimension]


def partition_format(format: str) -> PartitionText:
    """A variable whose text is the start of the partition's time, such as ``%Y-%m``.

    Dagster writes the key of a month as ``2026-10-01`` unless its definition has a ``fmt``, so
    the key itself is often not the text that other schedulers use. Of several dimensions, the one
    that is a time is taken. The time is that of the definition's own time zone.
    """
    return PartitionText(format=format)


def partition_key(dimension: str | None = None) -> PartitionText:
    """A variable whose text is the partition's key, or its key in one dimension."""
    return PartitionText(dimension=dimension)


def usual_variables(definition: dg.PartitionsDefinition) -> dict[str, PartitionText]:
    """The variables that a run for a partition has where none are given, as ``batches_of`` does."""
    if isinstance(definition, dg.MultiPartitionsDefinition):
        return {name: partition_key(name) for name in definition.partition_dimension_names}
    return {"partition": partition_key()}


Variables = Mapping[str, object] | Callable[[Any], Mapping[str, object]]
"""Names and values, of which some may be ``partition_format(...)`` or ``partition_key(...)``; or a
function of Dagster's context. For a range of partitions the function is called for each, with a
context that knows only that one."""


def _zone(moment: datetime) -> str | None:
    if moment.tzinfo is UTC:
        return "UTC"
    name = getattr(moment.tzinfo, "key", None)
    return str(name) if name else None
