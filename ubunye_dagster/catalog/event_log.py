"""What Dagster's event log has of an asset already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import dagster as dg

from ubunye_core import Receipt
from ubunye_dagster.tags import RECEIPT, STATUS, TASK

PAGE = 500
SKEW = timedelta(minutes=10)
"""How much the clock of a run may be ahead of Dagster's."""


@dataclass(frozen=True)
class AssetEvents:
    """The events of one asset since some time."""

    reported: frozenset[tuple[str, ...]]
    """Task, run id and status of each receipt, and the partition."""
    made_by: frozenset[str]
    """Dagster's own runs that have made it."""

    @classmethod
    def of(cls, key: dg.AssetKey, instance: dg.DagsterInstance, *, since: datetime) -> AssetEvents:
        """What was reported since a run started, for it cannot have been reported before."""
        wanted = dg.AssetRecordsFilter(asset_key=key, after_timestamp=(since - SKEW).timestamp())
        reported: set[tuple[str, ...]] = set()
        made_by: set[str] = set()
        for fetch in (instance.fetch_materializations, instance.fetch_observations):
            cursor: str | None = None
            while True:
                page = fetch(wanted, limit=PAGE, cursor=cursor)
                for record in page.records:
                    event = record.asset_materialization or record.event_log_entry.asset_observation
                    told = event.metadata if event is not None else {}
                    if event is not None and all(name in told for name in (TASK, RECEIPT, STATUS)):
                        names = (str(told[name].value) for name in (TASK, RECEIPT, STATUS))
                        reported.add((*names, str(event.partition or "")))
                    elif record.asset_materialization is not None and record.run_id:
                        made_by.add(record.run_id)
                cursor = page.cursor
                if not page.has_more:
                    break
        return cls(frozenset(reported), frozenset(made_by))

    def has(self, receipt: Receipt, partition: str | None) -> bool:
        """Whether this end of the run is on record for a partition."""
        told = (receipt.task, receipt.run_id, receipt.status.value, str(partition or ""))
        if told in self.reported:
            return True
        run = dagster_run_of(receipt)
        return run is not None and run in self.made_by


def dagster_run_of(receipt: Receipt) -> str | None:
    """The run of a Dagster in which a receipt was written."""
    return receipt.ids_in("dagster").get("run_id")


def run_of_this_dagster(receipt: Receipt, instance: dg.DagsterInstance) -> dg.DagsterRun | None:
    """The run in which a receipt was written, if it is one of this very Dagster."""
    run_id = dagster_run_of(receipt)
    return None if run_id is None else instance.get_run_by_id(run_id)
