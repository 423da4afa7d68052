"""The listener where a task runs: a recording that begins and ends with the task."""

from __future__ import annotations

import inspect
import logging
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ubunye_airflow.circumstances import orchestrator, triggered_by, window
from ubunye_airflow.compat import AirflowException, without_known_secrets
from ubunye_airflow.listener.background import Background
from ubunye_airflow.listener.rules import Named
from ubunye_airflow.listener.store import listener_store
from ubunye_airflow.recording import hide_known_secrets, how_it_ended, take_pins
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

    def leave(
        self, error: BaseException | None, *, skipped: bool = False, last: int | None = None
    ) -> None:
        if self.run is not None and skipped:
            self.run.skip("The task skipped itself.")  # Airflow does not tell a listener why
        if self.run is not None and error is not None:
            hide_known_secrets(self.run, error)
        if self.run is not None and last is not None:
            self.run.attempts(at_most=last)
        self.recording.__exit__(None if error is None else type(error), error, None)


_open: dict[Key, _Open] = {}
"""What is being recorded in this process: one task, or those of a ``dag.test()`` in turn."""


def warm_up() -> None:
    """Do now what the first recording of a process does once: imports, versions of packages."""

    def rehearse() -> None:
        with record_run("airflow/listener/warm_up", store="memory://ubunye_airflow.listener"):
            pass

    # In the main thread a recording would have signals and forks of the scheduler looked after.
    thread = threading.Thread(target=rehearse, daemon=True)
    thread.start()
    thread.join(WAIT_TO_BEGIN)


def begin(ti: Any, name: Named) -> None:
    """The task starts, or goes on: its receipt says ``running``. Waits for the store, a while."""
    found = _recording(ti, name)
    _open[_key(ti)] = found
    background.do(found.what, found.enter, wait=WAIT_TO_BEGIN)
    has_gates = "ubunye_airflow.sensors" in sys.modules  # the DAG's file has been read here
    if found.run is not None and has_gates:
        take_pins(found.run, ti.get_template_context())


def end(ti: Any, name: Named, state: str, error: object = None) -> None:
    """The task is over: its receipt says how. ``state``: ``success``, ``skipped``, ``failed``."""
    found = _open.pop(_key(ti), None)
    if found is None:  # it failed before it began, or another listener kept Airflow from saying so
        found = _recording(ti, name)
        background.do(found.what, found.enter)
    match state:
        case "success":
            leave = partial(found.leave, None)
        case "skipped":
            leave = partial(found.leave, None, skipped=True)
        case _:
            is_final = str(getattr(ti.state, "value", ti.state)) == "failed"
            # Airflow makes no other try then, whatever tries are left.
            leave = partial(found.leave, _raised(error), last=ti.try_number if is_final else None)
    background.do(found.what, leave, wait=WAIT_TO_END)


def pause() -> None:
    """The process of the task stops, and the task is not over: no sign of life is due."""
    while _open:
        _, found = _open.popitem()
        background.do(found.what, partial(found.leave, PausedError()), wait=WAIT_TO_BEGIN)


def _recording(ti: Any, name: Named) -> _Open:
    """A recording of this try."""
    context = ti.get_template_context()
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


def _raised(error: object) -> BaseException:
    """What a task that has failed has raised, as far as Airflow tells."""
    if isinstance(error, BaseException):
        return error
    return AirflowException(str(error) if error else "The task failed; Airflow does not say why.")


def _code(operator: Any) -> Path | None:
    """The file whose code runs: of a Python task its function's, else the DAG's."""
    function: Any = getattr(operator, "python_callable", None)
    with suppress(TypeError, OSError):
        return Path(inspect.getfile(inspect.unwrap(function)))
    return Path(operator.dag.fileloc)


def _key(ti: Any) -> Key:
    return (ti.dag_id, ti.run_id, ti.task_id, -1 if ti.map_index is None else ti.map_index)
