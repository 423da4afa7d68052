"""Dagster resources, checks and sensors that ask about run receipts, and record them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ubunye_dagster import compat
from ubunye_dagster.batches import partition_format, partition_key
from ubunye_dagster.checks import build_health_checks, build_upstream_checks
from ubunye_dagster.gates import gated
from ubunye_dagster.jobs import define_gated_job
from ubunye_dagster.recording import recorded
from ubunye_dagster.resource import ReceiptStoreResource
from ubunye_dagster.sensors import build_upstream_receipt_sensor

if TYPE_CHECKING:
    from ubunye_dagster.missed import build_missed_windows_sensor
    from ubunye_dagster.partitions import schedule_of_partitions
    from ubunye_dagster.reconcile import build_reconcile_sensor

__all__ = [
    "ReceiptStoreResource",
    "build_health_checks",
    "build_missed_windows_sensor",
    "build_reconcile_sensor",
    "build_upstream_checks",
    "build_upstream_receipt_sensor",
    "define_gated_job",
    "gated",
    "partition_format",
    "partition_key",
    "recorded",
    "schedule_of_partitions",
]

compat.register_library()

# Schedules and plans are imported when they are asked for: a gate and a recorder need neither.
_LATER = {
    "build_reconcile_sensor": "ubunye_dagster.reconcile",
    "build_missed_windows_sensor": "ubunye_dagster.missed",
    "schedule_of_partitions": "ubunye_dagster.partitions",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
