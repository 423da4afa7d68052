"""From a partitions definition to a schedule, and from its windows back to partition keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, timedelta

import dagster as dg

from ubunye_core import ConfigError, PlannedWindow, Schedule
from ubunye_dagster.compat.keys import key_of_period
from ubunye_dagster.partitions.variables import PartitionText, partition_key

NOT_IN_BATCH = ("mode", "dtf")
"""These say how a run works, not which data it is for."""


def schedule_of_partitions(
    definition: dg.PartitionsDefinition, variables: Mapping[str, object] | None = None
) -> Schedule:
    """The schedule whose windows are the partitions of a definition: each is due when it ends.

    Args:
        definition: Partitions by time: hourly, daily, weekly, monthly, or by a cron expression.
        variables: Which variable names a partition in receipts that have no window of their own,
            as for ``@recorded``.

    Raises:
        ConfigError: the definition has no times, or leaves some out; or the variables do not say
            which partition it is.
    """
    if not isinstance(definition, dg.TimeWindowPartitionsDefinition):
        raise ConfigError(
            f"{type(definition).__name__} does not say when its partitions are due.",
            hint="Give a schedule: Schedule(cron=..., time_zone=..., window='day').",
        )
    if definition.exclusions:
        raise ConfigError(
            "These partitions leave some times out, which a cron expression cannot say.",
            hint="Give a schedule with a calendar: Schedule(..., calendar=Calendar(...)).",
        )
    name, text = _variable(variables)
    schedule = Schedule(
        cron=definition.cron_schedule,
        time_zone=definition.timezone,
        variable=name,
        format=text.format or definition.fmt,
    )
    firings = schedule.firings.after(definition.start.astimezone(UTC))
    next(firings)  # where the first partition begins
    end = definition.end
    return replace(
        schedule,
        start=next(firings),
        end=None if end is None else end.astimezone(UTC) + timedelta(microseconds=1),
    )


def key_of_window(
    definition: dg.PartitionsDefinition, planned: PlannedWindow, versions: Sequence[Schedule]
) -> str | None:
    """The key of the partition that a window is; None where it is none."""
    if isinstance(definition, dg.TimeWindowPartitionsDefinition):
        return key_of_period(definition, planned.window.start, planned.window.end)
    names = [each.variable for each in versions if each.variable in planned.variables]
    return planned.variables[names[0]] if names and names[0] is not None else None


def _variable(variables: Mapping[str, object] | None) -> tuple[str, PartitionText]:
    """The one variable that names a partition."""
    given = {"partition": partition_key()} if variables is None else variables
    texts = {name: text for name, text in given.items() if isinstance(text, PartitionText)}
    others = [name for name in given if name not in texts and name not in NOT_IN_BATCH]
    if len(texts) != 1 or others:
        raise ConfigError(
            "Windows are named by one variable, and it is made of the partition.",
            hint="Give {'month': partition_format('%Y-%m')}, or a schedule with its variable.",
        )
    return next(iter(texts.items()))
