"""Record a run from inside an Airflow task, so its receipt exists before the task's success."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from ubunye_airflow.answers import pinned
from ubunye_airflow.arguments import (
    check_one_task,
    check_path,
    check_store,
    check_text,
    check_true_or_false,
    check_variables,
    comes_later,
)
from ubunye_airflow.circumstances import orchestrator, triggered_by, window
from ubunye_airflow.compat import (
    PAUSES,
    AirflowFailException,
    AirflowSensorTimeout,
    AirflowSkipException,
    AirflowTaskTerminated,
    AirflowTaskTimeout,
    DownstreamTasksSkipped,
    known_secrets_in,
)
from ubunye_airflow.files import beside_dag
from ubunye_airflow.hooks import DEFAULT_CONN_ID, ReceiptStoreHook
from ubunye_airflow.variables import recorded_variables, yes_or_no
from ubunye_core import (
    ConfigError,
    Found,
    MissingExtraError,
    Policy,
    Receipt,
    ReceiptStore,
    Run,
    RunSkippedError,
    Status,
    StoreUnavailableError,
    Window,
    record_run,
)

log = logging.getLogger(__name__)
PolicyLike = Policy | str | Path
MOST_LOOKED_AT = 10_000
"""A receipt keeps far fewer characters of an error's message than this."""


def record_airflow_run(
    task: str,
    *,
    variables: Mapping[str, object] | None = None,
    store: str | None = None,
    store_conn_id: str | None = DEFAULT_CONN_ID,
    reason: str | None = None,
    guard: bool = False,
    rerun: bool = False,
    policy: PolicyLike | None = None,
    window: Window | None = None,
    code: str | Path | None = None,
    heartbeat_every: timedelta | str | None = None,
    record_errors: Literal["message", "type"] = "message",
    context: Mapping[str, Any] | None = None,
) -> AbstractContextManager[Run]:
    """Record what runs inside a ``with`` block of an Airflow task.

    ::

        @task
        def calc(dag_run=None):
            variables = {"month": dag_run.conf["month"]}
            with record_airflow_run("pay/monthly/calc", variables=variables) as run:
                ...

    The receipt says which DAG run and try this is, who triggered it, and what satisfied the
    sensors directly upstream. A skip is recorded as ``skipped``; a deferral leaves the receipt
    open, and the resumed task goes on with it. Recording never breaks the run.

    Args:
        task: ``usecase/package/task_name``: the name that survives a move between schedulers.
        variables: Which data this run is for. What is empty is left out.
        store: The store's URL; by default see ``ReceiptStoreHook``.
        store_conn_id: The connection of the store.
        reason: Why the run was started; by default ``reason`` in the run's conf.
        guard: Whether this run must have its batch to itself; see ``record_run``.
        rerun: With a guard: whether a batch that has succeeded may be run again.
        policy: On what terms the task may be run, such as ``require_reason``; or a task's folder
            or YAML, where they stand. A refusal fails the task; where the policy says
            ``if_held: skip``, a batch that another run holds skips it.
        window: The period of data this run is for. By default what ``window`` in the run's conf
            says (``start``, ``end``), else its partition key, else its data interval unless that
            is empty, else none.
        code: The folder or file whose code is hashed; by default the file of the caller.
        heartbeat_every: How often to show a sign of life; by default what the store asks for.
        record_errors: ``type`` keeps an exception's message out of the receipt.
        context: Airflow's context; by default that of the task that runs.

    Raises:
        ConfigError: a name or value is wrong, or no store is named.
    """
    check_path(code, "code", such_as="calc.py")
    return recorded(
        task,
        variables=variables,
        hook=ReceiptStoreHook(store_conn_id, store=store),
        reason=reason,
        guard=guard,
        rerun=rerun,
        policy=policy,
        window_given=window,
        code=Path(code or sys._getframe(1).f_code.co_filename),
        heartbeat_every=heartbeat_every,
        record_errors=record_errors,
        context=context if context is not None else _current_context(),
    )


@contextmanager
def recorded(
    task: str,
    *,
    variables: Mapping[str, object] | None,
    hook: ReceiptStoreHook,
    reason: str | None,
    code: Path | None,
    context: Mapping[str, Any],
    guard: bool = False,
    rerun: bool = False,
    policy: PolicyLike | None = None,
    window_given: Window | None = None,
    heartbeat_every: timedelta | str | None = None,
    record_errors: Literal["message", "type"] = "message",
) -> Iterator[Run]:
    """The recording itself; see ``record_airflow_run``."""
    recording = record_run(
        task,
        variables=recorded_variables(variables),
        store=_store(hook),
        guard=guard,
        rerun=rerun,
        policy=policy,
        window=window_given or window(context),
        triggered_by=triggered_by(context, reason),
        orchestrator=orchestrator(context),
        code=code,
        heartbeat_every=heartbeat_every,
        record_errors=record_errors,
        how_it_ended=how_it_ended,
    )
    try:
        with recording as run:
            take_pins(run, context)
            try:
                yield run
            except BaseException as error:
                hide_known_secrets(run, error)
                if isinstance(error, AirflowFailException | AirflowSensorTimeout):
                    # Airflow retries neither, whatever tries are left.
                    run.attempts(at_most=context["ti"].try_number)
                raise
    except RunSkippedError as error:
        raise AirflowSkipException(str(error)) from error


def check_recorded(
    *,
    task: object,
    variables: object,
    store: object,
    store_conn_id: object,
    reason: object,
    guard: object,
    rerun: object,
    policy: object,
    prefix: str = "",
) -> None:
    """Check the arguments of a recorded task when its DAG is read.

    The names of all but ``receipt_task`` begin with ``prefix``.

    Raises:
        ConfigError: one is wrong.
    """
    if task is None:
        raise ConfigError(
            "A recorded task says no receipt_task.",
            hint="Give it: receipt_task='usecase/package/task_name'.",
        )
    check_one_task(task, "receipt_task")
    check_variables(variables, f"{prefix}variables")
    check_store(store, store_conn_id, prefix=prefix)
    if reason != "":
        check_text(reason, f"{prefix}reason", such_as="the bank was late")
    check_true_or_false(guard, f"{prefix}guard")
    if not isinstance(policy, Policy):
        check_path(policy, f"{prefix}policy", such_as="policy.yaml")
    if comes_later(rerun):
        return
    if yes_or_no(rerun, f"{prefix}rerun") and not guard and policy is None:
        raise ConfigError(f"{prefix}rerun says how to guard.", hint=f"Give {prefix}guard=True too.")


def hide_known_secrets(run: Run, error: BaseException) -> None:
    """Keep out of the receipt what Airflow hides in logs, if an error's message holds it."""
    with suppress(Exception):  # a message that cannot be told is recorded by nobody
        run.secrets += known_secrets_in(str(error)[:MOST_LOOKED_AT])


def policy_beside_dag(policy: PolicyLike | None, operator: Any) -> PolicyLike | None:
    """The policy of a task; where it is a file, that is looked for beside the DAG's."""
    return beside_dag(policy, operator) if isinstance(policy, str | Path) else policy


def how_it_ended(error: BaseException) -> Status | None:
    """What an exception means in Airflow; None is the ordinary meaning."""
    if isinstance(error, PAUSES):
        return Status.RUNNING
    if isinstance(error, AirflowSkipException):
        return Status.SKIPPED
    if isinstance(error, AirflowTaskTerminated):
        return Status.INTERRUPTED
    if isinstance(error, AirflowTaskTimeout):  # not an Exception, and yet no interruption
        return Status.ERROR
    if isinstance(error, DownstreamTasksSkipped):
        return Status.SUCCESS
    return None


class NoStore:
    """Stands in for a store that could not be looked up: it keeps nothing and answers nothing."""

    def __init__(self, why: str) -> None:
        self.url, self._why = "(a store that could not be looked up)", why

    def save(self, receipt: Receipt) -> None:
        raise StoreUnavailableError(self._why)

    def load(self, task: str, run_id: str) -> Receipt:
        raise StoreUnavailableError(self._why)

    def list_runs(self, task: str, n: int = 20) -> Found:
        raise StoreUnavailableError(self._why)

    def search(self, *args: Any, **kwargs: Any) -> Found:
        raise StoreUnavailableError(self._why)


def _store(hook: ReceiptStoreHook) -> ReceiptStore:
    """The store. What is wrong raises; what is only away now must not break the run."""
    try:
        return hook.get_conn()
    except (ConfigError, MissingExtraError):
        raise
    except Exception as error:
        return NoStore(f"The receipt store could not be looked up ({type(error).__name__}).")


def take_pins(run: Run, context: Mapping[str, Any]) -> None:
    """Keep as evidence what satisfied the sensors directly upstream. Never raises."""
    try:
        for task_id in _sensors_upstream(context):
            found = context["ti"].xcom_pull(task_ids=task_id)
            for fields in [found] if isinstance(found, Mapping) else found or ():
                run.pin(pinned(fields))
    except Exception as error:
        log.warning("%s: what satisfied its gates is not pinned: %s", run.task, error)


def _sensors_upstream(context: Mapping[str, Any]) -> list[str]:
    from ubunye_airflow.requiring import AsksUpstream

    found = []
    for task in context["task"].upstream_list:
        kind = getattr(task, "operator_class", type(task))
        if isinstance(kind, type) and issubclass(kind, AsksUpstream):
            found.append(task.task_id)
    return found


def _current_context() -> Mapping[str, Any]:
    from airflow.sdk import get_current_context

    try:
        return get_current_context()
    except RuntimeError as error:
        raise ConfigError(
            "There is no Airflow task running here.", hint="Elsewhere, use record_run."
        ) from error
