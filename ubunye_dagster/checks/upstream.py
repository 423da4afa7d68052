"""Checks that an upstream has succeeded for the batch of the run: a gate that is seen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import dagster as dg

from ubunye_core import ReceiptStore, Requirement, RequirementLike, requirements_of
from ubunye_dagster.checks.definition import Question, answered, check_that_asks
from ubunye_dagster.metadata import metadata_of
from ubunye_dagster.names import Asset, names_of
from ubunye_dagster.partitions.batches import batches_of
from ubunye_dagster.partitions.variables import Variables
from ubunye_dagster.resource import RESOURCE_KEY
from ubunye_dagster.upstreams import wait_for_upstreams


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
            answer = wait_for_upstreams(
                [requirement], batches_of(context, variables), store=opened, wait="0s"
            )
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
