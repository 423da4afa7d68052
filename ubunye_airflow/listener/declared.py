"""How an operator's arguments name the receipt task of its runs."""

from __future__ import annotations

from collections.abc import Mapping

from airflow.sdk import Param

from ubunye_airflow.listener.rules import PARAM
from ubunye_airflow.variables import comparable_texts, is_template
from ubunye_core import ConfigError, is_pattern, record_run


def receipts(task: str, variables: Mapping[str, object] | None = None) -> dict[str, Param]:
    """The ``params`` of an operator whose runs leave receipts, where the listener is turned on.

    ::

        BashOperator(
            task_id="calc",
            bash_command="...",
            params=receipts("pay/monthly/calc", {"month": "{{ dag_run.conf['month'] }}"}),
        )

    Give each task a name of its own: a gate opens at the first success of that name. With other
    params beside: ``params={**receipts(...), "mine": 1}``. The conf of a run cannot change what is
    declared: a run whose conf tries to fails.

    Args:
        task: ``usecase/package/task_name``: the name that survives a move between schedulers.
        variables: Which data a run is for. Texts are templates, filled in when the task starts;
            what is empty then is left out.

    Raises:
        ConfigError: the name is no task's, or a variable is no single value.
    """
    if not isinstance(task, str) or is_template(task) or is_pattern(task):
        raise ConfigError(f"{task!r} names no task.", hint="A task is 'usecase/package/task_name'.")
    plain = {} if variables is None else variables
    if not isinstance(plain, Mapping):
        raise ConfigError(
            f"'variables' is {variables!r}.", hint="Use names and values: {'month': '2026-10'}."
        )
    record_run(task, variables=plain)  # what cannot be recorded is refused when the DAG is read
    declared = {"task": task, "variables": {name: _json(name, plain[name]) for name in plain}}
    # The conf of a run may override params; one that is constant refuses it.
    return {PARAM: Param(declared, description="The receipt of this task's runs.", const=declared)}


def _json(name: str, value: object) -> object:
    """A value as params can hold it: a date is its text."""
    if value is None or isinstance(value, str | int | float):
        return value
    return comparable_texts({name: value}).get(name)
