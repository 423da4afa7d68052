"""Case 11: the triggerer dies in the middle of waits, and another takes them over."""

from __future__ import annotations

import json
import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil

from tests.airflow.standalone import elsewhere
from tests.airflow.standalone.rest import Run, User
from tests.airflow.standalone.server import Standalone

DAG = "gates_across_a_restart"


def triggers(run: Run) -> dict[str, Any]:
    """What each task's trigger was given, and the job that runs it."""
    return {name: task["trigger"] for name, task in run.tasks.items() if task["trigger"]}


def given(trigger: Any) -> Any:
    kwargs = trigger["kwargs"]
    return json.loads(kwargs) if kwargs.startswith("{") else kwargs


def test_case_11_a_wait_goes_on_in_another_triggerer_with_the_same_deadline(
    server: Standalone, admin: User, store_url: str
) -> None:
    assert elsewhere.run("restart/monthly/calc", store_url, month="2026-09") == 0
    run_id = admin.trigger(DAG, month="2026-10")
    before = admin.when(
        DAG,
        run_id,
        lambda run: (
            [each["triggerer_id"] is not None for each in triggers(run).values()] == [True, True]
        ),
        "to wait in the triggerer",
    )
    kill(server)
    server.run("triggerer", log=server.log)

    jobs = {each["triggerer_id"] for each in triggers(before).values()}

    def taken_over(run: Run) -> bool:
        return not jobs & {each["triggerer_id"] for each in triggers(run).values()}

    after = admin.when(DAG, run_id, taken_over, "to wait in the other triggerer")
    at = datetime.now(UTC)
    for name, trigger in triggers(after).items():
        assert given(trigger) == given(triggers(before)[name])

    assert elsewhere.run("restart/monthly/calc", store_url, month="2026-10") == 0
    ended = admin.ended(DAG, run_id)
    assert ended.states == {"opens": "success", "expires": "failed"}
    expired = ended.tasks["expires"]
    end = datetime.fromisoformat(expired["end_date"])
    began = datetime.fromisoformat(before.tasks["expires"]["start_date"])
    assert began + timedelta(seconds=45) <= end < at + timedelta(seconds=45)


def kill(server: Standalone) -> None:
    """Kill a triggerer with all that it has started, without a word."""
    (parent,) = (each for each in server.component("triggerer") if is_first(each))
    family = [parent, *parent.children(recursive=True)]
    for process in family:
        process.send_signal(signal.SIGKILL)
    psutil.wait_procs(family, timeout=20)


def is_first(process: psutil.Process) -> bool:
    parent = process.parent()
    return parent is None or "triggerer" not in parent.cmdline()
