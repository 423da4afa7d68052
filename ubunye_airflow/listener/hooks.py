"""What Airflow calls when a task starts and ends. Nothing here raises: a lost receipt is logged.

The task's own process calls with the task that runs; the scheduler and the API server, when a
process has died or a person sets a state, with a row of Airflow's database.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

from airflow.listeners import hookimpl

from ubunye_airflow.listener.rules import Named, named

log = logging.getLogger(__name__)


@hookimpl
def on_starting(component: Any) -> None:
    """A process of Airflow's starts. Those that it forks for tasks find our imports done."""

    def work() -> None:
        from ubunye_airflow.listener.inside import warm_up

        warm_up()

    if not _is_of_a_task(component):
        _safely(work, None)


@hookimpl
def on_task_instance_running(previous_state: Any, task_instance: Any) -> None:
    """A task starts, or goes on after a deferral or a reschedule."""

    def work() -> None:
        name = _recorded_from_here(task_instance)
        if name is not None:
            from ubunye_airflow.listener.inside import begin

            begin(task_instance, name)

    _safely(work, task_instance)


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
        from ubunye_airflow.listener.inside import pause

        pause()

    if _is_of_a_task(component) and "ubunye_airflow.listener.inside" in sys.modules:
        _safely(work, None)


def _ended(ti: Any, previous_state: Any, state: str, error: Any = None) -> None:
    def work() -> None:
        if _is_here(ti):
            name = _recorded_from_here(ti)
            if name is not None:
                from ubunye_airflow.listener.inside import end

                end(ti, name, state, error)
            return
        from ubunye_airflow.listener.outside import died, set_by_hand

        if previous_state is None:
            set_by_hand(ti, state)
        elif state == "failed":
            died(ti, error)

    _safely(work, ti)


def _recorded_from_here(ti: Any) -> Named | None:
    """The receipt task of a task that runs here and does not record itself."""
    if not _is_here(ti):
        return None
    name = named(ti.dag_id, ti.task_id, ti.task)
    return None if name is None or name.records_itself else name


def _is_here(ti: Any) -> bool:
    """Whether this is the process of the task."""
    return hasattr(ti, "get_template_context")


def _is_of_a_task(component: Any) -> bool:
    return type(component).__name__ == "TaskRunnerMarker"


def _safely(work: Callable[[], None], what: Any) -> None:
    try:
        work()
    except Exception as error:
        try:
            from ubunye_airflow.listener.background import told

            log.warning("The receipt%s is not recorded: %s", _of(what), told(error))
        except Exception:  # not even that
            log.warning("A receipt is not recorded.")


def _of(what: Any) -> str:
    row = getattr(what, "__dict__", {})  # what is loaded
    ids = [str(row[name]) for name in ("dag_id", "task_id") if name in row]
    return f" of {'.'.join(ids)}" if ids else ""
