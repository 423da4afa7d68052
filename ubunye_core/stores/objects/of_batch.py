"""Which runs of a batch to look at first: its newest, and the newest that may be a success."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from ubunye_core.names import is_segment
from ubunye_core.receipt import Receipt, Status
from ubunye_core.times import parse_instant

KEPT = 4


@dataclass(frozen=True, kw_only=True)
class Known:
    """A run of a batch, made known before its receipt was written."""

    run_id: str
    started_at: datetime
    may_be_success: bool

    @property
    def order(self) -> tuple[datetime, str]:
        """Runs are ordered by this, newest last."""
        return (self.started_at, self.run_id)


@dataclass(frozen=True)
class RunsOfBatch:
    """The newest runs of a batch, and the newest of those that may be a success; newest first."""

    runs: tuple[Known, ...] = ()

    def with_runs(self, receipts: Iterable[Receipt]) -> RunsOfBatch:
        """The same, with these runs made known. One that may be a success stays so."""
        known = {run.run_id: run for run in self.runs}
        for receipt in receipts:
            old = known.get(receipt.run_id)
            is_success = receipt.status is Status.SUCCESS
            known[receipt.run_id] = Known(
                run_id=receipt.run_id,
                started_at=receipt.started_at,
                may_be_success=is_success or (old is not None and old.may_be_success),
            )
        return RunsOfBatch(_kept(known.values()))

    def encode(self) -> bytes:
        """The hint as it is stored."""
        runs = [
            {
                "run_id": run.run_id,
                "started_at": run.started_at.isoformat(),
                "may_be_success": run.may_be_success,
            }
            for run in self.runs
        ]
        return json.dumps({"version": 1, "runs": runs}).encode()

    @classmethod
    def decode(cls, document: bytes) -> RunsOfBatch | None:
        """What is stored; None where it cannot be understood."""
        try:
            known = json.loads(document)
            runs = [
                Known(
                    run_id=run["run_id"],
                    started_at=parse_instant(run["started_at"]),
                    may_be_success=run["may_be_success"] is True,
                )
                for run in known["runs"]
            ]
            good = known["version"] == 1 and all(is_segment(run.run_id) for run in runs)
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        return cls(_kept(runs)) if good else None


def _kept(runs: Iterable[Known]) -> tuple[Known, ...]:
    """Four of each kind are enough: a writer may die before the receipt that it made known."""
    newest = sorted(runs, key=lambda run: run.order, reverse=True)
    successes = [run for run in newest if run.may_be_success][:KEPT]
    return tuple(sorted({*newest[:KEPT], *successes}, key=lambda run: run.order, reverse=True))


def merged(one: RunsOfBatch, other: RunsOfBatch) -> RunsOfBatch:
    """What either knows."""
    known = {run.run_id: run for run in one.runs}
    for run in other.runs:
        old = known.get(run.run_id, run)
        known[run.run_id] = replace(run, may_be_success=run.may_be_success or old.may_be_success)
    return RunsOfBatch(_kept(known.values()))
