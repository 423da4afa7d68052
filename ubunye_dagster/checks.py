"""Asset checks that show what the gates and the health of tasks are, in Dagster's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import dagster as dg

from ubunye_core import (
    ReceiptStore,
    Requirement,
    RequirementLike,
    TaskHealth,
    Verdict,
    job_health,
    requirements_of,
)
from ubunye_dagster.asking import ask
from ubunye_dagster.batches import Variables, batches_of
from ubunye_dagster.calls import around_calls
from ubunye_dagster.refusals import metadata_of
from ubunye_dagster.resource import RESOURCE_KEY

Asset = dg.AssetKey | str | Sequence[str] | dg.AssetsDefinition | dg.AssetSpec
HEALTH = "receipt_health"


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
    names = _names([f"upstream_{each.task}" for each in asked])

    def check_of(name: str, requirement: Requirement) -> dg.AssetChecksDefinition:
        def check(
            context: dg.AssetCheckExecutionContext, opened: ReceiptStore
        ) -> dg.AssetCheckResult:
            answer = ask([requirement], batches_of(context, variables), store=opened, wait="0s")
            return dg.AssetCheckResult(
                passed=answer.verdict is Verdict.PASS,
                severity=dg.AssetCheckSeverity.ERROR,
                description=answer.reason,
                metadata=metadata_of(answer.verdict, answer.reason, answer.requirements),
            )

        return dg.asset_check(
            asset=_key(asset, requirement.task),
            name=name,
            blocking=blocking,
            description=f"Has {requirement.task} succeeded for this batch?",
            partitions_def=partitions_def,
        )(_with_store(check, resource_key, store))

    return [check_of(name, each) for name, each in zip(names, asked, strict=True)]


def build_health_checks(
    tasks: Mapping[Any, str] | Iterable[str],
    *,
    stuck_after: timedelta | str | None = None,
    max_age: timedelta | str | None = None,
    failure_threshold: int = 1,
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
        blocking: Whether an unhealthy task stops what depends on its asset.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.
    """
    pairs = (
        list(tasks.items())
        if isinstance(tasks, Mapping)
        else [(None, task) for task in ([tasks] if isinstance(tasks, str) else tasks)]
    )

    def check_of(asset: Asset | None, task: str) -> dg.AssetChecksDefinition:
        def check(
            context: dg.AssetCheckExecutionContext, opened: ReceiptStore
        ) -> dg.AssetCheckResult:
            health = job_health(
                task,
                store=opened,
                stuck_after=stuck_after,
                max_age=max_age,
                failure_threshold=failure_threshold,
            )
            return dg.AssetCheckResult(
                passed=health.verdict is Verdict.PASS,
                severity=dg.AssetCheckSeverity.ERROR,
                description=health.reason,
                metadata=_health_metadata(health.verdict, health.reason, health.tasks),
            )

        return dg.asset_check(
            asset=_key(asset, task),
            name=HEALTH,
            blocking=blocking,
            description=f"Is {task} healthy?",
        )(_with_store(check, resource_key, store))

    return [check_of(asset, task) for asset, task in pairs]


def _health_metadata(
    verdict: Verdict, reason: str, tasks: tuple[TaskHealth, ...]
) -> dict[str, dg.MetadataValue]:
    shown = metadata_of(verdict, reason, ())
    columns = ("task", "verdict", "last_status", "last_success_at", "consecutive_failures", "stuck")
    rows = [
        dg.TableRecord(
            {
                "task": each.task,
                "verdict": each.verdict.value,
                "last_status": each.last_status.value if each.last_status else "",
                "last_success_at": each.last_success_at.isoformat() if each.last_success_at else "",
                "consecutive_failures": str(each.consecutive_failures),
                "stuck": ", ".join(each.stuck),
            }
        )
        for each in tasks
    ]
    schema = dg.TableSchema([dg.TableColumn(name) for name in columns])
    shown["tasks"] = dg.MetadataValue.table(rows, schema=schema)
    return shown


def _with_store(check: Any, resource_key: str, store: str | None) -> Any:
    """The check with its store given to it, where Dagster would give it a resource."""

    @contextmanager
    def around(context: Any, opened: ReceiptStore) -> Iterator[Mapping[str, object]]:
        yield {"opened": opened}

    return around_calls(
        check, around, by="asset_check", resource_key=resource_key, store=store, gives="opened"
    )


def _key(asset: Asset | None, task: str) -> Any:
    return dg.AssetKey(task.split("/")) if asset is None else asset


def _names(wanted: Sequence[str]) -> list[str]:
    """Names as Dagster allows them, each used once; the same for the same requirements."""
    names: list[str] = []
    for text in wanted:
        name = re.sub(r"\W", "_", text, flags=re.ASCII)
        same = sum(each == name or each.startswith(f"{name}__") for each in names)
        names.append(f"{name}__{same + 1}" if same else name)
    return names
