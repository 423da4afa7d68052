"""``wait-for --wait`` as a process: it ends when the answer is there, and says what goes on."""

from __future__ import annotations

import json
import signal
import time
from datetime import UTC, datetime, timedelta

import pytest

from ubunye_core import Receipt, Status

CALC = "pay/monthly/calc"
FAST = ("wait-for", CALC, "--var", "month=2026-10", "--poll", "0.1s")


def receipt(status: str, run_id: str) -> Receipt:
    began = datetime.now(UTC) - timedelta(seconds=1)
    ended = None if status == "running" else began
    return Receipt(
        task=CALC,
        run_id=run_id,
        status=Status(status),
        started_at=began,
        ended_at=ended,
        variables={"month": "2026-10"},
    )


def test_a_wait_ends_as_soon_as_the_success_is_written(begin, store):
    store.save(receipt("running", "r1"))
    process = begin(*FAST, "--wait", "50s", "--json")
    assert "from the start of this process" in process.stderr.readline()
    assert "not yet" in process.stderr.readline()
    store.save(receipt("success", "r1"))
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert json.loads(out)["requirements"][0]["satisfied_by"] == "r1"


def test_a_wait_says_only_what_is_new(shell, store):
    store.save(receipt("running", "r1"))
    answer = shell(*FAST, "--wait", "1.5s")
    assert answer.code == 1
    assert answer.err.count("not yet") == 1
    assert answer.out.count("\n") == 1
    assert "Waited" in answer.out


def test_a_wait_that_ran_out_on_an_unknown_look_is_exit_3(shell, store, damage):
    store.save(receipt("error", "r1"))
    damage()
    answer = shell(*FAST, "--wait", "1s", "--json")
    assert answer.code == 3
    assert answer.document["verdict"] == "UNKNOWN"


def test_a_deadline_in_the_past_looks_once(shell, store):
    store.save(receipt("error", "r1"))
    began = time.monotonic()
    answer = shell(*FAST, "--deadline", "2026-11-01T00:00:00Z")
    assert answer.code == 1
    assert "not yet" not in answer.err
    assert time.monotonic() - began < 30  # a machine that is busy takes seconds to begin


@pytest.mark.slow
def test_a_deadline_ends_a_wait_whenever_it_began(shell, store):
    store.save(receipt("running", "r1"))
    for seconds in (1.5, 6, 24):  # a busy machine may take longer than that to begin
        end = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()
        answer = shell(*FAST, "--deadline", end)
        assert answer.code == 1
        if "Waited" in answer.out:
            break
    assert "until the deadline" in answer.out


def test_a_failed_upstream_ends_the_wait_at_once_where_asked(shell, store):
    store.save(receipt("error", "r1"))
    began = time.monotonic()
    assert shell(*FAST, "--wait", "50s", "--on-failed", "fail").code == 1
    assert time.monotonic() - began < 40  # not fifty seconds


def test_an_unknown_task_ends_the_wait_unless_it_is_allowed(shell, store):
    began = time.monotonic()
    assert shell(*FAST, "--wait", "50s").code == 1
    assert time.monotonic() - began < 40  # not fifty seconds
    answer = shell(*FAST, "--wait", "1s", "--allow-unknown")
    assert answer.code == 1
    assert "Waited" in answer.out


def test_a_requirement_s_own_wait_counts_where_no_option_says_otherwise(shell, store, folder):
    store.save(receipt("running", "r1"))
    (folder / "receipts.yaml").write_text(
        f"requires:\n  - task: {CALC}\n    variables: [month]\n    wait: 1.5s\n    poll: 0.1s\n"
    )
    answer = shell("wait-for", "--config", "receipts.yaml", "--var", "month=2026-10")
    assert answer.code == 1
    assert "Waited" in answer.out


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_ctrl_c_ends_a_wait_with_130(begin, store, form):
    store.save(receipt("running", "r1"))
    process = begin(*FAST, "--wait", "50s", *form)
    process.stderr.readline()
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in err
    if form:
        assert json.loads(out)["exit_code"] == 130
