"""Jobs whose selection has the checks in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg

Selection = (
    str | Sequence[str] | Sequence[dg.AssetKey] | Sequence[dg.AssetsDefinition] | dg.AssetSelection
)


def define_gated_job(
    name: str,
    selection: Selection,
    checks: Sequence[dg.AssetChecksDefinition],
    **job_arguments: Any,
) -> Any:
    """``dg.define_asset_job`` for assets and the checks that stand before them.

    A selection of assets has no checks of other assets in it, so a job that is defined without
    them runs its assets whatever the checks would say.

    Args:
        name: The job's name.
        selection: The assets, as for ``dg.define_asset_job``.
        checks: What ``build_upstream_checks`` returned.
        job_arguments: Whatever else ``dg.define_asset_job`` takes.
    """
    assets = dg.AssetSelection.from_coercible(selection)
    return dg.define_asset_job(
        name, selection=assets | dg.AssetSelection.checks(*checks), **job_arguments
    )
