"""A run in a process of its own, which is asked to stop, or is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ubunye_core import ReceiptStore, Status, Verdict, job_health

ROOT = Path(__file__).parents[2]
TASK = "pay/monthly/calc"
SCRIPT = """
import sys, time
import dagster as dg
from ubunye_dagster import ReceiptStoreResource, recorded

@dg.asset
@recorded("pay/monthly/calc", variables={"month": "2026-10"})
def calc(context: dg.AssetExecutionContext) -> None:
    time.sleep(60)

dg.materialize([calc], resources={"receipts": ReceiptStoreResource(url=sys.argv[1])})
"""


@pytest.fixture
def process(store: ReceiptStore, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run that is under way."""
    running = subprocess.Popen([sys.executable, "-c", SCRIPT, url], cwd=ROOT)
    try:
        until = time.monotonic() + 90
        while not store.list_runs(TASK):
            assert running.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield running
    finally:
        running.kill()
        running.wait()


def test_a_run_that_is_asked_to_stop_is_on_record_as_interrupted(
    store: ReceiptStore, process: subprocess.Popen[bytes]
) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) != 0
    assert [each.status for each in store.list_runs(TASK)] == [Status.INTERRUPTED]


def test_a_run_that_is_killed_says_running_until_it_is_found_stuck(
    store: ReceiptStore, process: subprocess.Popen[bytes]
) -> None:
    process.kill()
    process.wait()
    assert [each.status for each in store.list_runs(TASK)] == [Status.RUNNING]
    health = job_health(TASK, store=store, now=datetime.now(UTC) + timedelta(minutes=10))
    assert health.verdict is Verdict.FAIL
    assert len(health.tasks[0].stuck) == 1
