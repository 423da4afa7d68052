"""What users of other tools ran into with runs that died. Numbers are of the cases."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from tests.core.questions.builders import CALC, DAY, HOUR, MINUTE, NOW, SEND, a_run, put
from ubunye_core import Orchestrator, Verdict, job_health, open_store
from ubunye_core.stores import MemoryStore
from ubunye_core.times import utc_now

ROOT = Path(__file__).parents[3]
SECOND = timedelta(seconds=1)

WORK = """
import sys, time
from ubunye_core import record_run
with record_run("pay/monthly/calc", variables={"month": "2026-10"}, store=sys.argv[1]) as run:
    print(run.run_id, flush=True)
    time.sleep(600)
"""


def test_case_13_a_run_without_a_heartbeat_past_the_limit_is_stuck_with_age_and_host() -> None:
    store = MemoryStore()
    run = put(store, a_run("running", ago=7 * HOUR, host="worker-7"))
    found = job_health(CALC, store=store, now=NOW).tasks[0]
    assert (found.verdict, found.stuck) == (Verdict.FAIL, (run.run_id,))
    assert "on worker-7 is stuck" in found.reason
    assert "running for 7h" in found.reason


def test_case_14_a_silent_parent_of_a_failed_step_is_stuck() -> None:
    store = MemoryStore()
    ids = {"run": "d-1"}
    parent = put(
        store,
        a_run(
            "running",
            ago=23 * HOUR,
            heartbeat_every=30 * SECOND,
            heartbeat_at=NOW - 22 * HOUR,
            orchestrator=Orchestrator(name="dagster", ids=ids),
        ),
    )
    step = Orchestrator(name="dagster", ids=ids | {"step": "send"})
    put(store, a_run("error", ago=22 * HOUR, task=SEND, orchestrator=step))
    assert job_health(CALC, store=store, now=NOW).tasks[0].stuck == (parent.run_id,)


def test_case_15_a_killed_run_is_suspect_at_the_next_question_without_any_daemon(
    tmp_path: Path,
) -> None:
    url = (tmp_path / "receipts").as_uri()
    with subprocess.Popen(
        [sys.executable, "-c", WORK, url], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        run_id = process.stdout.readline().strip()
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    store = open_store(url)
    just_now = job_health(CALC, store=store).tasks[0]
    assert (just_now.verdict, just_now.last_status) == (Verdict.PASS, "running")
    found = job_health(CALC, store=store, now=utc_now() + 6 * MINUTE).tasks[0]
    assert (found.verdict, found.stuck) == (Verdict.FAIL, (run_id,))
    assert os.uname().nodename in found.reason


def test_case_16_a_run_that_beats_is_never_stuck_however_tight_the_limit() -> None:
    store = MemoryStore()
    put(store, a_run("running", ago=DAY, heartbeat_every=31 * SECOND, heartbeat_at=NOW))
    for silent in range(0, 94):
        now = NOW + silent * SECOND
        assert job_health(CALC, store=store, now=now, stuck_after="90s").verdict is Verdict.PASS
    now = NOW + 94 * SECOND
    assert job_health(CALC, store=store, now=now, stuck_after="90s").verdict is Verdict.FAIL
