"""What Airflow calls when a task starts and ends. Nothing here raises: a lost receipt is logged.

The task's own process calls with the task that runs; the scheduler and the API server, when a
process has died or a person sets a state, with a row of Airflow's database.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from airflow.listeners import hookimpl

log = logging.getLogger(__name__)


@hookimpl
def on_task_instance_running(previous_state: Any, task_instance: Any) -> None:
    """A task starts, or goes on after a deferral or a reschedule."""

    def work() -> None:
        if _is_here(task_instance):
            from ubunye_airflow.listener import inside

            inside.begin(task_instance)

    _safely(work, _what(task_instance))


@hookimpl
def on_task_instance_success(previous_state: Any, task_instance: Any) -> None:
    """A task has succeeded, or somebody says so."""
    _ended(task_instance, previous_state, "success")


@hookimpl
def on_task_instance_skipped(previous_state: Any, task_instance: Any) -> None:
    """A task has skipped itself, or somebody says so."""
    _ended(task_instance, previous_state, "skipped")


@hookimpl
def on_task_instance_failed(previous_state: Any, task_instance: Any, error: Any) -> None:
    """A try has failed, its process has died, or somebody says so."""
    _ended(task_instance, previous_state, "failed", error)


@hookimpl
def before_stopping(component: Any) -> None:
    """The process of a task stops. What is open then is deferred, or looks again later."""

    def work() -> None:
        from ubunye_airflow.listener import inside

        inside.pause()

    if type(component).__name__ == "TaskRunnerMarker":
        _safely(work, "what was open")


def _ended(ti: Any, previous_state: Any, state: str, error: Any = None) -> None:
    def work() -> None:
        if _is_here(ti):
            from ubunye_airflow.listener import inside

            inside.end(ti, error, skipped=state == "skipped")
            return
        from ubunye_airflow.listener.outside import died, set_by_hand

        if previous_state is None:
            set_by_hand(ti, state)
        elif state == "failed":
            died(ti, error)

    _safely(work, _what(ti))


def _is_here(ti: Any) -> bool:
    """Whether this is the process of the task."""
    return hasattr(ti, "get_template_context")


def _safely(work: Callable[[], None], what: str) -> None:
    try:
        work()
    except Exception as error:
        try:
            from ubunye_airflow.listener.background import told

            log.warning("The receipt of %s is not recorded: %s", what, told(error))
        except Exception:  # not even that
            log.warning("A receipt is not recorded.")


def _what(ti: Any) -> str:
    row = getattr(ti, "__dict__", {})  # what is loaded
    return f"{row.get('dag_id')}.{row.get('task_id')}"
