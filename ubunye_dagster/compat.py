"""What this library knows of Dagster's versions and of the less public corners of its contexts.

Each function says why the plain way does not do. Checked against Dagster 1.13.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
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
