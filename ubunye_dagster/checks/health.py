"""Checks of the health of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import dagster as dg

from ubunye_core import Health, ReceiptStore, TaskHealth, job_health, open_store
from ubunye_dagster.checks.definition import Question, answered, check_that_asks, pairs_of
from ubunye_dagster.metadata import metadata_of, table_of
from ubunye_dagster.names import Asset
from ubunye_dagster.resource import RESOURCE_KEY

HEALTH = "receipt_health"


def build_health_checks(
    tasks: Mapping[Any, str] | Iterable[str],
    *,
    stuck_after: timedelta | str | None = None,
    max_age: timedelta | str | None = None,
    failure_threshold: int = 1,
    owner: str | None = None,
    blocking: bool = False,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
) -> list[dg.AssetChecksDefinition]:
    """One check for each asset: is the task that makes it healthy?

    Unhealthy and "cannot be told" both fail the check, with severity ERROR. A check reads receipts
    and launches nothing. Run it from a schedule of its own: a health that is asked after each run
    never notices that there are no runs.

    Args:
        tasks: The task of each asset; or tasks, each on the asset whose key is its name. A
            pattern such as ``pay/*/*`` stands for all tasks that fit.
        stuck_after: How long a run may be silent; as for ``job_health``.
        max_age: How old the newest succeeded window's end may be.
        failure_threshold: How many runs in a row must fail to be unhealthy.
        owner: Who is to be told.
        blocking: Whether an unhealthy task stops what depends on its asset.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.

    Raises:
        ConfigError: an argument is wrong.
    """

    def health_of(task: str, opened: ReceiptStore) -> Health:
        return job_health(
            task,
            store=opened,
            stuck_after=stuck_after,
            max_age=max_age,
            failure_threshold=failure_threshold,
        )

    health_of("any/such/task", open_store("memory://nothing"))  # a wrong argument raises here

    def check_of(asset: Asset | None, task: str) -> dg.AssetChecksDefinition:
        def look(opened: ReceiptStore, context: Any) -> dg.AssetCheckResult:
            health = health_of(task, opened)
            shown = metadata_of(health.verdict, health.reason, ())
            return answered(
                health.verdict, health.reason, shown | table_of_tasks(health.tasks), owner
            )

        return check_that_asks(
            Question(task, look, in_a_tick=True),
            name=HEALTH,
            asset=asset,
            description=f"Is {task} healthy?",
            resource_key=resource_key,
            store=store,
            blocking=blocking,
        )

    return [check_of(asset, task) for asset, task in pairs_of(tasks)]


def table_of_tasks(tasks: Iterable[TaskHealth]) -> dict[str, dg.MetadataValue]:
    """The health of each task, as metadata."""
    columns = (
        "task",
        "verdict",
        "last_status",
        "last_success_at",
        "consecutive_failures",
        "stuck",
        "stale",
    )
    rows = [
        {
            "task": each.task,
            "verdict": each.verdict.value,
            "last_status": each.last_status.value if each.last_status else "",
            "last_success_at": each.last_success_at.isoformat() if each.last_success_at else "",
            "consecutive_failures": str(each.consecutive_failures),
            "stuck": ", ".join(each.stuck),
            "stale": "yes" if each.stale else "",
        }
        for each in tasks
    ]
    return {"tasks": table_of(columns, rows)}
