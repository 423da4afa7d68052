"""Asset checks that show what the gates and the health of tasks are, in Dagster's own words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import dagster as dg

from ubunye_core import (
    Health,
    ReceiptStore,
    Requirement,
    RequirementLike,
    TaskHealth,
    Verdict,
    duration,
    job_health,
    open_store,
    requirements_of,
)
from ubunye_dagster.asked import (
    Asset,
    Question,
    answered,
    check_that_asks,
    names_of,
    pairs_of,
    table_of,
)
from ubunye_dagster.asking import ask
from ubunye_dagster.batches import Variables, batches_of
from ubunye_dagster.refusals import metadata_of
from ubunye_dagster.resource import RESOURCE_KEY

HEALTH, FRESHNESS = "receipt_health", "receipt_freshness"
ANY_NUMBER, ANY_TIME = 1_000_000_000, timedelta(days=36_500)
"""Limits of health that nothing reaches."""


def build_upstream_checks(
    requires: RequirementLike | Iterable[RequirementLike],
    *,
    asset: Asset | None = None,
    variables: Variables | None = None,
    blocking: bool = True,
    partitions_def: dg.PartitionsDefinition | None = None,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
) -> list[dg.AssetChecksDefinition]:
    """One check for each upstream task: has it succeeded for the batch of the run?

    A check stands on the asset that stands for the upstream, and blocks what depends on it in the
    same run. It is no guarantee: a run that does not select the check is not stopped by it
    (Dagster's own jobs select none). ``define_gated_job`` selects it; ``@gated`` is the guarantee.

    Args:
        requires: As for ``@gated``.
        asset: The asset that the checked one depends on. Left out: the one whose key is the
            task's name, ``AssetKey(["pay", "monthly", "calc"])``, external or not.
        variables: The batch to ask for. Left out: the partition's key.
        blocking: Whether an answer other than yes stops what depends on the asset.
        partitions_def: Keep one status for each partition, which Dagster calls a preview. Without
            it there is one status, that of the partition checked last.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.

    Raises:
        ConfigError: a requirement is wrong.
    """
    asked = requirements_of(requires)
    names = names_of([f"upstream_{each.task}" for each in asked])

    def check_of(name: str, requirement: Requirement) -> dg.AssetChecksDefinition:
        def look(opened: ReceiptStore, context: Any) -> dg.AssetCheckResult:
            answer = ask([requirement], batches_of(context, variables), store=opened, wait="0s")
            return answered(
                answer.verdict,
                answer.reason,
                metadata_of(answer.verdict, answer.reason, answer.requirements),
            )

        return check_that_asks(
            Question(requirement.task, look, in_a_tick=False),
            name=name,
            asset=asset,
            description=f"Has {requirement.task} succeeded for this batch?",
            resource_key=resource_key,
            store=store,
            blocking=blocking,
            partitions_def=partitions_def,
        )

    return [check_of(name, each) for name, each in zip(names, asked, strict=True)]


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
            return answered(health.verdict, health.reason, shown | _tasks(health.tasks), owner)

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
            return answered(health.verdict, reason, shown | _tasks(health.tasks), owner)

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


def _tasks(tasks: Iterable[TaskHealth]) -> dict[str, dg.MetadataValue]:
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
