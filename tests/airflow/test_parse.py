"""A DAG file that imports this package is read with no store, network or database at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DAG_FILE = """
from datetime import timedelta

from airflow.sdk import DAG, task
from ubunye_airflow import (
    HealthCheckOperator, MissedWindowsOperator, RequirementOperator, UpstreamReceiptSensor,
    record_airflow_run,
)
from ubunye_core import Requirement

MONTH = {"month": "{{ dag_run.conf['month'] }}"}

with DAG("read", schedule="0 2 * * *", default_args={"retries": 2}) as dag:
    where = {"store": "s3://nowhere/at-all"}
    gate = UpstreamReceiptSensor(
        task_id="gate", required_task="pay/monthly/*", variables=MONTH, wait="2h", **where
    )
    UpstreamReceiptSensor(task_id="by_file", config="missing.yaml", deferrable=True)
    UpstreamReceiptSensor(
        task_id="by_yaml", requires=[{"task": "a/b/c", "variables": []}, Requirement("d/e/f")]
    )
    RequirementOperator(
        task_id="once", required_task="a/b/c", variables=MONTH, store_conn_id="nobodys"
    )
    HealthCheckOperator(
        task_id="health", tasks=["*/*/*"], store="postgresql://me:hunter2@nowhere/x"
    )
    MissedWindowsOperator(task_id="missed", receipt_task="a/b/c", catchup="all")

    @task.gate(required_task="a/b/c")
    def told():
        return {"month": "2026-10"}

    @task.receipt(receipt_task="pay/monthly/send", variables=MONTH, policy="policy.yaml")
    def send(run): ...

    [gate, told()] >> send()
"""

PROGRAM = """
import sys

def hook(event, args):
    if event.startswith("socket.") and event not in ALLOWED:
        raise RuntimeError(f"{event} while a DAG file is read: {args}")
    if event in ("sqlite3.connect", "sqlite3.connect/handle"):
        raise RuntimeError(f"a database is opened while a DAG file is read: {args}")
    if event == "open" and isinstance(args[0], str) and args[0].endswith((".db", "missing.yaml")):
        raise RuntimeError(f"{args[0]} is opened while a DAG file is read")

ALLOWED = ("socket.gethostname",)
import airflow.sdk
sys.addaudithook(hook)
names = {"__name__": "a_dag_file", "__file__": "a_dag_file.py"}
exec(compile(sys.stdin.read(), "a_dag_file.py", "exec"), names)
dag = names["dag"]
assert len(dag.tasks) == 8, dag.tasks
from airflow.serialization.serialized_objects import DagSerialization
DagSerialization.to_dict(dag)
heavy = {"obstore", "psycopg", "deltalake", "pandas", "pyarrow"}
print(sorted(heavy & set(sys.modules)))
"""


@pytest.mark.slow
def test_a_dag_file_is_read_with_no_store_network_or_database(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(tmp_path),
        "UBUNYE_STORE": "s3://nowhere/either",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=DAG_FILE,
        capture_output=True,
        text=True,
        env=environment,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip().splitlines()[-1] == "[]"
    assert not list(tmp_path.rglob("*.db"))
