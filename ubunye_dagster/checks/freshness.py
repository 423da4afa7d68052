"""Checks of how recent the data of tasks is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import dagster as dg

from ubunye_core import ReceiptStore, Verdict, duration, job_health
from ubunye_dagster.checks.definition import Question, answered, check_that_asks, pairs_of
from ubunye_dagster.checks.health import table_of_tasks
from ubunye_dagster.metadata import metadata_of
from ubunye_dagster.names import Asset
from ubunye_dagster.resource import RESOURCE_KEY

FRESHNESS = "receipt_freshness"
ANY_NUMBER, ANY_TIME = 1_000_000_000, timedelta(days=36_500)
"""Limits of health that nothing reaches."""


def build_freshness_checks(
    tasks: Mapping[Any, str] | Iterable[str],
    *,
    max_age: timedelta | str,
    owner: str | None = None,
    blocking: bool = False,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
) -> list[dg.AssetChecksDefinition]:
    """One check for each asset: is the data of its task recent enough, by its receipts?

    Age is counted from the end of the newest window that succeeded, or from when the last success
    ended where runs have no window: never from when Dagster heard of it. A failure alone is no
    lack of freshness; ``build_health_checks`` tells of it. A task that has never succeeded is not
    fresh.

    Args:
        tasks: As for ``build_health_checks``.
        max_age: How old the data may be.
        owner: Who is to be told.
        blocking: Whether data that is too old stops what depends on its asset.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.

    Raises:
        ConfigError: an argument is wrong.
    """
    duration(max_age, what="max_age")

    def check_of(asset: Asset | None, task: str) -> dg.AssetChecksDefinition:
        def look(opened: ReceiptStore, context: Any) -> dg.AssetCheckResult:
            health = job_health(
                task,
                store=opened,
                max_age=max_age,
                stuck_after=ANY_TIME,
                failure_threshold=ANY_NUMBER,
            )
            reason = health.reason
            if health.verdict is Verdict.PASS:
                reason = f"{task} is fresh: no older than {max_age}."
            shown = metadata_of(health.verdict, reason, ())
            return answered(health.verdict, reason, shown | table_of_tasks(health.tasks), owner)

        return check_that_asks(
            Question(task, look, in_a_tick=True),
            name=FRESHNESS,
            asset=asset,
            description=f"Is the data of {task} no older than {max_age}?",
            resource_key=resource_key,
            store=store,
            blocking=blocking,
        )

    return [check_of(asset, task) for asset, task in pairs_of(tasks)]
