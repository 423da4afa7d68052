"""Dagster resources, checks and sensors that ask about run receipts, and record them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ubunye_dagster import compat

if TYPE_CHECKING:
    from ubunye_dagster.batches import partition_format, partition_key
    from ubunye_dagster.catalog import build_receipt_catalog_sensor
    from ubunye_dagster.checks import (
        build_freshness_checks,
        build_health_checks,
        build_upstream_checks,
    )
    from ubunye_dagster.component import ReceiptGatesComponent
    from ubunye_dagster.gates import gated
    from ubunye_dagster.hash_checks import build_hash_checks
    from ubunye_dagster.jobs import define_gated_job
    from ubunye_dagster.missed import build_missed_windows_sensor
    from ubunye_dagster.partitions import schedule_of_partitions
    from ubunye_dagster.reconcile import build_reconcile_sensor
    from ubunye_dagster.recording import recorded
    from ubunye_dagster.resource import ReceiptStoreResource
    from ubunye_dagster.row_checks import build_row_count_checks
    from ubunye_dagster.sensors import build_upstream_receipt_sensor
    from ubunye_dagster.specs import load_receipt_asset_specs
    from ubunye_dagster.ungated import check_gates

compat.register_library()

_LATER = {
    "ubunye_dagster.batches": ("partition_format", "partition_key"),
    "ubunye_dagster.catalog": ("build_receipt_catalog_sensor",),
    "ubunye_dagster.checks": (
        "build_freshness_checks",
        "build_health_checks",
        "build_upstream_checks",
    ),
    "ubunye_dagster.component": ("ReceiptGatesComponent",),
    "ubunye_dagster.gates": ("gated",),
    "ubunye_dagster.hash_checks": ("build_hash_checks",),
    "ubunye_dagster.jobs": ("define_gated_job",),
    "ubunye_dagster.missed": ("build_missed_windows_sensor",),
    "ubunye_dagster.partitions": ("schedule_of_partitions",),
    "ubunye_dagster.reconcile": ("build_reconcile_sensor",),
    "ubunye_dagster.recording": ("recorded",),
    "ubunye_dagster.resource": ("ReceiptStoreResource",),
    "ubunye_dagster.row_checks": ("build_row_count_checks",),
    "ubunye_dagster.sensors": ("build_upstream_receipt_sensor",),
    "ubunye_dagster.specs": ("load_receipt_asset_specs",),
    "ubunye_dagster.ungated": ("check_gates",),
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
