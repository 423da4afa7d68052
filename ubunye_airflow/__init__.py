"""Airflow sensors, operators and hooks that ask about run receipts, and record them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ubunye_airflow.hooks import ReceiptStoreHook
    from ubunye_airflow.listener.declared import receipts
    from ubunye_airflow.missed import MissedWindowsOperator
    from ubunye_airflow.mixins import ReceiptMixin
    from ubunye_airflow.operators import HealthCheckOperator, RequirementOperator
    from ubunye_airflow.recording import record_airflow_run
    from ubunye_airflow.sensors import UpstreamReceiptSensor
    from ubunye_airflow.timetables import schedule_of_dag

__all__ = [
    "HealthCheckOperator",
    "MissedWindowsOperator",
    "ReceiptMixin",
    "ReceiptStoreHook",
    "RequirementOperator",
    "UpstreamReceiptSensor",
    "receipts",
    "record_airflow_run",
    "schedule_of_dag",
]

# Airflow imports this package in every process to read its metadata: what is shown here is
# imported when it is asked for.
_PLACES = {
    "HealthCheckOperator": "ubunye_airflow.operators",
    "MissedWindowsOperator": "ubunye_airflow.missed",
    "ReceiptMixin": "ubunye_airflow.mixins",
    "ReceiptStoreHook": "ubunye_airflow.hooks",
    "RequirementOperator": "ubunye_airflow.operators",
    "UpstreamReceiptSensor": "ubunye_airflow.sensors",
    "receipts": "ubunye_airflow.listener.declared",
    "record_airflow_run": "ubunye_airflow.recording",
    "schedule_of_dag": "ubunye_airflow.timetables",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
