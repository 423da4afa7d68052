"""A sensor that launches a run for each partition that was missed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import dagster as dg

from ubunye_core import (
    Action,
    Catchup,
    ConfigError,
    Include,
    Plan,
    PlannedWindow,
    ReceiptStore,
    RequirementLike,
    Schedule,
    ToCatchUp,
    Verdict,
    open_store,
    plan_backfill,
)
from ubunye_dagster.compat.keys import is_known_key
from ubunye_dagster.compat.runs import launched_by, partitions_under_way
from ubunye_dagster.compat.target import Target, check_target
from ubunye_dagster.partitions.schedules import key_of_window, schedule_of_partitions
from ubunye_dagster.resource import RESOURCE_KEY
from ubunye_dagster.tags import REASON, TASK, WINDOW
from ubunye_dagster.ticks import RUNS_A_TICK, check_at_most, sensor_that_looks
from ubunye_dagster.wording import left_over, no_partitions

RUNS_A_WINDOW = 3


def build_missed_windows_sensor(
    name: str,
    task: str,
    *,
    partitions_def: dg.PartitionsDefinition,
    catchup: Catchup | str,
    schedule: Schedule | Sequence[Schedule] | None = None,
    variables: Mapping[str, object] | None = None,
    requires: RequirementLike | Iterable[RequirementLike] = (),
    since: timedelta | datetime | str = "30d",
    retention: timedelta | str | None = None,
    include: Include | str = Include.MISSING_AND_FAILED,
    cap: int | None = None,
    max_runs: int = RUNS_A_WINDOW,
    at_most: int = RUNS_A_TICK,
    stuck_after: timedelta | str | None = None,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
    **sensor_arguments: Any,
) -> dg.SensorDefinition:
    """A sensor that requests a run for each partition of ``task`` that was missed, oldest first.

    ::

        build_missed_windows_sensor(
            "calc_catches_up",
            "pay/monthly/calc",
            partitions_def=monthly,
            variables={"month": partition_format("%Y-%m")},
            catchup="all",
            cap=2,
            job=calc_job,
        )

    Never a partition whose run is under way: by its receipt, or by a run that Dagster has queued
    or started. And none twice: the run key is the partition's key and how many runs of it are on
    record, and Dagster drops a run key that it has seen. Where it cannot be told which partitions
    were missed, nothing is requested, and the skip says why.

    Args:
        name: The sensor's name.
        task: The task whose windows are looked at.
        partitions_def: How the job is partitioned.
        catchup: What is requested: ``none`` (the skip tells what was missed), ``latest``, ``all``.
        schedule: When the windows are due, or the versions of that. By default each partition by
            time is due when it ends.
        variables: Which variable names a partition, as for ``@recorded``; left out, ``partition``
            is its key. A given ``schedule`` names it itself.
        requires: What must have succeeded for a window's variables.
        since: Windows that were due then or later, or so long ago.
        retention: How long the source keeps its data.
        include: ``missing`` or ``missing+failed``.
        cap: How many may run at once, with those under way; None is no limit.
        max_runs: A window that failed after so many runs is left to people.
        at_most: How many runs to request in one tick.
        stuck_after: How long a run may be silent, such as ``2h``.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.
        sensor_arguments: What ``dg.sensor`` takes: ``job`` or ``asset_selection``,
            ``minimum_interval_seconds``, ``default_status``, ...

    Raises:
        ConfigError: an argument is wrong.
    """
    look = _Look(
        name=name,
        definition=partitions_def,
        given=_to_catch_up(task, partitions_def, schedule, variables, requires, retention),
        asked={
            "since": since,
            "include": include,
            "catchup": catchup,
            "max_runs": max_runs,
            "stuck_after": stuck_after,
        },
        cap=cap,
        at_most=at_most,
        target=Target.of(sensor_arguments),
    )
    look.check()
    check_target(name, sensor_arguments)

    return sensor_that_looks(
        look.at, name=name, resource_key=resource_key, store=store, **sensor_arguments
    )


def _to_catch_up(
    task: str,
    definition: dg.PartitionsDefinition,
    schedule: Schedule | Sequence[Schedule] | None,
    variables: Mapping[str, object] | None,
    requires: RequirementLike | Iterable[RequirementLike],
    retention: timedelta | str | None,
) -> ToCatchUp:
    if isinstance(definition, dg.MultiPartitionsDefinition):
        raise ConfigError(
            "Partitions of several dimensions are no windows: each has several keys.",
            hint="Build a sensor for partitions by time alone.",
        )
    if schedule is None:
        schedule = schedule_of_partitions(definition, variables)
    elif variables is not None:
        raise ConfigError(
            "variables are given beside a schedule.",
            hint="Name the variable in it: Schedule(..., variable='month', format='%Y-%m').",
        )
    found = ToCatchUp(task=task, schedule=schedule, requires=requires, retention=retention)
    by_time = isinstance(definition, dg.TimeWindowPartitionsDefinition)
    if not by_time and not all(version.variable for version in found.versions):
        raise ConfigError(
            f"Which key of {type(definition).__name__} a window is cannot be told.",
            hint="Give the schedule a variable whose value is the key.",
        )
    return found


@dataclass
class _Tick:
    """What comes of one tick."""

    requests: list[dg.RunRequest] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was not requested, and why."""


@dataclass(frozen=True, kw_only=True)
class _Look:
    """One evaluation of the sensor."""

    name: str
    definition: dg.PartitionsDefinition
    given: ToCatchUp
    asked: Mapping[str, Any]
    """Further arguments of the plan."""
    cap: int | None
    at_most: int
    target: Target

    def check(self) -> None:
        """Ask for a plan, of a store without receipts.

        Raises:
            ConfigError: an argument is wrong.
        """
        check_at_most(self.at_most)
        if self.asked["include"] == Include.ALL:
            raise ConfigError(
                "A sensor that includes all would run each window again and again.",
                hint="Use missing or missing+failed.",
            )
        plan_backfill(self.given, store=open_store("memory://nothing"), cap=self.cap, **self.asked)

    def at(self, store: ReceiptStore, context: dg.SensorEvaluationContext) -> dg.SensorResult:
        plan = plan_backfill(self.given, store=store, **self.asked)
        if plan.verdict is not Verdict.PASS:
            return dg.SensorResult(skip_reason=f"UNKNOWN: {plan.reason}")
        tick = self._requests(plan, context)
        for note in tick.notes:
            context.log.warning(note)
        reason = " ".join([plan.reason, *self._why_none(plan), *tick.notes])
        return dg.SensorResult(
            run_requests=tick.requests, skip_reason=None if tick.requests else reason
        )

    def _requests(self, plan: Plan, context: dg.SensorEvaluationContext) -> _Tick:
        """What to request now, oldest first."""
        tick, instance = _Tick(), context.instance
        in_dagster = partitions_under_way(
            instance, self.definition, self.target, context.repository_def
        )
        starts = self._known(plan, instance, tick)
        run_keys = {key: f"{key}:{len(each.runs)}" for key, each in starts.items()}
        launched = launched_by(instance, self.name, list(run_keys.values()))
        room, left = self._room(plan, in_dagster), 0
        for key, each in starts.items():
            run = launched.get(run_keys[key])
            if key in in_dagster:
                tick.notes.append(f"{key}: Dagster has a run of it that is queued or started.")
            elif run is not None:
                tick.notes.append(
                    f"{key}: run {run.run_id} was launched for it, is {run.status.value} and left "
                    f"no receipt: launch it by hand."
                )
            elif len(tick.requests) < room:
                tick.requests.append(self._request(key, each, run_keys[key]))
            else:
                left += 1
        if left:
            tick.notes.append(left_over(left))
        return tick

    def _known(self, plan: Plan, instance: Any, tick: _Tick) -> dict[str, PlannedWindow]:
        """The windows to start, by their keys: one that the definition lacks loses a whole tick."""
        found, lacking = {}, []
        for each in plan.starts:
            key = key_of_window(self.definition, each, self.given.versions)
            if key is not None and is_known_key(self.definition, key, instance):
                found[key] = each
            else:
                lacking.append(key or each.window.name)
        if lacking:
            tick.notes.append(no_partitions(lacking))
        return found

    def _room(self, plan: Plan, in_dagster: frozenset[str]) -> int:
        """How many more runs may be requested now."""
        if self.cap is None:
            return self.at_most
        running = {
            key_of_window(self.definition, each, self.given.versions) or each.name
            for each in plan.windows
            if each.action is Action.SKIP
        }
        return min(self.at_most, self.cap - len(running | in_dagster))

    def _request(self, key: str, planned: PlannedWindow, run_key: str) -> dg.RunRequest:
        tags = {
            TASK: planned.task,
            WINDOW: planned.window.name,
            REASON: f"catch-up of {planned.window.name}, which was {planned.state}",
        }
        return dg.RunRequest(run_key=run_key, partition_key=key, tags=tags)

    def _why_none(self, plan: Plan) -> Iterator[str]:
        if plan.to_run and self.asked["catchup"] == Catchup.NONE:
            yield "None is requested: catchup is none."
        blocked = [each for each in plan.windows if each.action is Action.BLOCKED]
        if blocked and not plan.to_run:
            oldest = min(blocked, key=lambda each: each.window.start)
            yield f"{oldest.window.name} is blocked: {oldest.reason}"
