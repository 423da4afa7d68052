"""Ask once, from a DAG: are jobs healthy, and have upstreams succeeded?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from airflow.sdk.bases.operator import BaseOperator

from ubunye_airflow.answers import health_fields
from ubunye_airflow.arguments import (
    check_length,
    check_number,
    check_store,
    check_tasks,
    comes_later,
    number,
    word,
    word_as_written,
)
from ubunye_airflow.circumstances import window
from ubunye_airflow.compat import AirflowException, AirflowFailException
from ubunye_airflow.external import agreed, understood
from ubunye_airflow.gate import Gate, Look, Outcome
from ubunye_airflow.hooks import DEFAULT_CONN_ID, ReceiptStoreHook
from ubunye_airflow.links import ReceiptLink
from ubunye_airflow.requiring import ANY_TASK, AsksUpstream, NamesStore
from ubunye_airflow.variables import given_variables
from ubunye_core import (
    ConfigError,
    MissingExtraError,
    Requirement,
    RequirementLike,
    StoreUnavailableError,
    Verdict,
    job_health,
)


class Severity(StrEnum):
    """What becomes of the task when jobs are not healthy."""

    ERROR = "error"
    WARN = "warn"
    """It succeeds with a warning. A store that cannot be looked up fails it in any case."""


class RequirementOperator(AsksUpstream, BaseOperator):
    """Fails unless upstream tasks have succeeded for the batch of this run. Asks once.

    ::

        RequirementOperator(
            task_id="calculated",
            required_task="pay/monthly/calc",
            variables={"month": "{{ dag_run.conf['month'] }}"},
        )

    A refusal that is decided is not retried by Airflow: the task is unknown to the store, was
    skipped by decision, or has finally failed and ``on_failed`` is ``fail``. What is merely not
    there yet, or cannot be told, fails in the ordinary way, so ``retries`` ask again. The whole
    answer is pushed as XCom first, and the recorder of the task behind it finds the pins there.

    Args:
        required_task: The upstream task (or a pattern). Its success must agree on every one of
            ``variables`` less ``mode`` and ``dtf``.
        variables: The variables of this run. An empty value is an error.
        requires: Instead of ``required_task``: requirements as in YAML.
        config: Instead of both: a task's ``config.yaml``, ``receipts.yaml``, or their folder;
            relative to the DAG's file, and read in the worker.
        match: With ``required_task``: the names that must agree, where not all of them.
        store: The store's URL; by default see ``ReceiptStoreHook``.
        store_conn_id: The connection of the store.
        max_age: With ``required_task``: how old the success may be.
        on_failed: With ``required_task``: ``wait`` (a rerun may come), or ``fail``.
        optional: With ``required_task``: a miss is recorded, and passes.
        allow_unknown: With ``required_task``: a task that the store has never seen may still come.
        asker: The task that is asked for; by default the one recorded directly behind.
        kwargs: Those of every operator, and those of ``ExternalTaskSensor`` that mean something
            here.

    Raises:
        ConfigError: an argument is wrong, as far as that can be told when the DAG is read.
    """

    template_fields: Sequence[str] = (
        "required_task",
        "variables",
        "requires",
        "config",
        "store",
        "store_conn_id",
        "asker",
    )
    template_fields_renderers = {"variables": "json", "requires": "json"}  # noqa: RUF012
    operator_extra_links = (ReceiptLink(),)
    ui_color = "#dceadf"

    def __init__(
        self,
        *,
        required_task: str | None = None,
        variables: Mapping[str, object] | None = None,
        requires: RequirementLike | Iterable[RequirementLike] | None = None,
        config: str | Path | None = None,
        match: Sequence[str] | None = None,
        store: str | None = None,
        store_conn_id: str | None = DEFAULT_CONN_ID,
        max_age: timedelta | str | None = None,
        on_failed: str = "wait",
        optional: bool = False,
        allow_unknown: bool = False,
        asker: str | None = None,
        **kwargs: Any,
    ) -> None:
        if "wait" in kwargs or "poll" in kwargs:
            raise ConfigError(
                "A RequirementOperator asks once, so it takes neither 'wait' nor 'poll'.",
                hint="UpstreamReceiptSensor waits.",
            )
        ours = understood(kwargs)
        asked = Requirement(
            ANY_TASK,
            max_age=max_age,
            on_failed=agreed("on_failed", on_failed, "wait", ours),
            optional=optional,
            allow_unknown=agreed("allow_unknown", allow_unknown, False, ours),
        )
        super().__init__(**kwargs)
        self._ask(
            asked,
            required_task=required_task,
            requires=requires,
            config=config,
            variables=variables,
            match=match,
            store=store,
            store_conn_id=store_conn_id,
            asker=asker,
        )
        self._look: Look | None = None

    def execute(self, context: Any) -> dict[str, Any]:
        """Ask once.

        Raises:
            AirflowFailException: a decided refusal, or a wrong setting; Airflow does not retry.
            AirflowException: not yet, or it cannot be told.
        """
        try:
            gate = Gate(
                requires=self._requirements(),
                variables=given_variables(self.variables),
                store=self.store,
                store_conn_id=self.store_conn_id,
                since=datetime.now(UTC),
                asker=self._asker(),
                window=window(context),
            )
        except ConfigError as error:
            raise AirflowFailException(str(error)) from error
        self._look = look = gate.look()
        self.log.info("%s", look.message)
        answer = {} if look.answer is None else dict(look.answer)
        if look.outcome is Outcome.OPEN:
            return answer
        if look.answer is not None and "ti" in context:
            context["ti"].xcom_push(key="return_value", value=answer)
        if look.outcome is Outcome.REFUSED:
            raise AirflowFailException(look.message)
        raise AirflowException(look.message)


class HealthCheckOperator(NamesStore, BaseOperator):
    """Fails unless jobs are healthy: not failing, not stuck and not stale, wherever they run.

    It fails too when it cannot be told. The whole answer is pushed as XCom first, where a notifier
    among ``on_failure_callback`` finds it.

    Args:
        tasks: Tasks and patterns such as ``pay/*/*``.
        store: The store's URL; by default see ``ReceiptStoreHook``.
        store_conn_id: The connection of the store.
        stuck_after: How long a run may be silent, such as ``2h``.
        max_age: How old the newest success may be.
        failure_threshold: How many runs in a row must fail to be unhealthy.
        severity: ``error`` fails; ``warn`` succeeds with a warning in the log, also when it cannot
            be told, so whoever acts on it reads ``verdict`` in the XCom.

    Raises:
        ConfigError: an argument is wrong, as far as that can be told when the DAG is read.
    """

    template_fields: Sequence[str] = (
        "tasks",
        "store",
        "store_conn_id",
        "stuck_after",
        "max_age",
        "failure_threshold",
        "severity",
    )
    operator_extra_links = (ReceiptLink(),)
    ui_color = "#dceadf"

    def __init__(
        self,
        *,
        tasks: str | Sequence[str],
        store: str | None = None,
        store_conn_id: str | None = DEFAULT_CONN_ID,
        stuck_after: timedelta | str | None = None,
        max_age: timedelta | str | None = None,
        failure_threshold: int = 1,
        severity: Severity | str = Severity.ERROR,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_tasks(tasks, "tasks")
        check_length(stuck_after, "stuck_after")
        check_length(max_age, "max_age")
        check_number(failure_threshold, "failure_threshold", at_least=1)
        check_store(store, store_conn_id)
        self.tasks = tasks if isinstance(tasks, str) or comes_later(tasks) else list(tasks)
        self.store, self.store_conn_id = store, store_conn_id
        self.stuck_after, self.max_age = stuck_after, max_age
        self.failure_threshold = failure_threshold
        self.severity = word_as_written(Severity, severity, "severity")

    def execute(self, context: Any) -> dict[str, Any]:
        """Ask once.

        Raises:
            AirflowException: jobs are not healthy, or it cannot be told.
            AirflowFailException: an argument is wrong; Airflow does not retry.
        """
        try:
            severity = word(Severity, self.severity, "severity")
            store = ReceiptStoreHook(self.store_conn_id, store=self.store).get_conn()
            health = job_health(
                self.tasks,
                store=store,
                stuck_after=self.stuck_after,
                max_age=self.max_age,
                failure_threshold=number(self.failure_threshold, "failure_threshold"),
            )
        except StoreUnavailableError as error:
            raise AirflowException(str(error)) from error
        except (ConfigError, MissingExtraError) as error:
            raise AirflowFailException(str(error)) from error
        answer = health_fields(health, store.url)
        if health.verdict is Verdict.PASS:
            self.log.info("%s", health.reason)
            return answer
        if severity is Severity.WARN:
            self.log.warning("%s", health.reason)
            return answer
        self.log.info("%s", health.reason)
        context["ti"].xcom_push(key="return_value", value=answer)
        raise AirflowException(health.reason)
