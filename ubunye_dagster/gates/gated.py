"""``@gated``: a step of Dagster does nothing unless its upstreams have succeeded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import dagster as dg

from ubunye_core import (
    ConfigError,
    ReceiptStore,
    RequirementLike,
    UpstreamAnswer,
    UpstreamNotMetError,
    Verdict,
    requirements_of,
)
from ubunye_dagster.calls import around_calls
from ubunye_dagster.partitions.batches import batches_of
from ubunye_dagster.partitions.variables import Variables
from ubunye_dagster.recording.recorded import UnderWay, under_way
from ubunye_dagster.refusals import refused
from ubunye_dagster.resource import RESOURCE_KEY
from ubunye_dagster.upstreams import wait_for_upstreams

Function = TypeVar("Function", bound=Callable[..., Any])


def gated(
    requires: RequirementLike | Iterable[RequirementLike],
    *,
    variables: Variables | None = None,
    wait: timedelta | str | None = None,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
) -> Callable[[Function], Function]:
    """Run an asset or op only if its upstreams have succeeded for its batch.

    ::

        @dg.asset(partitions_def=monthly)
        @recorded("pay/monthly/send", variables={"month": partition_format("%Y-%m")})
        @gated("pay/monthly/calc")
        def send(context: dg.AssetExecutionContext) -> None: ...

    This is the guarantee, whoever launches the run and whatever it selects; an asset check only
    shows the same. A step that is refused fails, with the reason; a plain no is not tried again,
    whatever its retry policy, and "cannot be told" may be. Of a range of partitions, every one
    must pass. Below ``@recorded`` a refusal leaves a ``skipped`` receipt with the outcome
    ``refused``, and what let the run pass is pinned into its receipt.

    Args:
        requires: The upstream tasks: names, mappings as in YAML, ``Requirement`` objects, or what
            ``read_requirements`` returns.
        variables: The batch to ask for. Left out: that of ``@recorded``, else the partition's key.
        wait: How long to keep looking, in the running step. Left out: each requirement's own
            ``wait``, which is one look unless it says otherwise. A sensor waits at less cost.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.

    Raises:
        ConfigError: a requirement is wrong, or the function cannot be gated.
    """
    asked = requirements_of(requires)

    def decorate(function: Function) -> Function:
        @contextmanager
        def around(context: Any, opened: ReceiptStore) -> Iterator[Mapping[str, object]]:
            recording = under_way(context)
            answer = _answer(context, recording, opened)
            context.log.info(answer.reason)
            if answer.verdict is not Verdict.PASS:
                raise UpstreamNotMetError(answer) if recording else refused(answer)
            if recording is not None:
                recording.run.pin(answer)
            yield {}

        def _answer(
            context: Any, recording: UnderWay | None, opened: ReceiptStore
        ) -> UpstreamAnswer:
            try:
                if variables is None and recording is not None:
                    batches = recording.batches
                else:
                    batches = batches_of(context, variables)
                asker = None if recording is None else recording.run.task
                return wait_for_upstreams(asked, batches, store=opened, asker=asker, wait=wait)
            except ConfigError as error:  # trying again does not help
                raise dg.Failure(str(error), allow_retries=False) from error

        return around_calls(function, around, by="gated", resource_key=resource_key, store=store)

    return decorate
