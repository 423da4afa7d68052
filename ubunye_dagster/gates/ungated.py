"""Which assets a run can reach past the check that stands before them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import dagster as dg

from ubunye_core import ConfigError
from ubunye_dagster.calls import decorators_of
from ubunye_dagster.compat.definitions import functions, is_job_of_all, selection_of


def check_gates(
    definitions: dg.Definitions,
    *,
    on_ungated: Literal["warn", "error"] = "warn",
    alone: bool = True,
) -> dg.Definitions:
    """Say which assets can run without the check that stands before them, and give all back.

    ::

        defs = check_gates(dg.Definitions(assets=..., asset_checks=..., jobs=...))

    A check stops an asset only where the run selects it, and a job of all assets selects none that
    stands on an external asset. Looked at are the blocking checks of this library and the assets
    that depend on theirs directly. An asset with ``@gated`` is safe, whatever is selected.

    Args:
        definitions: The definitions of a code location.
        on_ungated: ``warn``, or ``error`` to let the code location not load.
        alone: Whether to ask of every such asset that it has ``@gated``, as one launched by
            itself, from its page or by a backfill, is launched without the check. False looks at
            the jobs only.

    Raises:
        ConfigError: there is such an asset, and ``on_ungated`` is ``error``.
    """
    if on_ungated not in ("warn", "error"):
        raise ConfigError(f"on_ungated is '{on_ungated}'.", hint="Use 'warn' or 'error'.")
    repository = definitions.get_repository_def()
    found = list(_ungated(repository, alone))
    if found and on_ungated == "error":
        raise ConfigError(
            " ".join(found),
            hint="Put @gated on the assets: it is asked whatever is selected. define_gated_job "
            "puts the checks into the selection of a job.",
        )
    for each in found:
        warnings.warn(f"{each} Put @gated on it, which is asked anyway.", stacklevel=2)
    return definitions


def _ungated(repository: Any, alone: bool) -> Iterator[str]:
    behind = _behind_checks(repository)
    if not behind:
        return
    for job in sorted(repository.get_all_jobs(), key=lambda each: str(each.name)):
        if is_job_of_all(job):
            continue
        assets, checks = selection_of(job)
        for asset in sorted(assets & behind.keys()):
            for check in sorted(behind[asset] - checks):
                yield (
                    f"The job '{job.name}' runs the asset '{asset.to_user_string()}' without the "
                    f"check {_shown(check)}, which stands before it."
                )
    if alone:
        for asset, before in sorted(behind.items()):
            yield (
                f"Launched alone, from its page or by a backfill, the asset "
                f"'{asset.to_user_string()}' runs without the check "
                f"{', '.join(_shown(check) for check in sorted(before))}, and is not gated."
            )


def _behind_checks(repository: Any) -> Mapping[dg.AssetKey, set[dg.AssetCheckKey]]:
    """The assets without ``@gated``, each with the checks of this library that are to stop it."""
    blocking: dict[dg.AssetKey, set[dg.AssetCheckKey]] = {}
    for key, definition in repository.asset_checks_defs_by_key.items():
        is_ours = any("asset_check" in decorators_of(each) for each in functions(definition))
        if is_ours and definition.get_spec_for_check_key(key).blocking:
            blocking.setdefault(key.asset_key, set()).add(key)
    behind: dict[dg.AssetKey, set[dg.AssetCheckKey]] = {}
    for key, definition in repository.assets_defs_by_key.items():
        if not definition.is_executable or _is_gated(definition):
            continue
        needed = set(definition.asset_deps[key]) - set(definition.keys)
        before = {check for asset in needed for check in blocking.get(asset, ())}
        if before:
            behind[key] = before
    return behind


def _is_gated(definition: dg.AssetsDefinition) -> bool:
    return any("gated" in decorators_of(each) for each in functions(definition))


def _shown(check: dg.AssetCheckKey) -> str:
    return f"'{check.name}' on '{check.asset_key.to_user_string()}'"
