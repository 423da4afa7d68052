"""What a DAG run has left open when it ends: the last tries of tasks whose processes were killed.

Airflow hears of such a try from the process beside it, as of any other failure, and then calls no
hook of the task: only the end of the DAG run shows that nothing goes on any more.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from ubunye_airflow.compat import conf
from ubunye_airflow.listener.background import Background
from ubunye_airflow.listener.outside import BY_SCHEDULER, background
from ubunye_airflow.listener.rules import RefusedError, named
from ubunye_airflow.listener.store import listener_store, own_store
from ubunye_airflow.variables import is_template
from ubunye_core import Receipt, ReceiptStore, end_attempt, open_store

log = logging.getLogger(__name__)
NEWEST = 50
"""How many of a task's newest runs are looked at."""
LONGER = timedelta(seconds=10)
"""How much longer than Airflow lets a task live that has ended, for its own word."""

later = Background()


@dataclass(frozen=True, kw_only=True)
class EndedRun:
    """A DAG run that has ended, as far as a row of Airflow's database tells."""

    dag_id: str
    run_id: str
    state: str
    at: datetime
    tasks: frozenset[tuple[str, str | None]]
    """The receipt tasks of its tasks, each with its store's URL where the operator names it."""

    def left_open(self, task: str, store: ReceiptStore) -> list[Receipt]:
        """The runs of a receipt task that this one has started, and that have told no end."""
        return [
            receipt
            for receipt in store.list_runs(task, NEWEST)
            if not receipt.status.is_final
            and receipt.started_at <= self.at  # not one that was started again since
            and receipt.ids_in("airflow").get("dag_id") == self.dag_id
            and receipt.ids_in("airflow").get("run_id") == self.run_id
        ]


def dag_run_ended(dag_run: Any, state: str) -> None:
    """Look, in the background, for what the DAG run has left open."""
    row = vars(dag_run)
    dag = row.get("dag")
    if dag is None or not {"dag_id", "run_id"} <= row.keys():
        log.info("What a DAG run left open is not looked for: Airflow does not tell its tasks.")
        return
    ended = EndedRun(
        dag_id=str(row["dag_id"]),
        run_id=str(row["run_id"]),
        state=state,
        at=datetime.now(UTC),
        tasks=_receipt_tasks(str(row["dag_id"]), dag),
    )
    for task, url in sorted(ended.tasks, key=str):
        background.do(f"What {ended.dag_id} left open", partial(_look, ended, task, url))


def _receipt_tasks(dag_id: str, dag: Any) -> frozenset[tuple[str, str | None]]:
    found = set()
    for operator in dag.tasks:
        try:
            name = named(dag_id, operator.task_id, operator)
        except RefusedError as error:
            log.info("%s.%s: %s", dag_id, operator.task_id, error)
            continue
        if name is not None and not is_template(name.task):
            found.add((name.task, own_store(name)))
    return frozenset(found)


def _look(ended: EndedRun, task: str, url: str | None) -> None:
    """Find out whether anything is open. Where something is, it may still tell its own end."""
    store = open_store(url) if url else listener_store()
    if ended.left_open(task, store):
        later.do(f"What {ended.dag_id} left open", partial(_end, ended, task, store))


def _end(ended: EndedRun, task: str, store: ReceiptStore) -> None:
    """End what is still open then: all waits are equally long, so one thread waits for all."""
    patience = conf.getfloat("core", "task_success_overtime", fallback=20.0)
    due = ended.at + timedelta(seconds=patience) + LONGER
    time.sleep(max(0.0, (due - datetime.now(UTC)).total_seconds()))
    reason = f"Its DAG run has ended ({ended.state}), and this try has not told how it ended."
    for receipt in ended.left_open(task, store):
        if receipt.orchestrator is not None:
            end_attempt(
                task, receipt.orchestrator, ended_by=BY_SCHEDULER, reason=reason, store=store
            )
