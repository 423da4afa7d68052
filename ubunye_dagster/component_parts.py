"""Partitions, variables and requirements as they stand in a component's YAML."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import dagster as dg
from pydantic import BeforeValidator, model_validator

from ubunye_core import ConfigError
from ubunye_dagster.batches import partition_format, partition_key

_BY_TIME = {
    "hourly": dg.HourlyPartitionsDefinition,
    "daily": dg.DailyPartitionsDefinition,
    "weekly": dg.WeeklyPartitionsDefinition,
    "monthly": dg.MonthlyPartitionsDefinition,
}


class Partitions(dg.Model):
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


class Variable(dg.Model):
    """A variable of a run: its value, or the text that it has for a partition."""

    value: str | int | float | bool | None = None
    partition_format: str | None = None
    partition_key: str | bool | None = None
    """``true``, or a dimension."""

    @model_validator(mode="before")
    @classmethod
    def _of_value(cls, given: Any) -> Any:
        return given if isinstance(given, Mapping) else {"value": given}


class Requirement(dg.Model):
    """An upstream task, and when it counts."""

    task: str
    variables: Sequence[str] | Mapping[str, str] | None = None
    max_age: str | None = None
    on_failed: str | None = None
    optional: bool | None = None
    allow_unknown: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_name(cls, given: Any) -> Any:
        return {"task": given} if isinstance(given, str) else given


def _in_a_list(given: Any) -> Any:
    return [given] if isinstance(given, str | Mapping) else given


Requirements = Annotated[list[Requirement], BeforeValidator(_in_a_list)]
"""One or several, each a name or what a requirement has in YAML."""


def partitions_of(
    context: dg.ResolutionContext, given: Partitions | None
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


def variables_of(
    context: dg.ResolutionContext, given: Mapping[str, Variable] | None
) -> Mapping[str, object] | None:
    """The variables that stand in the YAML.

    Raises:
        ConfigError: one is to be made of a partition in two ways, or in none.
    """
    if given is None:
        return None
    return {name: _variable(name, variable, context) for name, variable in given.items()}


def _variable(name: str, given: Variable, context: dg.ResolutionContext) -> object:
    told = given.model_dump(exclude_unset=True)
    if len(told) != 1 or told.get("partition_key") is False:
        raise ConfigError(
            f"The variable '{name}' is a value, or is given by partition_format or partition_key.",
            hint="partition_key is true, or the name of a dimension.",
        )
    if given.partition_format is not None:
        return partition_format(given.partition_format)
    if given.partition_key is not None:
        return partition_key(None if given.partition_key is True else str(given.partition_key))
    resolved: object = context.resolve_value(given.value, as_type=object)
    return resolved


def requirements_from(
    context: dg.ResolutionContext, given: str | Sequence[Requirement]
) -> list[Any]:
    """The requirements that stand in the YAML, as ``requirements_of`` takes them."""
    if isinstance(given, str):
        return [context.resolve_value(given, as_type=str)]
    return [context.resolve_value(each.model_dump(exclude_unset=True)) for each in given]
