"""Any operator as one whose every try leaves a receipt."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from airflow.sdk.bases.operator import BaseOperator

from ubunye_airflow.arguments import check_path
from ubunye_airflow.hooks import DEFAULT_CONN_ID, ReceiptStoreHook
from ubunye_airflow.links import ReceiptLink
from ubunye_airflow.recording import PolicyLike, check_recorded, policy_beside_dag, recorded
from ubunye_airflow.requiring import StoreURL
from ubunye_airflow.variables import yes_or_no
from ubunye_core import ConfigError, Run

_FIELDS = (
    "receipt_task",
    "receipt_variables",
    "receipt_store",
    "receipt_store_conn_id",
    "receipt_reason",
    "receipt_rerun",
)


def _runs_past_a_mixin(operator: type) -> bool:
    return issubclass(operator, BaseOperator) and "execute" in operator.__dict__


class ReceiptMixin(BaseOperator):
    """Records each try of an operator, inside the task: the receipt is there before the success.

    ::

        class RecordedBash(ReceiptMixin, BashOperator):
            pass


        RecordedBash(
            task_id="calc",
            bash_command="./calc.sh",
            receipt_task="pay/monthly/calc",
            receipt_variables={"month": "{{ dag_run.conf['month'] }}"},
        )

    An operator that defers is recorded until it has resumed and ended. An operator of one's own
    finds its run in ``receipt_run``, and notes with it what it reads and writes; that is None
    where it is used without this mixin, if the class sets it so.

    Args:
        receipt_task: ``usecase/package/task_name``. A template, as are all but the next three.
        receipt_guard: Whether a run must have its batch to itself; see ``record_airflow_run``.
        receipt_policy: On what terms the task may be run; a file is looked for beside the DAG's.
        receipt_code: The folder or file whose code is hashed; by default the operator's own.
        receipt_variables: Which data this run is for.
        receipt_store: The store's URL; by default see ``ReceiptStoreHook``.
        receipt_store_conn_id: The connection of the store.
        receipt_reason: Why the run was started; by default ``reason`` in the run's conf.
        receipt_rerun: With a guard: whether a batch that has succeeded may be run again.
        kwargs: Those of the operator.

    Raises:
        ConfigError: an argument is wrong, as far as that can be told when the DAG is read; or
            this is no operator's class yet.
    """

    receipt_store = StoreURL()
    receipt_run: Run | None = None
    """The run that is recorded, while it is."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """An operator; not the mixin alone, nor as a decorator."""
        if cls is ReceiptMixin:
            raise ConfigError(
                "ReceiptMixin is neither an operator nor a decorator.",
                hint="Write it before an operator: class RecordedBash(ReceiptMixin, BashOperator).",
            )
        return super().__new__(cls)

    def __init__(
        self,
        *,
        receipt_task: str | None = None,
        receipt_variables: Mapping[str, object] | None = None,
        receipt_store: str | None = None,
        receipt_store_conn_id: str | None = DEFAULT_CONN_ID,
        receipt_reason: str | None = None,
        receipt_guard: bool = False,
        receipt_rerun: bool | str = False,
        receipt_policy: PolicyLike | None = None,
        receipt_code: str | Path | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_recorded(
            task=receipt_task,
            variables=receipt_variables,
            store=receipt_store,
            store_conn_id=receipt_store_conn_id,
            reason=receipt_reason,
            guard=receipt_guard,
            rerun=receipt_rerun,
            policy=receipt_policy,
            prefix="receipt_",
        )
        check_path(receipt_code, "receipt_code", such_as="calc.py")
        self.receipt_task: Any = receipt_task
        self.receipt_variables = receipt_variables
        self.receipt_store, self.receipt_store_conn_id = receipt_store, receipt_store_conn_id
        self.receipt_reason, self.receipt_guard = receipt_reason, receipt_guard
        self.receipt_rerun, self.receipt_policy = receipt_rerun, receipt_policy
        self.receipt_code = receipt_code

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make templates of the arguments, and refuse a class that would not be recorded."""
        super().__init_subclass__(**kwargs)
        if ReceiptMixin in cls.__bases__ and {"execute", "resume_execution"} & cls.__dict__.keys():
            raise TypeError(
                f"{cls.__name__} defines 'execute' itself, past ReceiptMixin. Write it in a class "
                f"of its own, and record that: class Recorded{cls.__name__}(ReceiptMixin, "
                f"{cls.__name__})."
            )
        before = cls.__mro__[: cls.__mro__.index(ReceiptMixin)]
        for each in before:
            if not issubclass(each, ReceiptMixin) and _runs_past_a_mixin(each):
                raise TypeError(
                    f"{cls.__name__} would leave no receipt: {each.__name__} stands to the left "
                    f"of ReceiptMixin. Write ReceiptMixin first: "
                    f"class {cls.__name__}(ReceiptMixin, {each.__name__})."
                )
        fields = tuple(getattr(cls, "template_fields", ()))
        new = tuple(name for name in _FIELDS if name not in fields)
        renderers = getattr(cls, "template_fields_renderers", {})
        links = tuple(getattr(cls, "operator_extra_links", ()))
        cls.template_fields = (*fields, *new)
        cls.template_fields_renderers = {
            "receipt_variables": "json",
            **renderers,
        }
        if not any(isinstance(link, ReceiptLink) for link in links):
            cls.operator_extra_links = (*links, ReceiptLink())

    def execute(self, context: Any) -> Any:
        """Run the operator inside a recording."""
        return self._recorded(context, lambda: super(ReceiptMixin, self).execute(context))

    def resume_execution(
        self, next_method: str, next_kwargs: dict[str, Any] | None, context: Any
    ) -> Any:
        """Go on after a deferral, inside the recording that was left open."""
        resume = super().resume_execution
        return self._recorded(context, lambda: resume(next_method, next_kwargs, context))

    def _recorded(self, context: Any, call: Callable[[], Any]) -> Any:
        if self.receipt_run is not None:  # one of the two has called the other
            return call()
        recording = recorded(
            self.receipt_task,
            variables=self.receipt_variables,
            hook=ReceiptStoreHook(self.receipt_store_conn_id, store=self.receipt_store),
            reason=self.receipt_reason,
            guard=self.receipt_guard,
            rerun=yes_or_no(self.receipt_rerun, "receipt_rerun"),
            policy=policy_beside_dag(self.receipt_policy, self),
            code=self._code(),
            context=context,
        )
        with recording as run:
            self.receipt_run = run
            try:
                return call()
            finally:
                self.receipt_run = None

    def _code(self) -> Path | None:
        """What is hashed: what was given, else the file of the operator that is recorded."""
        if self.receipt_code is not None:
            return Path(self.receipt_code)
        recorded_class = next(
            each
            for each in type(self).__mro__
            if each is not ReceiptMixin and "execute" in each.__dict__
        )
        with suppress(TypeError, OSError):
            return Path(inspect.getfile(recorded_class))
        return None
