"""The listener where a task runs: a recording that begins and ends with the task."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ubunye_airflow.circumstances import orchestrator, triggered_by, window
from ubunye_airflow.compat import AirflowException, without_known_secrets
from ubunye_airflow.listener.background import Background
from ubunye_airflow.listener.rules import Named, named
from ubunye_airflow.listener.store import listener_store
from ubunye_airflow.recording import how_it_ended, take_pins
from ubunye_airflow.variables import FOUND_NOTHING, is_template
from ubunye_core import Recording, Run, Status, record_run

log = logging.getLogger(__name__)
WAIT_TO_BEGIN, WAIT_TO_END = 5.0, 10.0
"""So many seconds a task waits at most for a store that does not answer. After a success Airflow
leaves a task 20 seconds."""

MASK = "***"
Key = tuple[str, str, str, int]
background = Background()


class PausedError(Exception):
    """The task is not over: it is deferred, or looks again later."""


@dataclass
class _Open:
    """A recording that is entered in one hook of Airflow's, and left in another."""

    recording: Recording
    what: str
    run: Run | None = None

    def enter(self) -> None:
        self.run = self.recording.__enter__()

    def leave(self, error: BaseException | None, *, last_try: int | None = None) -> None:
        if self.run is not None and last_try is not None:
            self.run.attempts(at_most=last_try)
        self.recording.__exit__(None if error is None else type(error), error, None)

    def skip(self, reason: str) -> None:
        if self.run is not None:
            self.run.skip(reason)
        self.leave(None)


_open: dict[Key, _Open] = {}
"""What is being recorded in this process: one task, or those of a ``dag.test()`` in turn."""


def begin(ti: Any) -> None:
    """The task starts, or goes on: its receipt says ``running``. Waits for the store, a while."""
    context = ti.get_template_context()
    found = _recording(ti, context)
    if found is None:
        return
    _open[_key(ti)] = found
    background.do(found.what, found.enter, wait=WAIT_TO_BEGIN)
    has_gates = "ubunye_airflow.sensors" in sys.modules  # the DAG's file has been read here
    if found.run is not None and has_gates:
        take_pins(found.run, context)


def end(ti: Any, error: object = None, *, skipped: bool = False) -> None:
    """The task is over: its receipt says how."""
    context = ti.get_template_context()
    found = _open.pop(_key(ti), None)
    if found is None and error is not None:
        found = _recording(ti, context)  # it failed before it began: a template of its arguments
        if found is not None:
            background.do(found.what, found.enter)
    if found is None:
        return
    raised = _exception(error, context)
    if skipped:
        reason = "The task skipped itself." if raised is None else str(raised)
        background.do(found.what, partial(found.skip, reason), wait=WAIT_TO_END)
        return
    is_final = str(getattr(ti.state, "value", ti.state)) == "failed"  # whatever tries are left
    last = ti.try_number if raised is not None and is_final else None
    background.do(found.what, partial(found.leave, raised, last_try=last), wait=WAIT_TO_END)


def pause() -> None:
    """The process of the task stops, and the task is not over: no sign of life is due."""
    while _open:
        _, found = _open.popitem()
        background.do(found.what, partial(found.leave, PausedError()), wait=WAIT_TO_BEGIN)


def _recording(ti: Any, context: Mapping[str, Any]) -> _Open | None:
    """A recording of this try; None where nothing names its receipt task, or it records itself."""
    name = named(ti.dag_id, ti.task_id, ti.task)
    if name is None or name.records_itself:
        return None
    variables = rendered(name, ti.task, context)
    recording = record_run(
        name.task,
        variables=variables,
        store=listener_store(),
        window=window(context),
        triggered_by=triggered_by(context),
        orchestrator=orchestrator(context),
        code=_code(ti.task),
        how_it_ended=_how_it_ended,
    )
    return _Open(recording, f"The receipt of {name.task}")


def rendered(name: Named, operator: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of a run; what is empty, or cannot be told, is left out.

    One that holds what Airflow knows as a secret is ``***``, which is equal to nothing.
    """
    found, jinja = {}, None
    for key, value in name.variables.items():
        if isinstance(value, str) and is_template(value):
            jinja = jinja or operator.get_template_env()
            template = jinja.from_string(value)
            try:
                parts = template.root_render_func(template.new_context(dict(context)))
                value = "".join(map(str, parts))  # always text: 1.10 is no number
            except Exception as error:
                log.warning("%s: its variable '%s' cannot be told: %s", name.task, key, error)
                continue
        if value is not None and str(value).strip() not in FOUND_NOTHING:
            found[key] = value if without_known_secrets(value) == value else MASK
    return found


def _how_it_ended(error: BaseException) -> Status | None:
    return Status.RUNNING if isinstance(error, PausedError) else how_it_ended(error)


def _exception(error: object, context: Mapping[str, Any]) -> BaseException | None:
    """What the task has raised, as far as Airflow tells."""
    found = error if error is not None else context.get("exception")
    if found is None or isinstance(found, BaseException):
        return found
    return AirflowException(str(found))


def _code(operator: Any) -> Path | None:
    """The file whose code runs: of a Python task its function's, else the DAG's."""
    function: Any = getattr(operator, "python_callable", None)
    with suppress(TypeError, OSError):
        return Path(inspect.getfile(inspect.unwrap(function)))
    return Path(operator.dag.fileloc)


def _key(ti: Any) -> Key:
    return (ti.dag_id, ti.run_id, ti.task_id, -1 if ti.map_index is None else ti.map_index)
