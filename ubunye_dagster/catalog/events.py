"""A receipt in Dagster's own words: a materialisation or an observation, with what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from ubunye_core import Receipt, Status, Step
from ubunye_dagster.metadata import table_of
from ubunye_dagster.outputs import data_version, row_count
from ubunye_dagster.tags import RECEIPT, STATUS, TASK

Event = dg.AssetMaterialization | dg.AssetObservation


def event_of(
    receipt: Receipt, key: dg.AssetKey, partition: str | None, *, is_late: bool = False
) -> Event:
    """What a receipt is in Dagster's catalog.

    Only a success is a materialisation, and only if it ``is_late`` not: a newer success is on
    record, whose rows are there now. An observation has no data version, so it never looks like
    news to what depends on the asset.
    """
    metadata = metadata_of_receipt(receipt)
    if receipt.status is not Status.SUCCESS or is_late:
        if is_late:
            metadata["late"] = dg.MetadataValue.bool(True)
        return dg.AssetObservation(
            key, description=_said(receipt, is_late), metadata=metadata, partition=partition
        )
    version = data_version(receipt.outputs)
    return dg.AssetMaterialization(
        key,
        description=_said(receipt, is_late),
        metadata=metadata,
        partition=partition,
        tags=None if version is None else {"dagster/data_version": version},
    )


def _said(receipt: Receipt, is_late: bool) -> str:
    by = f" in {receipt.orchestrator.name}" if receipt.orchestrator else ""
    late = ", older than what is on record" if is_late else ""
    return (
        f"{receipt.task} for {receipt.batch}: {receipt.status}{by} at "
        f"{receipt.finished_at.isoformat(timespec='seconds')}{late}"
    )


def metadata_of_receipt(receipt: Receipt) -> dict[str, Any]:
    """What a receipt says, for Dagster's web page.

    ``ended_at`` is when the run ended. The time of the event itself, which Dagster shows, sorts by
    and measures freshness from, is when it was reported.
    """
    shown: dict[str, Any] = {
        TASK: receipt.task,
        RECEIPT: receipt.run_id,
        STATUS: receipt.status.value,
        "batch": str(receipt.batch),
        "started_at": dg.MetadataValue.timestamp(receipt.started_at),
        "ended_at": dg.MetadataValue.timestamp(receipt.finished_at),
    }
    rows = row_count(receipt)
    if rows is not None:
        shown["dagster/row_count"] = rows
    if receipt.window is not None:
        window = receipt.window
        shown["window"] = f"{window.start.isoformat()} to {window.end.isoformat()}"
    for name, text in (
        ("outcome", receipt.outcome),
        ("error", receipt.error),
        ("ended_by", receipt.ended_by),
        ("code_hash", receipt.code_hash),
    ):
        if text is not None:
            shown[name] = text
    return shown | _where_from(receipt) | _tables(receipt)


def _where_from(receipt: Receipt) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if receipt.orchestrator is not None:
        shown["orchestrator"] = receipt.orchestrator.name
        if receipt.orchestrator.url is not None:
            shown["page"] = _link(receipt.orchestrator.url)
    by = receipt.triggered_by
    if by is not None:
        who = f" by {by.actor}" if by.actor else ""
        why = f": {by.reason}" if by.reason else ""
        shown["triggered_by"] = f"{by.kind}{who}{why}"
    return shown


def _link(url: str) -> dg.MetadataValue:
    """A link only where a browser would open a page: a receipt may come from anywhere."""
    if url.lower().startswith(("http://", "https://")):
        return dg.MetadataValue.url(url)
    return dg.MetadataValue.text(url)


def _tables(receipt: Receipt) -> dict[str, Any]:
    shown = {}
    for name, steps in (("inputs", receipt.inputs), ("outputs", receipt.outputs)):
        if steps:
            shown[name] = _table([_row_of(each) for each in steps])
    if receipt.upstreams:
        shown["upstreams"] = _table(
            [{"task": each.task, "run_id": each.run_id} for each in receipt.upstreams]
        )
    if receipt.expectations:
        shown["expectations"] = _table(
            [
                {
                    "rule": each.rule,
                    "of": each.output,
                    "passed": _text(each.passed),
                    "failed": _text(each.failed),
                    "total": _text(each.total),
                }
                for each in receipt.expectations
            ]
        )
    return shown


def _row_of(step: Step) -> Mapping[str, str]:
    return {
        "name": step.name,
        "rows": _text(step.row_count),
        "data_hash": step.data_hash or "",
        "schema_hash": step.schema_hash or "",
        "location": step.location,
        "hash_error": step.hash_error or "",
    }


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _table(rows: Sequence[Mapping[str, str]]) -> dg.TableMetadataValue:
    return table_of(list(rows[0]), rows)
