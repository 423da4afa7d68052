"""Dagster resources, checks and sensors that ask about run receipts, and record them."""

from ubunye_dagster import compat
from ubunye_dagster.batches import partition_format, partition_key
from ubunye_dagster.checks import build_health_checks, build_upstream_checks
from ubunye_dagster.gates import gated
from ubunye_dagster.jobs import define_gated_job
from ubunye_dagster.recording import recorded
from ubunye_dagster.resource import ReceiptStoreResource
from ubunye_dagster.sensors import build_upstream_receipt_sensor

__all__ = [
    "ReceiptStoreResource",
    "build_health_checks",
    "build_upstream_checks",
    "build_upstream_receipt_sensor",
    "define_gated_job",
    "gated",
    "partition_format",
    "partition_key",
    "recorded",
]

compat.register_library()
