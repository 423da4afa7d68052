"""What a context tells of a step: its attempt, and the partitions that it runs for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from ubunye_dagster.compat.runs import instance_id

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


def _step_context(context: Any) -> Any:
    op_context = getattr(context, "op_execution_context", context)
    return op_context.get_step_execution_context()
