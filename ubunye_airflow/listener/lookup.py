"""Which receipt task a task has, as far as its earlier runs tell.

Airflow's API server hands over a task instance without its operator, and asking for that would go
into its database.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from ubunye_core import Receipt, ReceiptStore

log = logging.getLogger(__name__)
RUNS_READ = 3
LONGEST = 60.0
"""So many seconds a look through the tasks of a store may take."""


def receipt_task_on_record(dag_id: str, task_id: str, store: ReceiptStore) -> str | None:
    """The receipt task of the newest run that this task of Airflow's has left.

    Looks at the newest runs of every task in the store, and gives up after a minute.

    Raises:
        StoreUnavailableError: the store cannot be read.
    """
    tasks: Any = getattr(store, "tasks", None)
    if tasks is None:
        return None
    newest: Receipt | None = None
    until = time.monotonic() + LONGEST
    for task in tasks():
        if time.monotonic() > until:
            log.warning("The receipt task of %s.%s was not found in time.", dag_id, task_id)
            return None
        for run in store.list_runs(task, RUNS_READ):
            ids = run.ids_in("airflow")
            is_of_it = (ids.get("dag_id"), ids.get("task_id")) == (dag_id, task_id)
            if is_of_it and (newest is None or run.order > newest.order):
                newest = run
    return None if newest is None else newest.task
