"""Checks of how many rows a task wrote, by its receipts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import dagster as dg

from ubunye_core import ConfigError, Receipt, ReceiptStore, Verdict
from ubunye_dagster.checks.comparison import (
    AskedBatch,
    Compared,
    batches_asked,
    compared_for_each,
)
from ubunye_dagster.checks.definition import Question, check_that_asks, pairs_of
from ubunye_dagster.checks.successes import CannotTellError, before, newest_of, output_of
from ubunye_dagster.names import Asset
from ubunye_dagster.outputs import row_count
from ubunye_dagster.partitions.variables import Variables
from ubunye_dagster.resource import RESOURCE_KEY

ROWS = "receipt_rows"


def build_row_count_checks(
    tasks: Mapping[Any, str] | Iterable[str],
    *,
    min_rows: int | None = None,
    max_rows: int | None = None,
    max_change: float | None = None,
    output: str | None = None,
    variables: Variables | None = None,
    owner: str | None = None,
    blocking: bool = False,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
) -> list[dg.AssetChecksDefinition]:
    """One check for each asset: did the newest success of its task write a likely number of rows?

    In a run for a partition it is the newest success of that batch, else the newest of all. A
    receipt without a count fails the check: it cannot be told.

    Args:
        tasks: The task of each asset; or tasks, each on the asset whose key is its name.
        min_rows: At least so many.
        max_rows: At most so many.
        max_change: By which part of the rows of the batch before it may have more or fewer:
            ``0.5`` is half as many to half as many again. The first batch passes.
        output: Which output is counted. Left out: the only one, else the rows that the run says
            it loaded.
        variables: The batch to ask for in a run for a partition. Left out: the partition's key.
        owner: Who is to be told.
        blocking: Whether another number stops what depends on the asset.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.

    Raises:
        ConfigError: no limit is given, or one that cannot be kept; or what is given is no task.
    """
    if min_rows is None and max_rows is None and max_change is None:
        raise ConfigError("No limit is given.", hint="Give min_rows, max_rows or max_change.")
    if max_change is not None and not max_change >= 0:
        raise ConfigError(f"max_change is {max_change}; it is a part, such as 0.5.")
    if None not in (min_rows, max_rows) and (min_rows or 0) > (max_rows or 0):
        raise ConfigError(f"min_rows is {min_rows}, and max_rows is {max_rows}.")

    def count_of(receipt: Receipt) -> int:
        rows = row_count(receipt) if output is None else output_of(receipt, output).row_count
        if rows is None:
            raise CannotTellError(
                f"Run {receipt.run_id} of {receipt.task} has no number of rows on record."
            )
        return rows

    def compare(task: str, opened: ReceiptStore, batch: AskedBatch) -> Compared:
        newest = newest_of(opened, task, batch)
        rows = count_of(newest)
        said = f"Rows that {task} wrote for {newest.batch}: {rows}"
        shown: dict[str, dg.MetadataValue] = {
            "run_id": dg.MetadataValue.text(newest.run_id),
            "rows": dg.MetadataValue.int(rows),
        }
        if min_rows is not None and rows < min_rows:
            return Verdict.FAIL, f"{said}, fewer than {min_rows}.", shown
        if max_rows is not None and rows > max_rows:
            return Verdict.FAIL, f"{said}, more than {max_rows}.", shown
        previous = None if max_change is None else before(opened, newest, same_batch=False)
        if previous is None or max_change is None:
            return Verdict.PASS, f"{said}.", shown
        then = count_of(previous)
        shown["rows_before"] = dg.MetadataValue.int(then)
        reason = f"{said}, and {then} for {previous.batch} before"
        if abs(rows - then) > max_change * then:
            return Verdict.FAIL, f"{reason}: more than {max_change:.0%} apart.", shown
        return Verdict.PASS, f"{reason}.", shown

    def check_of(asset: Asset | None, task: str) -> dg.AssetChecksDefinition:
        def look(opened: ReceiptStore, context: Any) -> dg.AssetCheckResult:
            return compared_for_each(
                batches_asked(context, variables),
                lambda batch: compare(task, opened, batch),
                owner,
            )

        return check_that_asks(
            Question(task, look, in_a_tick=True),
            name=ROWS,
            asset=asset,
            description=f"Did {task} write a likely number of rows?",
            resource_key=resource_key,
            store=store,
            blocking=blocking,
        )

    return [check_of(asset, task) for asset, task in pairs_of(tasks, patterns=False)]
