"""Catch up the months that were not calculated: exactly those, oldest first, two at once."""

from __future__ import annotations

from pathlib import Path

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import Param, dag

from ubunye_airflow import MissedWindowsOperator

TASKS = Path(__file__).parents[1] / "tasks"


@dag(
    schedule=None,  # "@hourly", to catch up without being asked
    tags=["example"],
    doc_md=__doc__,
    params={
        "since": Param("90d", type="string", description="Months that were due since, or so long"),
        "include": Param("missing+failed", enum=["missing", "missing+failed", "all"]),
    },
)
def backfill_missed_windows():
    missed = MissedWindowsOperator(
        task_id="missed",
        receipt_task="pay/monthly/calc",
        config=TASKS / "calc" / "receipts.yaml",
        since="{{ params.since }}",
        include="{{ params.include }}",
        catchup="all",
        cap=2,
        max_runs=3,
        trigger_dag_id="pay_calc",
    )
    TriggerDagRunOperator.partial(
        task_id="catch_up",
        trigger_dag_id="pay_calc",
        skip_when_already_exists=True,
        map_index_template="{{ task.trigger_run_id }}",
    ).expand_kwargs(missed.output)


dag = backfill_missed_windows()
