"""Dagster resources, checks and sensors that ask about run receipts, and record them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ubunye_dagster.compat.library import register_library

if TYPE_CHECKING:
    from ubunye_dagster.catalog.sensor import build_receipt_catalog_sensor
    from ubunye_dagster.catalog.specs import load_receipt_asset_specs
    from ubunye_dagster.checks.freshness import build_freshness_checks
    from ubunye_dagster.checks.hashes import build_hash_checks
    from ubunye_dagster.checks.health import build_health_checks
    from ubunye_dagster.checks.rows import build_row_count_checks
    from ubunye_dagster.checks.upstream import build_upstream_checks
    from ubunye_dagster.component.component import ReceiptGatesComponent
    from ubunye_dagster.gates.gated import gated
    from ubunye_dagster.gates.jobs import define_gated_job
    from ubunye_dagster.gates.ungated import check_gates
    from ubunye_dagster.partitions.schedules import schedule_of_partitions
    from ubunye_dagster.partitions.variables import partition_format, partition_key
    from ubunye_dagster.recording.recorded import recorded
    from ubunye_dagster.resource import ReceiptStoreResource
    from ubunye_dagster.sensors.missed import build_missed_windows_sensor
    from ubunye_dagster.sensors.reconcile import build_reconcile_sensor
    from ubunye_dagster.sensors.upstream import build_upstream_receipt_sensor

register_library()

_LATER = {
    "ubunye_dagster.catalog.sensor": ("build_receipt_catalog_sensor",),
    "ubunye_dagster.catalog.specs": ("load_receipt_asset_specs",),
    "ubunye_dagster.checks.freshness": ("build_freshness_checks",),
    "ubunye_dagster.checks.hashes": ("build_hash_checks",),
    "ubunye_dagster.checks.health": ("build_health_checks",),
    "ubunye_dagster.checks.rows": ("build_row_count_checks",),
    "ubunye_dagster.checks.upstream": ("build_upstream_checks",),
    "ubunye_dagster.component.component": ("ReceiptGatesComponent",),
    "ubunye_dagster.gates.gated": ("gated",),
    "ubunye_dagster.gates.jobs": ("define_gated_job",),
    "ubunye_dagster.gates.ungated": ("check_gates",),
    "ubunye_dagster.partitions.schedules": ("schedule_of_partitions",),
    "ubunye_dagster.partitions.variables": ("partition_format", "partition_key"),
    "ubunye_dagster.recording.recorded": ("recorded",),
    "ubunye_dagster.resource": ("ReceiptStoreResource",),
    "ubunye_dagster.sensors.missed": ("build_missed_windows_sensor",),
    "ubunye_dagster.sensors.reconcile": ("build_reconcile_sensor",),
    "ubunye_dagster.sensors.upstream": ("build_upstream_receipt_sensor",),
}
"""What is imported when it is asked for: a code location needs some of it, and starts often."""

__all__ = [
    "ReceiptGatesComponent",
    "ReceiptStoreResource",
    "build_freshness_checks",
    "build_hash_checks",
    "build_health_checks",
    "build_missed_windows_sensor",
    "build_receipt_catalog_sensor",
    "build_reconcile_sensor",
    "build_row_count_checks",
    "build_upstream_checks",
    "build_upstream_receipt_sensor",
    "check_gates",
    "define_gated_job",
    "gated",
    "load_receipt_asset_specs",
    "partition_format",
    "partition_key",
    "recorded",
    "schedule_of_partitions",
]


def __dir__() -> list[str]:
    """What there is, imported or not: ``dg list components`` looks for components in it."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'ubunye_dagster' has no attribute {name!r}")
