"""``@task.receipt``: a Python task that leaves a receipt of each of its runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk.bases.decorator import DecoratedOperator, task_decorator_factory

from ubunye_airflow.arguments import check_function
from ubunye_airflow.compat import AirflowSkipException
from ubunye_airflow.hooks import DEFAULT_CONN_ID, ReceiptStoreHook
from ubunye_airflow.links import ReceiptLink
from ubunye_airflow.recording import PolicyLike, check_recorded, policy_beside_dag, recorded
from ubunye_airflow.requiring import NamesStore
from ubunye_airflow.variables import yes_or_no
from ubunye_core import ConfigError

PARAMETER = "run"


class ReceiptDecoratedOperator(NamesStore, DecoratedOperator, PythonOperator):
    """A Python function as a task whose every try leaves a receipt; see ``receipt_task``."""

    template_fields: Sequence[str] = (
        *PythonOperator.template_fields,
        "receipt_task",
        "variables",
        "store",
        "store_conn_id",
        "reason",
        "rerun",
    )
    template_fields_renderers = {  # noqa: RUF012
        **PythonOperator.template_fields_renderers,
        "variables": "json",
    }
    custom_operator_name = "@task.receipt"
    operator_extra_links = (ReceiptLink(),)

    def __init__(
        self,
        *,
        python_callable: Callable[..., Any],
        op_args: Collection[Any],
        op_kwargs: Mapping[str, Any],
        receipt_task: str | None = None,
        variables: Mapping[str, object] | None = None,
        store: str | None = None,
        store_conn_id: str | None = DEFAULT_CONN_ID,
        reason: str | None = None,
        guard: bool = False,
        rerun: bool | str = False,
        policy: PolicyLike | None = None,
        **kwargs: Any,
    ) -> None:
        if receipt_task is None:
            raise ConfigError(
                f"@task.receipt of {python_callable.__name__} says no receipt_task.",
                hint="Write it in parentheses behind the decorator: "
                "@task.receipt(receipt_task='usecase/package/task_name').",
            )
        op_kwargs = _with_run(python_callable, op_args, op_kwargs)
        super().__init__(
            kwargs_to_upstream={
                "python_callable": python_callable,
                "op_args": op_args,
                "op_kwargs": op_kwargs,
            },
            python_callable=python_callable,
            op_args=op_args,
            op_kwargs=op_kwargs,
            **kwargs,
        )
        check_recorded(
            task=receipt_task,
            variables=variables,
            store=store,
            store_conn_id=store_conn_id,
            reason=reason,
            guard=guard,
            rerun=rerun,
            policy=policy,
        )
        self.receipt_task: Any = receipt_task
        self.variables = variables
        self.store, self.store_conn_id, self.reason = store, store_conn_id, reason
        self.guard, self.rerun, self.policy = guard, rerun, policy

    def execute(self, context: Any) -> Any:
        """Run the function inside a recording."""
        recording = recorded(
            self.receipt_task,
            variables=self.variables,
            hook=ReceiptStoreHook(self.store_conn_id, store=self.store),
            reason=self.reason,
            guard=self.guard,
            rerun=yes_or_no(self.rerun, "rerun"),
            policy=policy_beside_dag(self.policy, self),
            code=_file_of(self.python_callable),
            context=context,
        )
        with recording as run:
            if PARAMETER in self.op_kwargs:
                self.op_kwargs = {**self.op_kwargs, PARAMETER: run}
            returned = super().execute(context)
        if run.skip_reason is not None:
            raise AirflowSkipException(run.skip_reason)  # so that both say the same
        return returned


def receipt_task(
    python_callable: Callable[..., Any] | None = None,
    multiple_outputs: bool | None = None,
    **kwargs: Any,
) -> Any:
    """A function as a task that leaves a receipt: ``@task.receipt`` in a DAG.

    ::

        @task.receipt(
            receipt_task="pay/monthly/calc",
            variables={"month": "{{ dag_run.conf['month'] }}"},
        )
        def calc(run):
            people = pd.read_csv(...)
            run.read("people", people)

    A function with a parameter ``run`` is given the run (``read``, ``wrote``, ``expect``,
    ``count``, ``skip``, ``require``). The receipt is saved before Airflow hears of the success.

    Args:
        python_callable: The function.
        multiple_outputs: As for ``@task``.
        kwargs: ``receipt_task`` (``usecase/package/task_name``), ``variables``, ``store``,
            ``store_conn_id``, ``reason`` and ``rerun``, all of them templates; ``guard`` and
            ``policy`` (relative to the DAG's file), as for ``record_airflow_run``; and those of
            ``@task``.

    Raises:
        ConfigError: an argument is wrong, as far as that can be told when the DAG is read.
    """
    check_function(python_callable, "@task.receipt", "receipt_task")
    return task_decorator_factory(
        python_callable=python_callable,
        multiple_outputs=multiple_outputs,
        decorated_operator_class=ReceiptDecoratedOperator,
        **kwargs,
    )


def _with_run(
    function: Callable[..., Any], args: Collection[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments with a place for the run, where the function asks for it."""
    given = dict(kwargs or {})
    parameters = inspect.signature(function).parameters
    if PARAMETER not in parameters or PARAMETER in given:
        return given
    if list(parameters).index(PARAMETER) < len(args or ()):
        raise ConfigError(
            f"The parameter '{PARAMETER}' of {function.__name__} is given by @task.receipt.",
            hint="Put it last, or give the other arguments by name.",
        )
    return {**given, PARAMETER: None}


def _file_of(function: Callable[..., Any]) -> Path | None:
    with suppress(TypeError, OSError):
        return Path(inspect.getfile(inspect.unwrap(function)))
    return None
