"""``@task.gate``: a gate whose batch a Python function tells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from airflow.sdk.bases.decorator import (
    DecoratedOperator,
    determine_kwargs,
    task_decorator_factory,
)

from ubunye_airflow.arguments import check_function
from ubunye_airflow.compat import AirflowFailException
from ubunye_airflow.requiring import WAYS, as_written
from ubunye_airflow.sensors import UpstreamReceiptSensor
from ubunye_core import ConfigError, requirements_of


class GateDecoratedOperator(DecoratedOperator, UpstreamReceiptSensor):
    """A Python function as a gate; see ``gate_task``."""

    template_fields: Sequence[str] = (
        *DecoratedOperator.template_fields,
        *UpstreamReceiptSensor.template_fields,
    )
    template_fields_renderers = {  # noqa: RUF012
        **DecoratedOperator.template_fields_renderers,
        **UpstreamReceiptSensor.template_fields_renderers,
    }
    custom_operator_name = "@task.gate"
    may_be_empty = True

    def __init__(
        self,
        *,
        python_callable: Callable[..., Any],
        op_args: Collection[Any],
        op_kwargs: Mapping[str, Any],
        multiple_outputs: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            python_callable=python_callable,
            op_args=op_args,
            op_kwargs=op_kwargs,
            multiple_outputs=False,  # what a gate pushes is its answer
            **kwargs,
        )
        self._tells_variables = any(getattr(self, way) is not None for way in WAYS)
        if self._tells_variables and self.variables is not None:
            raise ConfigError(
                f"The gate '{self.task_id}' is given 'variables', which its function returns.",
                hint="Leave them out, or let the function return what is required.",
            )

    def execute(self, context: Any) -> Any:
        """Ask the function, and then look and wait as the sensor does."""
        told = self.python_callable(
            *self.op_args,
            **determine_kwargs(self.python_callable, self.op_args, {**context, **self.op_kwargs}),
        )
        if self._tells_variables:
            self.variables = told
        else:
            self.requires = self._required(told)
        return UpstreamReceiptSensor.execute(self, context)

    def _required(self, told: Any) -> Any:
        """What is required, as the function has told it."""
        try:
            requirements_of(told)
        except ConfigError as error:
            raise AirflowFailException(
                f"The function of the gate '{self.task_id}' returned no requirement: {error}"
            ) from error
        return as_written(told)


def gate_task(
    python_callable: Callable[..., Any] | None = None,
    multiple_outputs: bool | None = None,
    **kwargs: Any,
) -> Any:
    """A function that tells for which batch a gate waits: ``@task.gate`` in a DAG.

    ::

        @task.gate(required_task="pay/monthly/calc", wait="2h")
        def calculated(dag_run=None):
            return {"month": dag_run.conf["month"]}

    The function returns the variables of this run. Where neither ``required_task``, ``requires``
    nor ``config`` is given, it returns what is required (a task, a mapping as in YAML, or a list
    of them) of a run that has ``variables``. It runs in the worker, once for each try in the
    deferrable mode and before each look in mode ``reschedule``, so it should be quick. The task is
    an ``UpstreamReceiptSensor`` in all else; its XCom is the whole answer.

    Args:
        python_callable: The function.
        multiple_outputs: Means nothing here.
        kwargs: Those of ``UpstreamReceiptSensor``, and those of ``@task``.

    Raises:
        ConfigError: an argument is wrong, as far as that can be told when the DAG is read.
    """
    check_function(python_callable, "@task.gate", "required_task")
    return task_decorator_factory(
        python_callable=python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=GateDecoratedOperator,
        **kwargs,
    )
