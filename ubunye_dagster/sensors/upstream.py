"""A sensor that launches a run for each partition whose upstream has succeeded."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg

from ubunye_core import (
    Found,
    Receipt,
    ReceiptStore,
    Requirement,
    Status,
    StoreUnavailableError,
    Verdict,
    check_upstream,
)
from ubunye_dagster.compat.keys import is_before_the_first, is_known_key, time_window
from ubunye_dagster.compat.target import check_target
from ubunye_dagster.partitions.keys import KeyOf, key_by_variables
from ubunye_dagster.partitions.variables import usual_variables
from ubunye_dagster.resource import RESOURCE_KEY
from ubunye_dagster.sensors.upstream_cursor import Cursor
from ubunye_dagster.tags import RECEIPT, UPSTREAM
from ubunye_dagster.ticks import RUNS_A_TICK, TICK_SECONDS, check_at_most, sensor_that_looks
from ubunye_dagster.wording import cannot_be_read, left_over, no_partitions

LOOKBACK = timedelta(days=14)


def build_upstream_receipt_sensor(
    name: str,
    task: str,
    *,
    partitions_def: dg.PartitionsDefinition | None = None,
    variables: Mapping[str, object] | None = None,
    key_of: KeyOf | None = None,
    rerun: bool = False,
    at_most: int = RUNS_A_TICK,
    lookback: timedelta = LOOKBACK,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
    **sensor_arguments: Any,
) -> dg.SensorDefinition:
    """A sensor that requests a run for each partition for which ``task`` has succeeded.

    ::

        build_upstream_receipt_sensor(
            "pay_send_when_calculated",
            "pay/monthly/calc",
            partitions_def=monthly,
            variables={"month": partition_format("%Y-%m")},
            job=pay_send,
        )

    Each partition is requested once: Dagster itself drops a request whose run key it has seen,
    so a lost cursor repeats nothing. Oldest first, ``at_most`` so many in a tick. A receipt of
    a partition that is not there yet is named in the log, and waits until it is. One of before the
    first partition, or without the variables, is passed over; if all are, the skip says so.
    Where the store cannot answer, the tick is skipped with the reason.

    The sensor only launches; ``@gated`` in the asset decides whether it may run.

    Args:
        name: The sensor's name.
        task: The upstream task.
        partitions_def: How the job is partitioned. Left out, the job has no partitions, and the
            newest success is requested once.
        variables: The variables of the upstream's receipts for a partition, as for ``@recorded``.
            Left out: ``partition`` is the key.
        key_of: Which partition a receipt is for, where ``variables`` cannot say it.
        rerun: Whether another success for the same partition is another run.
        at_most: How many runs to request in one tick; Dagster limits the time a tick takes.
        lookback: How long after its start a success may come into sight, and still be noticed.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.
        sensor_arguments: What ``dg.sensor`` takes: ``job`` or ``asset_selection``,
            ``minimum_interval_seconds``, ``default_status``, ...

    Raises:
        ConfigError: an argument is wrong.
    """
    Requirement(task)
    check_at_most(at_most)
    if partitions_def is None:
        keys: KeyOf | None = None
    else:
        keys = key_of or key_by_variables(
            variables or usual_variables(partitions_def), partitions_def
        )
    check_target(name, sensor_arguments)
    look = _Look(task, partitions_def, keys, rerun, at_most, lookback)

    return sensor_that_looks(
        look.at, name=name, resource_key=resource_key, store=store, **sensor_arguments
    )


@dataclass
class _Tick:
    """What comes of one tick."""

    requested: dict[str, datetime]
    """The run keys requested now or before."""
    requests: list[dg.RunRequest] = field(default_factory=list)
    left: list[Receipt] = field(default_factory=list)
    """Successes that may be requested later."""
    doubts: list[str] = field(default_factory=list)
    """Why some of them do not count now."""


@dataclass(frozen=True)
class _Look:
    """One evaluation of the sensor."""

    task: str
    definition: dg.PartitionsDefinition | None
    key_of: KeyOf | None
    rerun: bool
    at_most: int
    lookback: timedelta

    def at(self, store: ReceiptStore, context: dg.SensorEvaluationContext) -> dg.SensorResult:
        cursor = Cursor.read(context.cursor)
        try:
            found = store.search(self.task, Status.SUCCESS, cursor.since)
            newest, unknown = self._by_key(found, context.instance)
            tick = self._requests(newest, dict(cursor.requested), store)
            nothing = self._nothing(found, bool(newest or unknown), cursor, store)
        except StoreUnavailableError as error:
            return dg.SensorResult(skip_reason=f"UNKNOWN: {error}")
        notes = self._notes(found, unknown, tick)
        for note in notes:
            context.log.warning(note)
        moved = cursor.moved(
            tick.requested,
            seen=found,
            left=[*unknown.values(), *tick.left],
            lookback=self.lookback,
            now=datetime.now(UTC),
        )
        return dg.SensorResult(
            run_requests=tick.requests,
            skip_reason=None if tick.requests else " ".join([*notes, nothing]),
            cursor=moved.write(),
        )

    def _by_key(
        self, found: Found, instance: Any
    ) -> tuple[dict[str | None, Receipt], dict[str, Receipt]]:
        """The newest success for each key; and those whose key the definition does not have."""
        if self.key_of is None or self.definition is None:
            return ({None: found[0]} if found else {}), {}
        newest: dict[str | None, Receipt] = {}
        unknown: dict[str, Receipt] = {}
        for receipt in found:
            key = self.key_of(receipt)
            if key is None or is_before_the_first(self.definition, key):
                continue
            if is_known_key(self.definition, key, instance):
                newest.setdefault(key, receipt)
            else:
                unknown[key] = receipt  # the oldest: it must be found again
        return newest, unknown

    def _requests(
        self,
        newest: Mapping[str | None, Receipt],
        requested: dict[str, datetime],
        store: ReceiptStore,
    ) -> _Tick:
        """What to request now, oldest first, and what is left for later ticks."""
        tick, until = _Tick(requested), time.monotonic() + TICK_SECONDS
        for key, receipt in sorted(newest.items(), key=self._age):
            run_key = self._run_key(key, receipt.run_id)
            if run_key in requested:
                requested[run_key] = max(requested[run_key], receipt.started_at)
            elif len(tick.requests) == self.at_most or time.monotonic() > until:
                tick.left.append(receipt)
            else:
                self._ask(key, receipt, store, tick)
        return tick

    def _ask(self, key: str | None, receipt: Receipt, store: ReceiptStore, tick: _Tick) -> None:
        """Request a run if the upstream has succeeded, as every gate would see it."""
        batch = receipt.batch.as_dict()
        answer = check_upstream(Requirement(self.task, variables=batch or ()), store=store)
        satisfied_by = answer.requirements[0].satisfied_by
        if answer.verdict is not Verdict.PASS or satisfied_by is None:
            tick.left.append(receipt)
            tick.doubts.append(f"{answer.verdict}: {answer.reason}")
            return
        run_key = self._run_key(key, satisfied_by)
        if run_key not in tick.requested:
            tags = {UPSTREAM: self.task, RECEIPT: satisfied_by}
            tick.requests.append(dg.RunRequest(run_key=run_key, partition_key=key, tags=tags))
            tick.requested[run_key] = receipt.started_at

    def _nothing(self, found: Found, has_keys: bool, cursor: Cursor, store: ReceiptStore) -> str:
        """Why there may be nothing to request: nobody looks for a fault where all seems well."""
        if found and not has_keys:
            batch = f" for {found[0].batch}" if found[0].batch else ""
            return (
                f"No success of {self.task} is for a partition of this sensor: the newest is run "
                f"{found[0].run_id}{batch}. Is it named in 'variables' as in the receipts?"
            )
        if not found and not found.unreadable and cursor.since is None:
            return check_upstream(Requirement(self.task, variables=()), store=store).reason
        return f"No new success of {self.task}."

    def _run_key(self, key: str | None, run_id: str) -> str:
        if key is None:
            return run_id
        return f"{key}:{run_id}" if self.rerun else str(key)

    def _age(self, item: tuple[str | None, Receipt]) -> tuple[datetime, str]:
        key, receipt = item
        if self.definition is None or key is None:
            return (receipt.started_at, "")
        period = time_window(None, self.definition, key)
        return (period.start if period else receipt.started_at, key)

    def _notes(self, found: Found, unknown: Mapping[str, Receipt], tick: _Tick) -> list[str]:
        notes = list(tick.doubts)
        if found.unreadable:
            notes.append(f"UNKNOWN: {cannot_be_read(found.unreadable)}")
        if unknown:
            notes.append(no_partitions(sorted(unknown)))
        if len(tick.left) > len(tick.doubts):
            notes.append(left_over(len(tick.left) - len(tick.doubts)))
        return notes
