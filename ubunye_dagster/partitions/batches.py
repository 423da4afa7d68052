"""From the partitions of a step to the variables of its run.

A run for a range of partitions (a single-run backfill) is for each of them: what is said here of
one partition is said of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import dagster as dg

from ubunye_core import ConfigError, Window
from ubunye_dagster.compat.context import partition_keys, partitions_definition
from ubunye_dagster.compat.keys import dimensions_of, time_window
from ubunye_dagster.partitions.variables import Partition, PartitionText, Variables


@dataclass(frozen=True)
class PartitionBatch:
    """The variables of a run for one partition, or of a run without partitions."""

    variables: Mapping[str, object]
    partition: Partition | None = None

    @property
    def window(self) -> Window | None:
        """The partition's time, where it is one."""
        return None if self.partition is None else self.partition.window


def batches_of(context: Any, variables: Variables | None) -> tuple[PartitionBatch, ...]:
    """The variables for each partition that a step runs for; one batch where there is none.

    Without ``variables`` the batch is the partition's key, as ``partition``, or its key in each
    dimension, by the dimension's name.
    """
    partitions = partitions_of(context)
    if not partitions:
        return (PartitionBatch(_variables(context, variables, None)),)
    if len(partitions) == 1:
        return (PartitionBatch(_variables(context, variables, partitions[0]), partitions[0]),)
    return tuple(
        PartitionBatch(_variables(ContextOfOne(context, each), variables, each), each)
        for each in partitions
    )


def partitions_of(context: Any) -> tuple[Partition, ...]:
    """The partitions that a step runs for."""
    keys = partition_keys(context)
    definition = partitions_definition(context) if keys else None
    return tuple(
        Partition(
            str(key),
            dimensions_of(definition, key),
            time_window(context, definition, key),
        )
        for key in keys
    )


def _variables(
    context: Any, variables: Variables | None, partition: Partition | None
) -> Mapping[str, object]:
    if callable(variables):
        return variables(context)
    if variables is None:
        if partition is None:
            return {}
        return dict(partition.dimensions) or {"partition": partition.key}
    return {name: _value(name, value, partition) for name, value in variables.items()}


def _value(name: str, value: object, partition: Partition | None) -> object:
    if not isinstance(value, PartitionText):
        return value
    if partition is None:
        raise ConfigError(
            f"The variable '{name}' is that of a partition, and this run has none.",
            hint="Launch it for a partition, or give the variable a value.",
        )
    return value.of(partition)


class ContextOfOne:
    """The context of a range of partitions, as if it were for one of them."""

    has_partition_key = True
    has_partition_key_range = False

    def __init__(self, context: Any, partition: Partition) -> None:
        self._context, self._partition = context, partition

    @property
    def partition_key(self) -> str:
        """The key of this partition."""
        return self._partition.key

    @property
    def partition_keys(self) -> list[str]:
        """The key of this partition alone."""
        return [self._partition.key]

    @property
    def partition_time_window(self) -> dg.TimeWindow | None:
        """The time of this partition."""
        return self._partition.period

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)
