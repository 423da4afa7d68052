"""Gates, checks and sensors from YAML: a component of Dagster."""

import warnings
from collections.abc import Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from ubunye_core import ConfigError
from ubunye_dagster.catalog.sensor import build_receipt_catalog_sensor
from ubunye_dagster.catalog.specs import load_receipt_asset_specs
from ubunye_dagster.checks.definition import is_asked_in_a_tick
from ubunye_dagster.checks.freshness import build_freshness_checks
from ubunye_dagster.checks.hashes import build_hash_checks
from ubunye_dagster.checks.health import build_health_checks
from ubunye_dagster.checks.rows import build_row_count_checks
from ubunye_dagster.checks.upstream import build_upstream_checks
from ubunye_dagster.component.given import check_given
from ubunye_dagster.component.parts import (
    Catalog,
    ExternalAssets,
    FreshnessCheck,
    Gate,
    GatedJob,
    HashCheck,
    HealthCheck,
    MissedWindows,
    Part,
    Reconcile,
    RowCountCheck,
    Tasks,
    UpstreamSensor,
)
from ubunye_dagster.gates.jobs import define_gated_job
from ubunye_dagster.resource import RESOURCE_KEY
from ubunye_dagster.sensors.missed import build_missed_windows_sensor
from ubunye_dagster.sensors.reconcile import build_reconcile_sensor
from ubunye_dagster.sensors.upstream import build_upstream_receipt_sensor


class ReceiptGatesComponent(dg.Component, Part, dg.Resolvable):
    """Gates, checks and sensors that ask about run receipts.

    Each part takes the arguments of the function that it is named after; receipts are in ``store``,
    a URL such as ``"{{ env.PAY_RECEIPTS }}"``, else in the resource ``resource_key`` of the
    project.
    """

    store: str | None = Field(default=None, repr=False)  # it may hold a password
    resource_key: str = RESOURCE_KEY
    external_assets: ExternalAssets | None = None
    gates: Sequence[Gate] = ()
    health: Sequence[HealthCheck] = ()
    freshness: Sequence[FreshnessCheck] = ()
    row_counts: Sequence[RowCountCheck] = ()
    hashes: Sequence[HashCheck] = ()
    upstream_sensors: Sequence[UpstreamSensor] = ()
    missed_windows: Sequence[MissedWindows] = ()
    catalog: Catalog | None = None
    reconcile: Reconcile | None = None

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions.

        Raises:
            ConfigError: an argument is wrong, or is given and is empty.
        """
        check_given(self)
        checks, jobs = [], []
        for gate in self.gates:
            found = self._gate(gate)
            checks += found
            if gate.job is not None:
                jobs.append(_job(gate.job, found))
        shown = [*self._health(), *self._freshness(), *self._row_counts(), *self._hashes()]
        return dg.Definitions(
            assets=self._assets(),
            asset_checks=[*checks, *shown],
            jobs=jobs,
            sensors=[
                *(self._upstream_sensor(each) for each in self.upstream_sensors),
                *(self._missed_windows(each) for each in self.missed_windows),
                *self._catalog(shown),
                *self._reconcile(),
            ],
        )

    @property
    def _where(self) -> dict[str, Any]:
        """Where receipts are, for each function."""
        return {"store": self.store, "resource_key": self.resource_key}

    def _gate(self, gate: Gate) -> list[dg.AssetChecksDefinition]:
        return build_upstream_checks(
            gate.requires,
            asset=_key(gate.asset),
            variables=gate.variables,
            blocking=gate.blocking,
            **self._where,
        )

    def _health(self) -> list[dg.AssetChecksDefinition]:
        return [
            check
            for each in self.health
            for check in build_health_checks(
                _several(each.tasks),
                stuck_after=each.stuck_after,
                max_age=each.max_age,
                failure_threshold=each.failure_threshold,
                owner=each.owner,
                blocking=each.blocking,
                **self._where,
            )
        ]

    def _freshness(self) -> list[dg.AssetChecksDefinition]:
        return [
            check
            for each in self.freshness
            for check in build_freshness_checks(
                _several(each.tasks),
                max_age=each.max_age,
                owner=each.owner,
                blocking=each.blocking,
                **self._where,
            )
        ]

    def _row_counts(self) -> list[dg.AssetChecksDefinition]:
        return [
            check
            for each in self.row_counts
            for check in build_row_count_checks(
                _several(each.tasks),
                min_rows=each.min_rows,
                max_rows=each.max_rows,
                max_change=each.max_change,
                output=each.output,
                variables=each.variables,
                owner=each.owner,
                blocking=each.blocking,
                **self._where,
            )
        ]

    def _hashes(self) -> list[dg.AssetChecksDefinition]:
        return [
            check
            for each in self.hashes
            for check in build_hash_checks(
                each.task,
                load=each.load,
                reproduced=each.reproduced,
                changed=each.changed,
                output=each.output,
                asset=_key(each.asset),
                variables=each.variables,
                owner=each.owner,
                blocking=each.blocking,
                **self._where,
            )
        ]

    def _assets(self) -> list[dg.AssetSpec]:
        given = self.external_assets
        if given is None:
            return []
        tasks = _several(given.tasks)
        return load_receipt_asset_specs(
            tasks,
            store=self.store,
            exclude=given.exclude,
            owners=given.owners,
            descriptions=given.descriptions,
            asset_keys=given.asset_keys,
            partitions=None if given.partitions is None else dict.fromkeys(tasks, given.partitions),
            group_name=given.group_name,
        )

    def _upstream_sensor(self, given: UpstreamSensor) -> dg.SensorDefinition:
        return build_upstream_receipt_sensor(
            given.name,
            given.task,
            partitions_def=given.partitions,
            variables=given.variables,
            rerun=given.rerun,
            **_target(given),
            **_how(given),
            **self._where,
        )

    def _missed_windows(self, given: MissedWindows) -> dg.SensorDefinition:
        if given.partitions is None:
            raise ConfigError(
                f"The sensor '{given.name}' has no partitions, so nothing can be missed.",
                hint="Give it partitions: {type: daily, start_date: '2026-01-01'}.",
            )
        return build_missed_windows_sensor(
            given.name,
            given.task,
            partitions_def=given.partitions,
            catchup=given.catchup,
            variables=given.variables,
            requires=given.requires,
            since=given.since,
            retention=given.retention,
            cap=given.cap,
            **_target(given),
            **_how(given),
            **self._where,
        )

    def _catalog(self, checks: Sequence[dg.AssetChecksDefinition]) -> list[dg.SensorDefinition]:
        given = self.catalog
        if given is None:
            return []
        sensor = build_receipt_catalog_sensor(
            given.name,
            given.tasks,
            exclude=given.exclude,
            variables=given.variables,
            partitions_def=given.partitions,
            asset_keys=given.asset_keys,
            checks=[check for check in checks if is_asked_in_a_tick(check)],
            since=given.since,
            lookback=given.lookback,
            **_how(given),
            **self._where,
        )
        return [sensor]

    def _reconcile(self) -> list[dg.SensorDefinition]:
        given = self.reconcile
        if given is None:
            return []
        sensor = build_reconcile_sensor(
            given.name, tasks=_several(given.tasks), **_how(given), **self._where
        )
        return [sensor]


def _several(tasks: Tasks) -> list[str]:
    return [tasks] if isinstance(tasks, str) else list(tasks)


def _key(asset: str | None) -> dg.AssetKey | None:
    return None if asset is None else dg.AssetKey.from_user_string(asset)


def _job(given: GatedJob, checks: Sequence[dg.AssetChecksDefinition]) -> Any:
    with warnings.catch_warnings():
        # The assets of a selection in YAML are not known here; check_gates looks at them all.
        warnings.filterwarnings("ignore", message="Nobody can tell whether the checks")
        return define_gated_job(
            given.name, dg.AssetSelection.from_string(given.assets), list(checks)
        )


def _target(given: UpstreamSensor | MissedWindows) -> dict[str, Any]:
    if given.job is not None:
        return {"job_name": given.job}
    if given.assets is not None:
        return {"asset_selection": dg.AssetSelection.from_string(given.assets)}
    raise ConfigError(
        f"The sensor '{given.name}' has nothing to launch.",
        hint="Give it job: the name of a job, or assets: a selection.",
    )


def _how(given: UpstreamSensor | MissedWindows | Catalog | Reconcile) -> dict[str, Any]:
    status = dg.DefaultSensorStatus
    return {
        "minimum_interval_seconds": given.minimum_interval_seconds,
        "default_status": status.RUNNING if given.running else status.STOPPED,
    }
