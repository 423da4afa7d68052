"""The listener in the scheduler and the API server: how a task ended that cannot tell it itself.

What is given there is a row of Airflow's database, inside a transaction that is not ours: only what
is loaded is read, and nothing is asked of Airflow. The store is written to in the background.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

from ubunye_airflow.circumstances import orchestrator, triggered_by, window
from ubunye_airflow.listener.background import Background
from ubunye_airflow.listener.lookup import receipt_task_on_record
from ubunye_airflow.listener.rules import Named, named
from ubunye_airflow.listener.store import listener_store, own_store
from ubunye_airflow.variables import is_template
from ubunye_core import (
    Orchestrator,
    Receipt,
    ReceiptStore,
    Status,
    TriggeredBy,
    TriggerKind,
    Window,
    end_attempt,
    open_store,
    record_afterwards,
)

log = logging.getLogger(__name__)
BY_SCHEDULER, BY_HAND = "airflow", "by hand"
SET_BY_HAND = "set_by_hand"
"""The outcome of a ``skipped`` receipt that stands for a state which somebody has set."""
A_NOTE_IS_NEW = timedelta(minutes=1)
_NEEDED = ("dag_id", "run_id", "task_id", "map_index", "try_number", "max_tries")

background = Background()


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A try of a task, as far as a row of Airflow's database tells."""

    named: Named | None
    """Its receipt task; None where the operator was not at hand, and nothing else names one."""
    knows_operator: bool
    orchestrator: Orchestrator
    """Airflow's names for it."""
    started_at: datetime | None
    window: Window | None
    triggered_by: TriggeredBy
    decided_by: TriggeredBy
    """Who sets a state by hand, and why, as far as Airflow tells."""
    store: str | None
    """The URL of the store, where the operator names it."""

    def opened_store(self) -> ReceiptStore:
        """The store that the receipts of this task are in."""
        return open_store(self.store) if self.store else listener_store()

    def name_in(self, store: ReceiptStore) -> Named | None:
        """The receipt task. Without the operator, that of the task's earlier runs comes first."""
        if self.knows_operator:
            return self.named
        ids = self.orchestrator.ids
        task = receipt_task_on_record(ids["dag_id"], ids["task_id"], store)
        return self.named if task is None else Named(task=task, variables={})

    @property
    def what(self) -> str:
        """The try, for the log."""
        return "The end of {dag_id}.{task_id} in {run_id}".format(**self.orchestrator.ids)


def died(ti: Any, error: object) -> None:
    """The process of a task is gone, or it never started: what it left open is interrupted."""
    attempt = attempt_of(ti)
    if attempt is not None:
        background.do(attempt.what, partial(_end, attempt, str(error or "Airflow does not say.")))


def set_by_hand(ti: Any, state: str) -> None:
    """Somebody sets the state of a task: never a success on record, but a decision."""
    attempt = attempt_of(ti)
    if attempt is not None:
        background.do(attempt.what, partial(_decide, attempt, state))


def _end(attempt: Attempt, reason: str) -> None:
    store = attempt.opened_store()
    name = attempt.name_in(store)
    if name is None:
        return
    known = end_attempt(
        name.task, attempt.orchestrator, ended_by=BY_SCHEDULER, reason=reason, store=store
    )
    if known or name.records_itself:  # that one may keep its receipts elsewhere
        return
    record_afterwards(
        name.task,
        Status.INTERRUPTED,
        reason=reason,
        ended_by=BY_SCHEDULER,
        store=store,
        started_at=attempt.started_at,
        variables=_plain(name),
        window=attempt.window,
        triggered_by=attempt.triggered_by,
        orchestrator=attempt.orchestrator,
    )


def _decide(attempt: Attempt, state: str) -> None:
    store = attempt.opened_store()
    name = attempt.name_in(store)
    if name is None:
        return
    who = attempt.decided_by.actor or "Somebody"
    reason = f"{who} set this task to '{state}' by hand in Airflow."
    known = end_attempt(
        name.task, attempt.orchestrator, ended_by=BY_HAND, reason=reason, store=store
    )
    if state == "failed" or (known and known[0].outcome == SET_BY_HAND):
        return
    like: Receipt | None = known[0] if known else None
    record_afterwards(
        name.task,
        Status.SKIPPED,
        reason=f"{reason} Whether its work was done is not on record.",
        ended_by=BY_HAND,
        store=store,
        variables=dict(like.variables) if like else _plain(name),
        window=like.window if like else attempt.window,
        triggered_by=attempt.decided_by,
        orchestrator=attempt.orchestrator,
        outcome=SET_BY_HAND,
    )


def _plain(name: Named) -> Mapping[str, Any]:
    """The variables, where they are no templates: only the task can fill those in."""
    values = name.variables.values()
    has_templates = any(isinstance(value, str) and is_template(value) for value in values)
    return {} if has_templates else name.variables


def attempt_of(ti: Any) -> Attempt | None:
    """What is loaded of a task instance; None where it can have no receipt.

    Anything that is not loaded would be fetched by the transaction that this is called in.
    """
    row = vars(ti)
    missing = [name for name in _NEEDED if name not in row]
    if missing:
        log.warning("A receipt is not recorded: Airflow does not tell %s.", ", ".join(missing))
        return None
    operator = row.get("task")
    name = named(row["dag_id"], row["task_id"], operator)
    if name is None and operator is not None:
        return None
    if name is not None and is_template(name.task):
        log.info("%s.%s: its receipt task is a template.", row["dag_id"], row["task_id"])
        return None
    run = row.get("dag_run")
    loaded = {} if run is None else vars(run)
    context = {
        "ti": SimpleNamespace(**{each: row[each] for each in _NEEDED}, log_url=ti.log_url),
        "dag_run": SimpleNamespace(**{k: v for k, v in loaded.items() if not k.startswith("_")}),
        "data_interval_start": loaded.get("data_interval_start"),
        "data_interval_end": loaded.get("data_interval_end"),
    }
    return Attempt(
        named=name,
        knows_operator=operator is not None,
        orchestrator=orchestrator(context),
        started_at=row.get("start_date"),
        window=window(context),
        triggered_by=triggered_by(context),
        decided_by=_who_decides(row.get("task_instance_note")),
        store=own_store(name),
    )


def _who_decides(note: Any) -> TriggeredBy:
    """Who sets a state by hand: Airflow tells it only where a note is given with the state."""
    row = {} if note is None else vars(note)
    at = row.get("updated_at") or row.get("created_at")
    is_new = at is None or datetime.now(UTC) - at < A_NOTE_IS_NEW
    if not row or not is_new:
        return TriggeredBy(kind=TriggerKind.MANUAL, asserted_by="airflow")
    return TriggeredBy(
        kind=TriggerKind.MANUAL,
        actor=row.get("user_id"),
        asserted_by="airflow",
        reason=row.get("content"),
    )
