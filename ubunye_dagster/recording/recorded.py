"""``@recorded``: a step of Dagster leaves a receipt."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

import dagster as dg

from ubunye_core import (
    ConfigError,
    Orchestrator,
    Policy,
    ReceiptStore,
    Run,
    RunRefusedError,
    TriggeredBy,
    TriggerKind,
    UpstreamNotMetError,
    read_policy,
    record_run,
)
from ubunye_dagster.calls import around_calls
from ubunye_dagster.compat.context import Attempt, attempt_of
from ubunye_dagster.partitions.batches import PartitionBatch, batches_of
from ubunye_dagster.partitions.variables import Variables
from ubunye_dagster.recording.ranges import EachPartition, RunOfRange
from ubunye_dagster.refusals import may_not_run, refused
from ubunye_dagster.resource import RESOURCE_KEY
from ubunye_dagster.tags import REASON

Function = TypeVar("Function", bound=Callable[..., Any])

USER_TAG = "user"
RUN_PARAMETER = "run"
INSTANCE = "instance"
"""Under this name a receipt's ids say which Dagster the run is of."""
PARENT_TAG, RETRY_TAG = "dagster/parent_run_id", "dagster/retry_number"
"""A run that is executed again has the first, and the tags of its parent; one that Dagster retries
by itself has the second too."""

_KINDS = (
    ("dagster/backfill", TriggerKind.BACKFILL),
    ("dagster/schedule_name", TriggerKind.SCHEDULE),
    # The sensor that evaluates automation conditions names itself as a sensor as well.
    ("dagster/from_automation_condition", TriggerKind.ASSET),
    ("dagster/auto_materialize", TriggerKind.ASSET),
    ("dagster/sensor_name", TriggerKind.SENSOR),
)


@dataclass(frozen=True)
class UnderWay:
    """What is recorded of a step while it runs."""

    run: Run
    batches: tuple[PartitionBatch, ...]


_under_way: WeakKeyDictionary[Any, UnderWay] = WeakKeyDictionary()


def under_way(context: Any) -> UnderWay | None:
    """What ``@recorded`` is recording of this step, if it is."""
    return _under_way.get(context)


def recorded(
    task: str,
    *,
    variables: Variables | None = None,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
    guard: bool = False,
    rerun: bool = False,
    policy: Policy | str | Path | None = None,
    code: str | Path | None = None,
    record_errors: Literal["message", "type"] = "message",
) -> Callable[[Function], Function]:
    """Record each attempt of an asset or op. Goes below Dagster's own decorator, above ``@gated``.

    ::

        @dg.asset(partitions_def=monthly)
        @recorded("pay/monthly/calc", variables={"month": partition_format("%Y-%m")})
        def calc(context: dg.AssetExecutionContext, run: Run) -> None:
            run.read("people", people)
            ...

    The function's first parameter is ``context``. If it has a parameter ``run``, it is given the
    run that is recorded; Dagster does not see that parameter.

    Recording never breaks the step: a store that cannot be written is a loud warning in the log.
    The receipt ends with the function: what an IO manager does with its result comes after, and
    a process that is killed leaves a receipt that says ``running``.

    Args:
        task: ``usecase/package/task_name``.
        variables: Which data a run is for. Left out: the key of its partition.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.
        guard: Whether a run must have its batch to itself; see ``record_run``. A run for a range
            of partitions cannot be guarded.
        rerun: With a guard: whether a batch that has succeeded may be run again.
        policy: On what terms the task may be run, such as ``require_reason``; or a task's folder
            or YAML, where they stand. A refusal fails the step.
        code: The folder or file whose code is hashed; by default the function's file.
        record_errors: ``type`` keeps an exception's message out of the receipt.

    Raises:
        ConfigError: the task is no task, the policy cannot be read, or the function cannot be
            recorded.
    """
    # Complains of a wrong name or policy, and opens nothing.
    record_run(task, record_errors=record_errors, guard=guard, rerun=rerun, policy=policy)
    of_task = policy if policy is None or isinstance(policy, Policy) else read_policy(policy)
    guards = guard or (of_task is not None and of_task.guards)

    def decorate(function: Function) -> Function:
        @contextmanager
        def around(context: Any, opened: ReceiptStore) -> Iterator[Mapping[str, object]]:
            batches = batches_of(context, variables)
            attempt, is_range = attempt_of(context), len(batches) > 1
            if is_range and guards:
                raise ConfigError(
                    f"A run for {len(batches)} partitions of {task} cannot be guarded: a claim is "
                    f"for one of them.",
                    hint="Launch a run for each: a backfill with more than one run.",
                )
            recording = record_run(
                task,
                variables=batches[0].variables,
                store=EachPartition(opened, batches) if is_range else opened,
                guard=guard,
                rerun=rerun,
                policy=policy,
                window=batches[0].window,
                triggered_by=_triggered_by(attempt),
                orchestrator=_orchestrator(attempt, batches[0]),
                code=code or inspect.getsourcefile(inspect.unwrap(function)),
                record_errors=record_errors,
            )
            try:
                with recording as run:
                    _under_way[context] = UnderWay(run, batches)
                    with _last_attempt_noticed(run, attempt):
                        given = RunOfRange(run, batches, opened) if is_range else run
                        yield {RUN_PARAMETER: given}
            except UpstreamNotMetError as error:
                raise refused(error.answer) from error
            except RunRefusedError as error:
                raise may_not_run(error.answer) from error
            finally:
                _under_way.pop(context, None)

        return around_calls(
            function,
            around,
            by="recorded",
            resource_key=resource_key,
            store=store,
            gives=RUN_PARAMETER,
        )

    return decorate


def _orchestrator(attempt: Attempt | None, batch: PartitionBatch) -> Orchestrator | None:
    if attempt is None:
        return None
    ids = {"run_id": attempt.run_id, "job": attempt.job, "step": attempt.step}
    if attempt.instance is not None:
        ids[INSTANCE] = attempt.instance
    if batch.partition is not None:
        ids["partition"] = batch.partition.key
    for name in ("backfill", "schedule_name", "sensor_name", "parent_run_id"):
        if f"dagster/{name}" in attempt.tags:
            ids[name] = attempt.tags[f"dagster/{name}"]
    return Orchestrator(
        name="dagster", ids=ids, attempt=attempt.number, max_attempts=attempt.at_most
    )


def _triggered_by(attempt: Attempt | None) -> TriggeredBy | None:
    """What launched the run; None leaves it to the recorder: somebody called the function."""
    if attempt is None:
        return None
    tags = attempt.tags
    kind = next((kind for tag, kind in _KINDS if tag in tags), TriggerKind.MANUAL)
    if PARENT_TAG in tags and RETRY_TAG not in tags:
        kind = TriggerKind.MANUAL
    user = tags.get(USER_TAG)
    return TriggeredBy(
        kind=kind,
        actor=user,
        asserted_by="dagster" if user else None,
        reason=tags.get(REASON),
    )


@contextmanager
def _last_attempt_noticed(run: Run, attempt: Attempt | None) -> Iterator[None]:
    """Correct how many attempts there will be, where the function itself decides that."""
    try:
        yield
    except dg.Failure as error:
        if attempt is not None and not error.allow_retries:
            run.attempts(at_most=attempt.number)
        raise
    except dg.RetryRequested as error:
        if attempt is not None:
            run.attempts(at_most=error.max_retries + 1)
        raise
