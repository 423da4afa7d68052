"""What a sensor is given to launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import dagster as dg

from ubunye_core import ConfigError


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
        raise ConfigError(
            f"The sensor '{sensor}' has nothing to launch.",
            hint="Give it job=, or asset_selection=[...] with the assets.",
        )
