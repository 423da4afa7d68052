"""What a code location's definitions do not say in public: functions, and what jobs select."""

from __future__ import annotations

from typing import Any

import dagster as dg


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
