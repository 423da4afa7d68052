"""The listener is opt-in: where it is off, Airflow is as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from importlib.metadata import entry_points

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.exceptions import AirflowClusterPolicyError
from airflow.listeners.listener import get_listener_manager
from airflow.providers.standard.sensors.time_delta import TimeDeltaSensor
from airflow.sdk import DAG

from ubunye_airflow.listener.plugin import ReceiptListenerPlugin

PROGRAM = """
import json, os, sys
from airflow.sdk import listener, plugins_manager

def found():
    manager = listener.get_listener_manager()
    ours = [name for name in sys.modules if name.startswith(("ubunye_core", "ubunye_airflow"))]
    return [plugin.__name__ for plugin in manager.pm.get_plugins()], sorted(ours)

off = found()
os.environ["AIRFLOW__UBUNYE_RECEIPTS__LISTENER"] = "True"
plugins_manager._get_plugins.cache_clear()
listener.get_listener_manager.cache_clear()
print(json.dumps([off, found()]))
"""


@pytest.mark.slow
def test_airflow_finds_the_plugin_and_registers_the_listener_only_where_it_is_on() -> None:
    environment = {name: os.environ[name] for name in os.environ if "UBUNYE" not in name}
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    off, on = json.loads(told.stdout.splitlines()[-1])
    assert "ubunye_airflow.listener.hooks" not in off[0]
    assert "ubunye_airflow.listener.plugin" in off[1]
    assert not [name for name in off[1] if name.startswith("ubunye_core")]
    assert not {"ubunye_airflow.listener.hooks", "ubunye_airflow.listener.rules"} & set(off[1])
    assert "ubunye_airflow.listener.hooks" in on[0]
    assert not [name for name in on[1] if name.startswith("ubunye_core")]  # until a task needs it


def test_the_entry_point_names_the_plugin() -> None:
    found = [each.load() for each in entry_points(group="airflow.plugins") if "ubun" in each.value]
    assert ReceiptListenerPlugin in found


def test_an_option_that_is_no_yes_or_no_turns_nothing_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__LISTENER", "perhaps")
    with pytest.raises(Exception, match="listener"):
        ReceiptListenerPlugin()


def test_a_dag_that_ends_from_its_trigger_is_read_only_where_the_listener_is_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with DAG("ends_from_trigger", schedule=None) as dag:
        TimeDeltaSensor(task_id="waits", delta=timedelta(0), deferrable=True, end_from_trigger=True)
    assert ReceiptListenerPlugin().listeners == []
    DagBag(dag_folder="/dev/null").bag_dag(dag)
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__LISTENER", "True")
    hooks, _ = ReceiptListenerPlugin().listeners
    get_listener_manager().add_listener(hooks)
    try:
        with pytest.raises(AirflowClusterPolicyError, match="end_from_trigger"):
            DagBag(dag_folder="/dev/null").bag_dag(dag)
    finally:
        get_listener_manager().pm.unregister(hooks)
