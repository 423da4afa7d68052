"""What Airflow's provider manager asks of this package."""

from __future__ import annotations

from typing import Any

INTEGRATION = "Ubunye receipts"


def get_provider_info() -> dict[str, Any]:
    """Return this provider's metadata; Airflow calls it at every start, so it imports nothing."""
    return {
        "package-name": "ubunye-receipts",
        "name": INTEGRATION,
        "description": "Gates and health checks that ask about run receipts.",
        "integrations": [{"integration-name": INTEGRATION, "tags": ["software"]}],
        "hooks": [_modules("ubunye_airflow.hooks")],
        "sensors": [_modules("ubunye_airflow.sensors")],
        "operators": [_modules("ubunye_airflow.operators", "ubunye_airflow.missed")],
        "triggers": [_modules("ubunye_airflow.triggers")],
        "task-decorators": [
            {"name": "receipt", "class-name": "ubunye_airflow.decorators.receipt_task"}
        ],
        "extra-links": ["ubunye_airflow.links.ReceiptLink"],
        "connection-types": [
            {
                "connection-type": "ubunye_receipts",
                "hook-name": "Ubunye receipts",
                "hook-class-name": "ubunye_airflow.hooks.ReceiptStoreHook",
                "ui-field-behaviour": {
                    "hidden-fields": ["port", "schema", "extra"],
                    "relabeling": {"host": "Store URL"},
                    "placeholders": {
                        "host": "s3://bucket/receipts",
                        "login": "only for a store with users, such as postgresql://",
                        "password": "kept here, and not in the URL",
                    },
                },
                # A store needs nothing but its URL and, at most, a login.
                "conn-fields": {},
            }
        ],
        "config": {
            "ubunye_receipts": {
                "description": "Where run receipts are kept.",
                "options": {
                    "store": {
                        "description": "The URL of the receipt store, where neither an argument "
                        "nor a connection names one.",
                        "version_added": "0.1.0",
                        "type": "string",
                        "example": "s3://bucket/receipts",
                        "default": None,
                        "sensitive": True,
                    },
                    "show_other_orchestrators": {
                        "description": "Whether the page of receipts shows to all who may log in "
                        "what Airflow has not written. A receipt that it has written is shown to "
                        "whoever may read its DAG.",
                        "version_added": "0.1.0",
                        "type": "boolean",
                        "example": None,
                        "default": "False",
                    },
                },
            }
        },
    }


def _modules(*modules: str) -> dict[str, Any]:
    return {"integration-name": INTEGRATION, "python-modules": list(modules)}
