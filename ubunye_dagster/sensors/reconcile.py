"""A sensor that ends the receipts of runs that died without a word."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg

from ubunye_core import (
    Receipt,
    ReceiptConflictError,
    ReceiptStore,
    Requirement,
    Status,
    StoreUnavailableError,
    UbunyeError,
    Unreadable,
    tasks_named,
)
from ubunye_dagster.compat.runs import Ended, ends_of, ends_of_attempts, instance_id
from ubunye_dagster.recording.recorded import INSTANCE
from ubunye_dagster.resource import RESOURCE_KEY
from ubunye_dagster.ticks import TICK_SECONDS, check_at_most, sensor_that_looks
from ubunye_dagster.wording import cannot_be_read, named

ENDED_BY = "reconcile"
RECEIPTS_A_TICK = 200
LOOKBACK = timedelta(days=30)
SILENT_BEATS, SILENT_AT_LEAST = 5, timedelta(minutes=5)
SILENT_WITHOUT_HEARTBEATS = timedelta(hours=6)


def build_reconcile_sensor(
    name: str,
    *,
    tasks: str | Iterable[str] | None = None,
    at_most: int = RECEIPTS_A_TICK,
    lookback: timedelta = LOOKBACK,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
    **sensor_arguments: Any,
) -> dg.SensorDefinition:
    """A sensor that ends receipts which say ``running``, where Dagster says that the run is over.

    ::

        build_reconcile_sensor(
            "receipts_are_ended", default_status=dg.DefaultSensorStatus.RUNNING
        )

    A process that is killed writes nothing. Its receipt becomes ``interrupted``, ended by
    ``reconcile`` at the time that Dagster tells; never ``success``, whatever Dagster says of the
    run. If the run lives after all, its own later word stands. It launches nothing.

    Left alone is what still shows signs of life after its end; and what this Dagster does not
    know, as several may share a store: such a receipt is ended only where it says that it is of
    this Dagster, whose run was deleted then, and has fallen silent.

    Any number of these sensors may look after one store. Losing the cursor loses nothing.

    Args:
        name: The sensor's name.
        tasks: Tasks or patterns; left out, all.
        at_most: How many receipts to look at in one tick; the next goes on from there.
        lookback: Runs that started longer ago are left to ``ubunye-runs close``.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.
        sensor_arguments: What ``dg.sensor`` takes: ``minimum_interval_seconds``,
            ``default_status``, ...

    Raises:
        ConfigError: an argument is wrong.
    """
    check_at_most(at_most)
    wanted = [tasks] if isinstance(tasks, str) else None if tasks is None else list(tasks)
    for each in wanted or ():
        Requirement(each)  # complains of what is no task and no pattern
    look = _Look(wanted, at_most, lookback)

    return sensor_that_looks(
        look.at, name=name, resource_key=resource_key, store=store, **sensor_arguments
    )


@dataclass
class _Tick:
    """What comes of one tick."""

    ended: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Runs that this Dagster does not know, and that do not say whose they are."""
    of_others: int = 0
    """How many runs say that they are of another Dagster."""
    alive: list[str] = field(default_factory=list)
    """Runs that Dagster says are over, and that still show signs of life."""
    failed: list[str] = field(default_factory=list)
    """Why an end could not be written."""
    unreadable: Sequence[Unreadable] = ()
    is_whole: bool = True
    """Whether all was looked at, up to the newest."""

    def notes(self) -> Iterator[str]:
        if self.failed:
            yield f"UNKNOWN: {named(self.failed)}"
        if self.unreadable:
            yield f"UNKNOWN: {cannot_be_read(self.unreadable)}"
        if self.alive:
            yield f"Over by Dagster's word, but they show signs of life: {named(self.alive)}."
        if self.unknown:
            yield (
                f"Left alone, as this Dagster does not know them, and they do not say of which one "
                f"they are: {named(self.unknown)}. If they are dead: ubunye-runs close."
            )
        if not self.is_whole:
            yield "More follow at the next ticks."


@dataclass(frozen=True)
class _Look:
    """One evaluation of the sensor."""

    tasks: Sequence[str] | None
    at_most: int
    lookback: timedelta

    def at(self, store: ReceiptStore, context: dg.SensorEvaluationContext) -> dg.SensorResult:
        after, now = _read(context.cursor), datetime.now(UTC)
        try:
            running, unreadable = self._running(store, now)
        except StoreUnavailableError as error:
            return dg.SensorResult(skip_reason=f"UNKNOWN: {error}")
        rest = [each for each in running if after is None or _place(each) > after]
        tick = _Tick(unreadable=unreadable)
        last = self._go_through(rest, store, context.instance, tick, now)
        notes = list(tick.notes())
        for note in notes:
            context.log.warning(note)
        said = [f"Ended as interrupted: {', '.join(tick.ended)}."] if tick.ended else []
        said = [*said, *notes] or ["No receipt is to be ended."]
        if tick.of_others:
            said.append(f"{tick.of_others} running of another Dagster.")
        return dg.SensorResult(skip_reason=" ".join(said), cursor=_written(last))

    def _running(
        self, store: ReceiptStore, now: datetime
    ) -> tuple[list[Receipt], Sequence[Unreadable]]:
        """The receipts of Dagster that say ``running``, oldest first."""
        since = now - self.lookback
        names = [None] if self.tasks is None else tasks_named(self.tasks, store=store)
        every = [store.search(task, Status.RUNNING, since) for task in names]
        ours = [each for found in every for each in found if each.ids_in("dagster").get("run_id")]
        return sorted(ours, key=_place), [bad for found in every for bad in found.unreadable]

    def _go_through(
        self,
        running: Sequence[Receipt],
        store: ReceiptStore,
        instance: dg.DagsterInstance,
        tick: _Tick,
        now: datetime,
    ) -> Receipt | None:
        """Look at receipts until it is enough; the last one looked at, None where it is all."""
        until = time.monotonic() + TICK_SECONDS
        batch = running[: self.at_most]
        dagster = _Dagster(instance, batch)
        for number, receipt in enumerate(batch):
            if time.monotonic() > until:
                tick.is_whole = False
                return batch[number - 1] if number else receipt
            self._look_at(receipt, dagster, store, tick, now)
        tick.is_whole = len(batch) == len(running)
        return None if tick.is_whole else batch[-1]

    def _look_at(
        self, receipt: Receipt, dagster: _Dagster, store: ReceiptStore, tick: _Tick, now: datetime
    ) -> None:
        shown = f"{receipt.task} {receipt.run_id}"
        if not dagster.may_judge(receipt):
            if INSTANCE in receipt.ids_in("dagster"):
                tick.of_others += 1
            else:
                tick.unknown.append(shown)
            return
        ended = dagster.end_of(receipt)
        if ended is None:
            return
        is_later = ended.at is None or receipt.last_sign_of_life > ended.at
        if is_later and not _is_silent(receipt, now):
            tick.alive.append(shown)
            return
        try:
            store.save(_interrupted(receipt, ended, now))
            tick.ended.append(f"{shown} ({ended.what})")
        except ReceiptConflictError:
            pass  # it has written its own end in the meantime
        except UbunyeError as error:
            tick.failed.append(f"{shown} cannot be ended: {error}")


class _Dagster:
    """What Dagster says of the runs of some receipts; each run is asked for once."""

    def __init__(self, instance: dg.DagsterInstance, receipts: Sequence[Receipt]) -> None:
        self._instance, self._id = instance, instance_id(instance)
        self._steps: dict[str, set[str]] = {}
        for each in receipts:
            ids = each.ids_in("dagster")
            self._steps.setdefault(ids["run_id"], set()).add(ids.get("step", ""))
        self._runs = ends_of(instance, list(self._steps)) if self._steps else {}
        self._attempts: dict[str, dict[tuple[str, int], Ended]] = {}

    def may_judge(self, receipt: Receipt) -> bool:
        """Whether a run is one of this Dagster, be it that it was deleted."""
        ids = receipt.ids_in("dagster")
        is_ours = self._id is not None and ids.get(INSTANCE) == self._id
        return is_ours or ids["run_id"] in self._runs

    def end_of(self, receipt: Receipt) -> Ended | None:
        """When the attempt ended that a receipt is of; None while it goes on."""
        ids, attempts = receipt.ids_in("dagster"), receipt.orchestrator
        run_id = ids["run_id"]
        if run_id not in self._runs:
            return Ended(f"run {run_id} is deleted", None)
        if run_id not in self._attempts:
            self._attempts[run_id] = ends_of_attempts(
                self._instance, run_id, sorted(self._steps[run_id])
            )
        number = attempts.attempt if attempts is not None and attempts.attempt else 1
        return self._attempts[run_id].get((ids.get("step", ""), number)) or self._runs[run_id]


def _interrupted(receipt: Receipt, ended: Ended, now: datetime) -> Receipt:
    """The receipt with its end. It does not end before its last sign of life, nor after now."""
    at = receipt.last_sign_of_life
    if ended.at is not None:
        at = max(at, min(ended.at, now))
    return replace(
        receipt,
        status=Status.INTERRUPTED,
        ended_at=at,
        duration_sec=round((at - receipt.started_at).total_seconds(), 6),
        ended_by=ENDED_BY,
        error=f"Dagster says that {ended.what}; the run itself never wrote its end.",
    )


def _is_silent(receipt: Receipt, now: datetime) -> bool:
    """Whether a run has shown no sign of life for so long that its process must be dead."""
    every = receipt.heartbeat_every
    allowed = SILENT_WITHOUT_HEARTBEATS
    if every is not None:
        allowed = max(SILENT_BEATS * every, SILENT_AT_LEAST)
    return now - receipt.last_sign_of_life > allowed


_Place = tuple[str, str, str]


def _place(receipt: Receipt) -> _Place:
    """Where a receipt stands in the order in which they are looked at."""
    started = receipt.started_at.isoformat(timespec="microseconds")
    return (started, receipt.task, receipt.run_id)


def _read(cursor: str | None) -> _Place | None:
    """Up to where the tick before came; None begins anew."""
    try:
        started, task, run_id = json.loads(cursor or "null")
    except (ValueError, TypeError):
        return None
    return (str(started), str(task), str(run_id))


def _written(last: Receipt | None) -> str:
    return json.dumps(None if last is None else _place(last))
