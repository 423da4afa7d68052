"""Checks that compare hashes on record: with the data now, with a rerun, with the batch before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from os import PathLike
from typing import Any

import dagster as dg

from ubunye_core import ConfigError, Fingerprint, Receipt, ReceiptStore, Step, Verdict, fingerprint
from ubunye_dagster.checks.comparison import (
    AskedBatch,
    Compared,
    batches_asked,
    compared_for_each,
)
from ubunye_dagster.checks.definition import Question, check_one_task, check_that_asks
from ubunye_dagster.checks.successes import CannotTellError, before, newest_of, output_of
from ubunye_dagster.names import Asset
from ubunye_dagster.partitions.variables import Variables
from ubunye_dagster.resource import RESOURCE_KEY

OUTPUT, REPRODUCED, CHANGED = "receipt_output", "receipt_reproduced", "receipt_changed"
METHOD = "rows-v1"
Load = str | PathLike[str] | Callable[[Receipt], object]
"""A path, or a function of the receipt that returns a path, a frame, or its ``fingerprint``."""


def build_hash_checks(
    task: str,
    *,
    load: Load | None = None,
    reproduced: bool = True,
    changed: bool = False,
    output: str | None = None,
    asset: Asset | None = None,
    variables: Variables | None = None,
    owner: str | None = None,
    blocking: bool = False,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
) -> list[dg.AssetChecksDefinition]:
    """Checks of what a task wrote, by the hashes in its receipts.

    ::

        build_hash_checks("pay/monthly/calc", load="data/adults.parquet")

    Each looks at the newest success of the run's batch, or of all where the run has no partition.
    A hash that is not on record, or not to be had now, fails the check: it cannot be told.

    Args:
        task: The task.
        load: Where its output is: check that it still hashes as its receipt says. It is read
            anew, by the same kind of frame as then; where the kinds differ, other hashes tell
            nothing.
        reproduced: Check that a batch that was run again has the hashes that it had before. One
            that ran once passes.
        changed: Check that the hash is not that of the batch before, as it is where a source
            sends the same file again. The first batch passes.
        output: Which output. Left out: the only one; ``reproduced`` compares all of them.
        asset: The asset. Left out: the one whose key is the task's name.
        variables: The batch to ask for in a run for a partition. Left out: the partition's key.
        owner: Who is to be told.
        blocking: Whether a check that fails stops what depends on the asset.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.

    Raises:
        ConfigError: no check is asked for, or the task is none, or a pattern.
    """
    check_one_task(task)
    kinds: list[tuple[str, str, Callable[[ReceiptStore, AskedBatch], Compared]]] = []
    if load is not None:
        question = f"Does the output of {task} hash as its receipt says?"
        kinds.append((OUTPUT, question, partial(_as_it_was, task, output, load)))
    if reproduced:
        question = f"Did a rerun of {task} write what the run before it wrote?"
        kinds.append((REPRODUCED, question, partial(_reproduced, task, output)))
    if changed:
        question = f"Did {task} write something else than for the batch before?"
        kinds.append((CHANGED, question, partial(_changed, task, output)))
    if not kinds:
        raise ConfigError("No check is asked for.", hint="Give load, reproduced or changed.")

    def check_of(
        name: str, question: str, compare: Callable[[ReceiptStore, AskedBatch], Compared]
    ) -> dg.AssetChecksDefinition:
        def look(opened: ReceiptStore, context: Any) -> dg.AssetCheckResult:
            return compared_for_each(
                batches_asked(context, variables), partial(compare, opened), owner
            )

        return check_that_asks(
            Question(task, look, in_a_tick=name != OUTPUT),
            name=name,
            asset=asset,
            description=question,
            resource_key=resource_key,
            store=store,
            blocking=blocking,
        )

    return [check_of(*each) for each in kinds]


def _as_it_was(
    task: str, output: str | None, load: Load, store: ReceiptStore, batch: AskedBatch
) -> Compared:
    receipt = newest_of(store, task, batch)
    step = output_of(receipt, output)
    then, now = _hash_of(receipt, step), _found(receipt, load)
    whose = f"output '{step.name}' of run {receipt.run_id} of {task}"
    shown = {
        "run_id": dg.MetadataValue.text(receipt.run_id),
        "hash_on_record": dg.MetadataValue.text(then),
        "hash_now": dg.MetadataValue.text(now.data_hash or ""),
    }
    if step.hash_method != METHOD:
        raise CannotTellError(f"The hash of the {whose} is of the method {step.hash_method}.")
    if now.data_hash is None:
        raise CannotTellError(f"What should be the {whose} could not be hashed: {now.error}")
    if now.data_hash == then:
        return Verdict.PASS, f"The {whose} is as its receipt says.", shown
    if step.route != now.route:
        reason = (
            f"What should be the {whose} hashes otherwise, but was read as {now.route}, and then "
            f"as {step.route or 'nobody knows what'}: load it as it was recorded."
        )
        return Verdict.UNKNOWN, reason, shown
    rows = f" Rows now: {now.row_count}; on record: {step.row_count}."
    differs = rows if now.row_count != step.row_count else ""
    return Verdict.FAIL, f"The {whose} is no longer what its receipt says.{differs}", shown


def _reproduced(task: str, output: str | None, store: ReceiptStore, batch: AskedBatch) -> Compared:
    receipt = newest_of(store, task, batch)
    if not receipt.batch:
        return Verdict.PASS, f"Runs of {task} name no batch, so none is a rerun.", {}
    previous = before(store, receipt, same_batch=True)
    if previous is None:
        return Verdict.PASS, f"{task} succeeded once for {receipt.batch}.", {}
    now, then = _hashes(receipt, output), _hashes(previous, output)
    shown = _runs(receipt, previous)
    if now == then:
        reason = f"Run {receipt.run_id} of {task} wrote what run {previous.run_id} had written."
        return Verdict.PASS, reason, shown
    names = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    reason = (
        f"For {receipt.batch}, run {receipt.run_id} of {task} wrote something else than run "
        f"{previous.run_id}: {', '.join(names)}."
    )
    return Verdict.FAIL, " ".join([reason, *_why(receipt, previous)]), shown


def _changed(task: str, output: str | None, store: ReceiptStore, batch: AskedBatch) -> Compared:
    receipt = newest_of(store, task, batch)
    previous = before(store, receipt, same_batch=False)
    if previous is None:
        return Verdict.PASS, f"{task} has succeeded for no batch before {receipt.batch}.", {}
    step, then = output_of(receipt, output), output_of(previous, output)
    shown = _runs(receipt, previous)
    if _hash_of(receipt, step) != _hash_of(previous, then):
        reason = f"{task} wrote something else for {receipt.batch} than for {previous.batch}."
        return Verdict.PASS, reason, shown
    reason = f"{task} wrote the same for {receipt.batch} as for {previous.batch}."
    return Verdict.FAIL, reason, shown


def _found(receipt: Receipt, load: Load) -> Fingerprint:
    """The hash of what is there now."""
    try:
        given = load(receipt) if callable(load) else load
    except Exception as error:  # its message may hold what was read
        raise CannotTellError(
            f"The output of {receipt.task} could not be loaded: {type(error).__name__}."
        ) from error
    return given if isinstance(given, Fingerprint) else fingerprint(given)


def _hash_of(receipt: Receipt, step: Step) -> str:
    if step.data_hash is None:
        why = step.hash_error or "none was taken"
        raise CannotTellError(
            f"The output '{step.name}' of run {receipt.run_id} of {receipt.task} has no hash on "
            f"record: {why}"
        )
    return step.data_hash


def _hashes(receipt: Receipt, output: str | None) -> dict[str, str]:
    steps = receipt.outputs if output is None else (output_of(receipt, output),)
    if not steps:
        raise CannotTellError(f"Run {receipt.run_id} of {receipt.task} has no output on record.")
    return {step.name: _hash_of(receipt, step) for step in steps}


def _runs(receipt: Receipt, previous: Receipt) -> dict[str, dg.MetadataValue]:
    return {
        "run_id": dg.MetadataValue.text(receipt.run_id),
        "compared_with": dg.MetadataValue.text(previous.run_id),
    }


def _why(receipt: Receipt, previous: Receipt) -> Iterator[str]:
    """What else was not as before."""
    now = {step.name: step.data_hash for step in receipt.inputs}
    then = {step.name: step.data_hash for step in previous.inputs}
    inputs = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    if inputs:
        yield f"It read something else, too: {', '.join(inputs)}."
    if receipt.code_hash != previous.code_hash:
        yield "Its code was not the same."
    if receipt.environment_hash != previous.environment_hash:
        yield "Its environment was not the same."
