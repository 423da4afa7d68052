"""Partitions, variables and requirements as they stand in a component's YAML."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import dagster as dg

from ubunye_core import ConfigError
from ubunye_dagster.partitions.variables import partition_format, partition_key

_BY_TIME = {
    "hourly": dg.HourlyPartitionsDefinition,
    "daily": dg.DailyPartitionsDefinition,
    "weekly": dg.WeeklyPartitionsDefinition,
    "monthly": dg.MonthlyPartitionsDefinition,
}


class GivenPartitions(dg.Model):
    """How a job or an asset is partitioned."""

    type: Literal["hourly", "daily", "weekly", "monthly", "static", "dynamic"]
    start_date: str | None = None
    end_date: str | None = None
    timezone: str | None = None
    fmt: str | None = None
    end_offset: int = 0
    partition_keys: Sequence[str] | None = None
    name: str | None = None
    """Of dynamic partitions."""


class GivenPartitionVariable(dg.Model):
    """A variable whose text is made of the partition: by one of both."""

    partition_format: str | None = None
    partition_key: str | bool | None = None
    """``true``, or a dimension."""


class GivenRequirement(dg.Model):
    """An upstream task, and when it counts."""

    task: str
    variables: Sequence[str] | Mapping[str, str] | None = None
    max_age: str | None = None
    on_failed: str | None = None
    optional: bool | None = None
    allow_unknown: bool | None = None


# No validators of ours: ``dg check yaml`` goes by the schema of these types alone.
GivenRequirements = str | GivenRequirement | list[str | GivenRequirement]
GivenVariables = dict[str, str | int | float | bool | GivenPartitionVariable]


def partitions_from(
    context: dg.ResolutionContext, given: GivenPartitions | None
) -> dg.PartitionsDefinition | None:
    """The definition that stands in the YAML.

    Raises:
        ConfigError: something is missing, or too much.
    """
    if given is None:
        return None
    told = {
        name: context.resolve_value(value)
        for name, value in given.model_dump(exclude_unset=True, exclude={"type"}).items()
    }
    makes: Any = {
        "static": dg.StaticPartitionsDefinition,
        "dynamic": dg.DynamicPartitionsDefinition,
        **_BY_TIME,
    }
    needed = {"static": "partition_keys", "dynamic": "name"}.get(given.type, "start_date")
    fitting = {needed}
    if given.type in _BY_TIME:
        fitting = {"start_date", "end_date", "timezone", "fmt", "end_offset"}
    if needed not in told or not told.keys() <= fitting:
        raise ConfigError(
            f"Partitions that are {given.type} are not given by {', '.join(told) or 'nothing'}.",
            hint=f"Needed is {needed}; there may be: {', '.join(sorted(fitting))}.",
        )
    made: dg.PartitionsDefinition = makes[given.type](**told)
    return made


def variables_from(
    context: dg.ResolutionContext, given: Mapping[str, Any] | None
) -> Mapping[str, object] | None:
    """The variables that stand in the YAML.

    Raises:
        ConfigError: one is to be made of a partition in two ways, or in none.
    """
    if given is None:
        return None
    return {name: _variable(name, value, context) for name, value in given.items()}


def _variable(name: str, given: Any, context: dg.ResolutionContext) -> object:
    if not isinstance(given, GivenPartitionVariable):
        return context.resolve_value(given)
    if (given.partition_format is None) is (given.partition_key in (None, False)):
        raise ConfigError(
            f"The variable '{name}' is given by partition_format or partition_key.",
            hint="partition_key is true, or the name of a dimension.",
        )
    if given.partition_format is not None:
        return partition_format(given.partition_format)
    return partition_key(None if given.partition_key is True else str(given.partition_key))


def requirements_from(context: dg.ResolutionContext, given: Any) -> list[Any]:
    """The requirements that stand in the YAML, as ``requirements_of`` takes them."""
    several = given if isinstance(given, list) else [given]
    return [
        context.resolve_value(
            each.model_dump(exclude_unset=True) if isinstance(each, GivenRequirement) else each
        )
        for each in several
    ]
