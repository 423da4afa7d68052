"""Jobs whose selection has the checks in it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import dagster as dg

from ubunye_core import ConfigError

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

    A blocking check stops what depends on its asset, so one of the selected assets must. Only
    assets themselves say what they depend on: for keys, names and ``AssetSelection`` it cannot be
    told, and a warning says so.

    Args:
        name: The job's name.
        selection: The assets, as for ``dg.define_asset_job``.
        checks: What ``build_upstream_checks`` returned.
        job_arguments: Whatever else ``dg.define_asset_job`` takes.

    Raises:
        ConfigError: a blocking check stands on an asset that no selected one depends on.
    """
    _check_that_checks_block(name, selection, checks)
    assets = dg.AssetSelection.from_coercible(selection)
    return dg.define_asset_job(
        name, selection=assets | dg.AssetSelection.checks(*checks), **job_arguments
    )


def _check_that_checks_block(
    job: str, selection: Selection, checks: Sequence[dg.AssetChecksDefinition]
) -> None:
    blocking = [spec for check in checks for spec in check.check_specs if spec.blocking]
    if not blocking:
        return
    needed = _needed_by(selection)
    if needed is None:
        stand_on = ", ".join(sorted({spec.asset_key.to_user_string() for spec in blocking}))
        warnings.warn(
            f"Nobody can tell whether the checks of the job '{job}' stop anything: its selection "
            f"is not given as assets. They do if a selected asset depends on: {stand_on}. "
            f"Give the assets themselves, as in define_gated_job({job!r}, [send], checks).",
            stacklevel=3,
        )
        return
    for spec in blocking:
        if spec.asset_key not in needed:
            on = sorted(key.to_user_string() for key in needed)
            raise ConfigError(
                f"The check '{spec.name}' would stop nothing in the job '{job}': it stands on the "
                f"asset '{spec.asset_key.to_user_string()}', and no selected asset depends on it.",
                hint="Give build_upstream_checks the asset that stands for the upstream, such as "
                f"asset={on[0]!r}; the selected assets depend on: {', '.join(on)}."
                if on
                else "The selected assets depend on none: give the one that the check is to stop "
                "deps=[...], and build_upstream_checks the same asset as asset=.",
            )


def _needed_by(selection: Selection) -> set[dg.AssetKey] | None:
    """What the selected assets depend on directly; None where they are not given themselves.

    A check stops the steps that take its asset in. One further upstream, whose asset between the
    two is not selected, stops nothing; nor does one of an asset that the same step makes.
    """
    if isinstance(selection, str | dg.AssetSelection):
        return None
    needed: set[dg.AssetKey] = set()
    for each in selection:
        if not isinstance(each, dg.AssetsDefinition):
            return None
        needed |= set(each.dependency_keys) - set(each.keys)
    return needed
