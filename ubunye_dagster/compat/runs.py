"""What Dagster says of its runs: which are under way, and which have ended when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from ubunye_dagster.compat.target import Target

UNDER_WAY = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
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


def launched_by(
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
