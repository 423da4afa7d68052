"""What Airflow is told about this package, and what it makes of that."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import airflow
import jsonschema
import pytest

from ubunye_airflow.provider_info import get_provider_info

INFO = get_provider_info()


def printed_by(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_metadata_fits_airflows_own_schema() -> None:
    schema = Path(airflow.__file__).with_name("provider_info.schema.json")
    jsonschema.validate(INFO, json.loads(schema.read_text()))


def test_every_module_and_class_that_is_named_exists() -> None:
    for kind in ("hooks", "sensors", "operators", "triggers"):
        for entry in INFO[kind]:
            for module in entry["python-modules"]:
                import_module(module)
    for name in (
        INFO["connection-types"][0]["hook-class-name"],
        INFO["task-decorators"][0]["class-name"],
    ):
        module, _, attribute = name.rpartition(".")
        assert callable(getattr(import_module(module), attribute))


def test_airflow_finds_the_provider_by_its_entry_point() -> None:
    found = entry_points(group="apache_airflow_provider")
    assert [each.load()() for each in found if "ubunye" in each.value] == [INFO]


def test_airflow_shows_the_connections_form_and_keeps_the_url_apart_from_the_secret() -> None:
    from airflow.providers_manager import ProvidersManager

    manager = ProvidersManager()
    hook = manager.hooks["ubunye_receipts"]
    assert hook is not None
    assert (hook.hook_name, hook.connection_id_attribute_name) == (
        "Ubunye receipts",
        "store_conn_id",
    )
    form = manager.field_behaviours["ubunye_receipts"]
    assert form["relabeling"]["host"] == "Store URL"
    hidden = form.get("hidden_fields") or form["hidden-fields"]
    assert {"port", "schema"} <= set(hidden)
    assert "password" not in hidden


def test_the_option_of_the_configuration_is_known_and_kept_secret() -> None:
    from airflow.configuration import conf

    assert ("ubunye_receipts", "store") in conf.sensitive_config_values


def test_the_decorator_is_part_of_airflows_task() -> None:
    from airflow.sdk import task

    from ubunye_airflow.decorators import receipt_task

    assert task.receipt is receipt_task


def test_reading_the_metadata_imports_neither_airflow_nor_a_frame_library() -> None:
    program = (
        "import sys; from ubunye_airflow.provider_info import get_provider_info as f; f();"
        "print([m for m in ('airflow','pandas','pyarrow','ubunye_core') if m in sys.modules])"
    )
    assert printed_by(program) == "[]"


@pytest.mark.slow
def test_the_sensor_brings_no_frame_library_with_it() -> None:
    program = (
        "import sys; import airflow.sdk.bases.sensor, airflow.triggers.base;"
        "before = set(sys.modules); import ubunye_airflow.sensors;"
        "new = {m.partition('.')[0] for m in set(sys.modules) - before};"
        "print(sorted(new & {'pandas','numpy','pyarrow','pyspark','sqlalchemy','yaml','click'}))"
    )
    assert printed_by(program) == "[]"
