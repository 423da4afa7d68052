"""What Airflow's provider manager asks of this package."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """Return this provider's metadata; Airflow calls it at every start, so it imports nothing."""
    return {
        "package-name": "ubunye-receipts",
        "name": "Ubunye receipts",
        "description": "Gates and health checks that ask about run receipts.",
    }
