"""What this library knows of Dagster's versions and of the less public corners of its contexts.

Each function says why the plain way does not do. Checked against Dagster 1.13.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import dagster as dg

CONTEXT_NAMES = frozenset({"context", "_context", "context_", "_"})
"""What Dagster lets the first parameter be called, if it is to be given the context."""


@dataclass(frozen=True)
class Attempt:
    """One attempt of one step of a run, in Dagster's own words."""

    run_id: str
    job: str
    step: str
    tags: Mapping[str, str] = field(default_factory=dict)
    number: int = 1
    at_most: int | None = None
    instance: str | None = None
    """Which Dagster the run is of, where it tells."""


def attempt_of(context: Any) -> Attempt | None:
    """The attempt that a context stands for; None where a test calls the function directly.

    A context made by ``build_asset_context`` raises for nearly everything about the run.
    """
    try:
        run = context.run
        step = _step_context(context)
        retries = step.op_retry_policy.max_retries if step.op_retry_policy else 0
        return Attempt(
            run_id=run.run_id,
            job=run.job_name,
            step=step.step.key,  # with the mapping key of a dynamic step; op_handle has none
            tags=dict(run.tags),
            number=context.retry_number + 1,
            at_most=retries + 1,
            instance=instance_id(context.instance),
        )
    except dg.DagsterError:
        return None


def partitions_definition(context: Any) -> dg.PartitionsDefinition | None:
    """How the run is partitioned.

    Contexts of assets, ops and checks tell it in different ways, and a context of ops and checks
    not at all; the step's context does for all of them.
    """
    try:
        found: dg.PartitionsDefinition | None = _step_context(context).run_partitions_def
    except dg.DagsterError:  # called directly
        try:
            found = context.assets_def.partitions_def
        except (AttributeError, dg.DagsterError):
            found = None
    return found


def partition_keys(context: Any) -> list[str]:
    """The keys of the partitions that a step runs for; none where it is not partitioned.

    A single-run backfill has a range and no key, and raises for ``partition_key``.
    """
    try:
        if context.has_partition_key:
            return [context.partition_key]
        return list(context.partition_keys) if context.has_partition_key_range else []
    except dg.DagsterError:
        return []


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


def _step_context(context: Any) -> Any:
    op_context = getattr(context, "op_execution_context", context)
    return op_context.get_step_execution_context()


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

    None where there are more than so many. Instants are compared in UTC: two in a zone that shows
    an hour twice are not in order.
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


UNDER_WAY = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


@dataclass(frozen=True)
class Target:
    """What a sensor launches: a job by its name, and the assets in it."""

    job: str | None
    assets: dg.AssetSelection | None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Target:
        """The target that ``dg.sensor`` is given."""
        job, selection = arguments.get("job"), arguments.get("asset_selection")
        if selection is not None:
            return cls(None, dg.AssetSelection.from_coercible(selection))
        # What define_asset_job makes has no public class.
        return cls(
            arguments.get("job_name") or getattr(job, "name", None), getattr(job, "selection", None)
        )

    def keys(self, repository: Any) -> frozenset[dg.AssetKey]:
        """The assets, as far as they can be told."""
        if self.assets is None or repository is None:
            return frozenset()
        return frozenset(self.assets.resolve(repository.asset_graph))


def check_target(sensor: str, arguments: Mapping[str, Any]) -> None:
    """Complain of a sensor that has nothing to launch: Dagster does so at its first request.

    Raises:
        ConfigError: ``dg.sensor`` is given no target.
    """
    targets = ("job", "jobs", "job_name", "asset_selection", "target")
    if all(arguments.get(name) is None for name in targets):
        from ubunye_core import ConfigError  # whoever imports this file needs no core yet

        raise ConfigError(
            f"The sensor '{sensor}' has nothing to launch.",
            hint="Give it job=, or asset_selection=[...] with the assets.",
        )


def partitions_under_way(
    instance: dg.DagsterInstance,
    definition: dg.PartitionsDefinition,
    target: Target,
    repository: Any,
) -> frozenset[str]:
    """The partitions for which Dagster has queued or started a run of this target."""
    assets, found = target.keys(repository), set()
    for run in instance.get_runs(dg.RunsFilter(statuses=list(UNDER_WAY))):
        is_job = target.job is not None and run.job_name == target.job
        if is_job or assets & (run.asset_selection or _assets_of_job(run.job_name, repository)):
            found.update(_partitions_of_run(run.tags, definition, instance))
    return frozenset(found)


def _assets_of_job(name: str, repository: Any) -> frozenset[dg.AssetKey]:
    """All assets of a job, of which a run without a selection makes each."""
    if repository is None or not repository.has_job(name):
        return frozenset()
    return frozenset(repository.get_job(name).asset_layer.selected_asset_keys)


def _partitions_of_run(
    tags: Mapping[str, str], definition: dg.PartitionsDefinition, instance: dg.DagsterInstance
) -> list[str]:
    if "dagster/partition" in tags:
        return [tags["dagster/partition"]]
    first, last = (tags.get(f"dagster/asset_partition_range_{end}") for end in ("start", "end"))
    if first is None or last is None:
        return []
    with dg.partition_loading_context(dynamic_partitions_store=instance):
        try:
            return list(definition.get_partition_keys_in_range(dg.PartitionKeyRange(first, last)))
        except dg.DagsterError:  # keys of another definition
            return []


def launched(
    instance: dg.DagsterInstance, sensor: str, run_keys: Sequence[str]
) -> dict[str, dg.DagsterRun]:
    """The runs that a sensor has launched, by their run key, which Dagster launches only once."""
    if not run_keys:
        return {}
    tags = {"dagster/sensor_name": sensor, "dagster/run_key": list(run_keys)}
    return {run.tags["dagster/run_key"]: run for run in instance.get_runs(dg.RunsFilter(tags=tags))}


def instance_id(instance: Any) -> str | None:
    """Which Dagster this is: the id that it gave its run storage once; None where it has none.

    Nothing public tells two deployments apart.
    """
    try:
        return str(instance.run_storage.get_run_storage_id())
    except Exception:  # storages of others need not have one, and a run goes on without
        return None


@dataclass(frozen=True)
class Ended:
    """What has ended, by Dagster's word: a run, or one attempt of a step in it."""

    what: str
    at: datetime | None


def ends_of(instance: dg.DagsterInstance, run_ids: Sequence[str]) -> dict[str, Ended | None]:
    """Those of the runs that this Dagster knows, each with its end; None while it goes on."""
    found: dict[str, Ended | None] = {}
    for record in instance.get_run_records(dg.RunsFilter(run_ids=list(run_ids))):
        run = record.dagster_run
        ended = Ended(f"run {run.run_id} is {run.status.value}", _instant(record.end_time))
        found[run.run_id] = ended if run.is_finished else None
    return found


def ends_of_attempts(
    instance: dg.DagsterInstance, run_id: str, steps: Sequence[str]
) -> dict[tuple[str, int], Ended]:
    """The attempts of these steps that are over, the first of a step having the number 1.

    The public way is to read all events of the run.
    """
    found = {}
    for step in instance.get_run_step_stats(run_id, step_keys=list(steps)):
        status = "over" if step.status is None else step.status.value
        for number, attempt in enumerate(step.attempts_list, 1):
            is_last = number == len(step.attempts_list) and step.end_time is not None
            what = f"step {step.step_key} of run {run_id} is {status}"
            if not is_last:
                what = f"attempt {number} of step {step.step_key} of run {run_id} is to be retried"
            found[step.step_key, number] = Ended(what, _instant(attempt.end_time))
    return found


def _instant(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def functions(definition: dg.AssetsDefinition) -> list[Any]:
    """The functions that an asset or a check runs, as they were decorated; several for a graph.

    Only the code of a definition knows them; its public side has none.
    """
    ops = definition.node_def.iterate_op_defs() if definition.is_executable else ()
    found = (getattr(op.compute_fn, "decorated_fn", None) for op in ops)
    return [function for function in found if function is not None]


def is_job_of_all(job: Any) -> bool:
    """Whether it is the job that Dagster itself makes, of which a run selects a part."""
    return str(job.name).startswith("__ASSET_JOB")


def selection_of(job: Any) -> tuple[frozenset[dg.AssetKey], frozenset[dg.AssetCheckKey]]:
    """The assets and the checks that a run of a job selects."""
    layer = job.asset_layer
    return frozenset(layer.selected_asset_keys), frozenset(layer.asset_graph.asset_check_keys)


def register_library() -> None:
    """Let Dagster name this library and its version among those of a code location.

    The registry has no public place in ``dagster`` itself.
    """
    from importlib.metadata import PackageNotFoundError, version

    from dagster_shared.libraries import DagsterLibraryRegistry

    with contextlib.suppress(PackageNotFoundError):
        DagsterLibraryRegistry.register(
            "ubunye-receipts", version("ubunye-receipts"), is_dagster_package=False
        )
