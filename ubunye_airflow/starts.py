"""From a planned window to the DAG run that catches it up, which is made once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ubunye_airflow.answers import iso
from ubunye_core import ConfigError, PlannedWindow, Schedule

UNDER_WAY = ["queued", "running"]
NOT_VARIABLES = ("window", "reason")
"""What the conf of a DAG run tells beside its variables."""


def run_to_trigger(planned: PlannedWindow, versions: Sequence[Schedule]) -> dict[str, Any]:
    """What a ``TriggerDagRunOperator`` is given for a window.

    Its run id is the same until another run of the window is on record: Airflow refuses a second
    DAG run of that name.

    Raises:
        ConfigError: the schedule's variable has a name that the conf needs for itself.
    """
    for name in NOT_VARIABLES:
        if name in planned.variables:
            raise ConfigError(
                f"The schedule of {planned.task} names its windows by the variable '{name}', which "
                f"the conf of a DAG run has for something else.",
                hint="Give the variable another name.",
            )
    window: dict[str, str] = {"start": iso(planned.window.start), "end": iso(planned.window.end)}
    zones = {version.time_zone for version in versions}
    if len(zones) == 1:
        window["time_zone"] = zones.pop()
    task = planned.task.replace("/", ".")
    return {
        "trigger_run_id": f"catchup__{task}__{planned.window.name}__{len(planned.runs)}",
        # A window may be caught up beside the run that Airflow has for its logical date.
        "logical_date": None,
        "conf": {
            **planned.variables,
            "window": window,
            "reason": f"catch-up of {planned.window.name}, which was {planned.state}",
        },
    }


def why_not(ti: Any, dag_id: str, planned: PlannedWindow, run_id: str) -> str | None:
    """Why a window is not to be started again, by what Airflow says; None where it may be.

    What is queued has no receipt yet.

    Args:
        ti: The task that asks.
        dag_id: The DAG that runs the window's task.
        planned: The window.
        run_id: The run that would catch it up.
    """
    if ti.get_dr_count(dag_id=dag_id, run_ids=[run_id]):
        return (
            f"the DAG run {run_id} of {dag_id} has been triggered for it, and no run of it is on "
            f"record since; if it has failed, clear it"
        )
    dates = [planned.window.start, planned.window.due]  # with a data interval, and without
    if ti.get_dr_count(dag_id=dag_id, logical_dates=dates, states=UNDER_WAY):
        return f"Airflow has a run of {dag_id} for it that is queued or running"
    return None
