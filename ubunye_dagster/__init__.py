"""Dagster resources, checks and sensors that ask about run receipts."""

from ubunye_dagster.batches import partition_format, partition_key
from ubunye_dagster.recording import recorded
from ubunye_dagster.resource import ReceiptStoreResource

__all__ = [
    "ReceiptStoreResource",
    "partition_format",
    "partition_key",
    "recorded",
]
