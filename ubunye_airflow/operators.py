"""Ask about the health of jobs, from a DAG."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from airflow.sdk.bases.operator import BaseOperator

from ubunye_airflow.answers import health_fields
from ubunye_airflow.compat import AirflowException, AirflowFailException
from ubunye_airflow.hooks import DEFAULT_CONN_ID, ReceiptStoreHook
from ubunye_core import ConfigError, MissingExtraError, StoreUnavailableError, Verdict, job_health


class HealthCheckOperator(BaseOperator):
    """Fails unless jobs are healthy: not failing, not stuck and not stale, wherever they run.

    It fails too when it cannot be told. The whole answer is pushed as XCom first.

    Args:
        tasks: Tasks and patterns such as ``pay/*/*``.
        store: The store's URL; by default see ``ReceiptStoreHook``.
        store_conn_id: The connection of the store.
        stuck_after: How long a run may be silent, such as ``2h``.
        max_age: How old the newest success may be.
        failure_threshold: How many runs in a row must fail to be unhealthy.
    """

    template_fields: Sequence[str] = (
        "tasks",
        "store",
        "store_conn_id",
        "stuck_after",
        "max_age",
        "failure_threshold",
    )
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
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.tasks = tasks if isinstance(tasks, str) else list(tasks)
        self.store, self.store_conn_id = store, store_conn_id
        self.stuck_after, self.max_age = stuck_after, max_age
        self.failure_threshold = failure_threshold

    def execute(self, context: Any) -> dict[str, Any]:
        """Ask once."""
        try:
            store = ReceiptStoreHook(self.store_conn_id, store=self.store).get_conn()
            health = job_health(
                self.tasks,
                store=store,
                stuck_after=self.stuck_after,
                max_age=self.max_age,
                failure_threshold=int(self.failure_threshold),
            )
        except StoreUnavailableError as error:
            raise AirflowException(str(error)) from error
        except (ConfigError, MissingExtraError) as error:
            raise AirflowFailException(str(error)) from error
        answer = health_fields(health, store.url)
        self.log.info("%s", health.reason)
        if health.verdict is not Verdict.PASS:
            context["ti"].xcom_push(key="return_value", value=answer)
            raise AirflowException(health.reason)
        return answer
