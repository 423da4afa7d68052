"""The parts of the component: what stands in its YAML."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dagster as dg
from pydantic import ConfigDict

from ubunye_dagster.catalog.specs import EVERY_TASK
from ubunye_dagster.component.values import (
    GivenPartitions,
    GivenRequirements,
    GivenVariables,
    partitions_from,
    requirements_from,
    variables_from,
)

PartitionsDef = Annotated[
    dg.PartitionsDefinition | None,
    dg.Resolver(
        partitions_from, model_field_type=GivenPartitions | None, inject_before_resolve=False
    ),
]
BatchVariables = Annotated[
    Mapping[str, object] | None,
    dg.Resolver(
        variables_from, model_field_type=GivenVariables | None, inject_before_resolve=False
    ),
]
Requires = Annotated[
    Sequence[Any],
    dg.Resolver(requirements_from, model_field_type=GivenRequirements, inject_before_resolve=False),
]
Tasks = str | Sequence[str]


class Part(dg.Model):
    """A part that may hold objects of Dagster's own, such as partitions."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class GatedJob(dg.Model, dg.Resolvable):
    """A job of assets and of the checks that stand before them."""

    name: str
    assets: str
    """A selection as Dagster writes it, such as ``send`` or ``key:pay/*``."""


class Gate(dg.Model, dg.Resolvable):
    """Blocking checks of upstream tasks."""

    requires: Requires
    asset: str | None = None
    variables: BatchVariables = None
    blocking: bool = True
    job: GatedJob | None = None


class HealthCheck(dg.Model, dg.Resolvable):
    """Checks of the health of tasks."""

    tasks: Tasks
    stuck_after: str | None = None
    max_age: str | None = None
    failure_threshold: int = 1
    owner: str | None = None
    blocking: bool = False


class FreshnessCheck(dg.Model, dg.Resolvable):
    """Checks of how recent the data of tasks is."""

    tasks: Tasks
    max_age: str
    owner: str | None = None
    blocking: bool = False


class RowCountCheck(Part, dg.Resolvable):
    """Checks of how many rows tasks wrote."""

    tasks: Tasks
    min_rows: int | None = None
    max_rows: int | None = None
    max_change: float | None = None
    output: str | None = None
    variables: BatchVariables = None
    owner: str | None = None
    blocking: bool = False


class HashCheck(Part, dg.Resolvable):
    """Checks of what a task wrote, by the hashes in its receipts."""

    task: str
    load: str | None = None
    reproduced: bool = True
    changed: bool = False
    output: str | None = None
    asset: str | None = None
    variables: BatchVariables = None
    owner: str | None = None
    blocking: bool = False


class ExternalAssets(Part, dg.Resolvable):
    """Assets for tasks that run elsewhere."""

    tasks: Tasks = EVERY_TASK
    exclude: Tasks = ()
    owners: Mapping[str, str] | None = None
    descriptions: Mapping[str, str] | None = None
    asset_keys: Mapping[str, str] | None = None
    partitions: PartitionsDef = None
    group_name: str | None = None


class UpstreamSensor(Part, dg.Resolvable):
    """A sensor that launches a run for each partition whose upstream has succeeded."""

    name: str
    task: str
    job: str | None = None
    assets: str | None = None
    partitions: PartitionsDef = None
    variables: BatchVariables = None
    rerun: bool = False
    minimum_interval_seconds: int | None = None
    running: bool = False


class MissedWindows(Part, dg.Resolvable):
    """A sensor that launches a run for each partition that was missed."""

    name: str
    task: str
    partitions: PartitionsDef
    catchup: str
    job: str | None = None
    assets: str | None = None
    variables: BatchVariables = None
    requires: Requires = ()
    since: str = "30d"
    retention: str | None = None
    cap: int | None = None
    minimum_interval_seconds: int | None = None
    running: bool = False


class Catalog(Part, dg.Resolvable):
    """A sensor that reports receipts to the catalog of assets."""

    name: str = "receipts_to_catalog"
    tasks: Tasks = EVERY_TASK
    exclude: Tasks = ()
    asset_keys: Mapping[str, str] | None = None
    partitions: PartitionsDef = None
    variables: BatchVariables = None
    since: str = "30d"
    lookback: str = "2d"
    minimum_interval_seconds: int | None = None
    running: bool = False


class Reconcile(dg.Model, dg.Resolvable):
    """A sensor that ends the receipts of runs that died without a word."""

    name: str = "receipts_are_ended"
    tasks: Tasks = EVERY_TASK
    minimum_interval_seconds: int | None = None
    running: bool = False
