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
            {"name": "receipt", "class-name": "ubunye_airflow.decorators.receipt_task"},
            {"name": "gate", "class-name": "ubunye_airflow.gate_decorator.gate_task"},
        ],
        "extra-links": ["ubunye_airflow.links.ReceiptLink"],
        "connection-types": [
            {
                "connection-type": "ubunye_receipts",
                "hook-name": "Ubunye receipts",
                "hook-class-name": "ubunye_airflow.hooks.ReceiptStoreHook",
                "ui-field-behaviour": {
                    "hidden-fields": ["port", "schema"],
                    "relabeling": {"host": "Store URL"},
                    "placeholders": {
                        "host": "s3://bucket/receipts",
                        "login": "only for a store with users, such as postgresql://",
                        "password": "kept here, and not in the URL",
                        "extra": '{"sslmode": "verify-full"}: any other option of the URL',
                    },
                },
                "conn-fields": {
                    "region": _field("Region", "Of a bucket on S3, such as eu-west-1."),
                    "endpoint": _field(
                        "Endpoint",
                        "Of a bucket on another server than Amazon's, Google's or Azure's.",
                    ),
                    "access_key_id": _field("S3 access key id", "For s3:// and delta+s3://."),
                    "secret_access_key": _secret("S3 secret access key", "Of that key id."),
                    "session_token": _secret(
                        "S3 session token", "Where the key is a short-lived one."
                    ),
                    "service_account_key": _secret(
                        "Google service account key", "The key's JSON, for gs://."
                    ),
                    "account_name": _field("Azure account name", "For az://."),
                    "account_key": _secret("Azure account key", "Of that account."),
                },
            }
        ],
        "config": {
            "ubunye_receipts": {
                "description": "Where run receipts are kept, and which tasks leave one.",
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
                    "listener": {
                        "description": "Whether each task that names its receipt task leaves a "
                        "receipt of every run, written by a listener. The listener takes the "
                        "store from 'store' or UBUNYE_STORE, never from a connection. With any "
                        "listener, DAGs that use end_from_trigger=True fail to import.",
                        "version_added": "0.1.0",
                        "type": "boolean",
                        "example": None,
                        "default": "False",
                    },
                    "receipt_tasks": {
                        "description": "For the listener: the receipt tasks of tasks, as JSON. "
                        "Each key is dag_id/task_id; each value a receipt task, an object with "
                        "'task' and 'variables', or null for none.",
                        "version_added": "0.1.0",
                        "type": "string",
                        "example": '{"pay_calc/calc": "pay/monthly/calc"}',
                        "default": None,
                    },
                    "receipt_task_rule": {
                        "description": "For the listener: how the receipt tasks of all other tasks "
                        "are made of their ids. It holds {dag_id} and {task_id}, each once.",
                        "version_added": "0.1.0",
                        "type": "string",
                        "example": "airflow/{dag_id}/{task_id}",
                        "default": None,
                    },
                    "receipt_variables": {
                        "description": "For the listener: the variables of tasks that "
                        "receipt_tasks or receipt_task_rule name, as JSON. The values are "
                        "templates.",
                        "version_added": "0.1.0",
                        "type": "string",
                        "example": '{"month": "{{ dag_run.conf.get(\'month\') }}"}',
                        "default": None,
                    },
                },
            }
        },
    }


def _field(label: str, description: str, **schema: str) -> dict[str, Any]:
    """A field of the connection's form; what stands in it is kept in the extra."""
    kind = {"type": ["string", "null"], **schema}
    return {"label": label, "description": description, "schema": kind}


def _secret(label: str, description: str) -> dict[str, Any]:
    """A field that the form does not show once it is saved."""
    return _field(label, description, format="password")


def _modules(*modules: str) -> dict[str, Any]:
    return {"integration-name": INTEGRATION, "python-modules": list(modules)}
