"""A sensor that reports receipts written anywhere to Dagster's catalog of assets."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg

from ubunye_core import (
    CLOCK_SKEW,
    ConfigError,
    Found,
    Receipt,
    ReceiptStore,
    Requirement,
    Status,
    StoreUnavailableError,
    duration,
    tasks_named,
)
from ubunye_dagster.catalog.cursor import CatalogCursor, Reported, room_for
from ubunye_dagster.catalog.event_log import AssetEvents, run_of_this_dagster
from ubunye_dagster.catalog.events import Event, event_of
from ubunye_dagster.catalog.places import Place, Places
from ubunye_dagster.catalog.specs import EVERY_TASK
from ubunye_dagster.checks.definition import Question, question_of
from ubunye_dagster.names import Key
from ubunye_dagster.partitions.keys import KeyOf
from ubunye_dagster.resource import RESOURCE_KEY
from ubunye_dagster.ticks import TICK_SECONDS, check_at_most, sensor_that_looks
from ubunye_dagster.wording import cannot_be_read, left_over, no_partitions

RECEIPTS_A_TICK = 100
SINCE, LOOKBACK = timedelta(days=30), timedelta(days=2)
OPEN_FOR = timedelta(days=14)
"""How long the end of a run that was seen running is waited for, whatever the lookback."""


def build_receipt_catalog_sensor(
    name: str,
    tasks: str | Iterable[str] = EVERY_TASK,
    *,
    exclude: str | Iterable[str] = (),
    variables: Mapping[str, object] | None = None,
    key_of: KeyOf | None = None,
    partitions_def: dg.PartitionsDefinition | None = None,
    asset_keys: Mapping[str, Key] | None = None,
    checks: Sequence[dg.AssetChecksDefinition] = (),
    since: timedelta | str = SINCE,
    lookback: timedelta | str = LOOKBACK,
    at_most: int = RECEIPTS_A_TICK,
    resource_key: str = RESOURCE_KEY,
    store: str | None = None,
    **sensor_arguments: Any,
) -> dg.SensorDefinition:
    """A sensor that reports each run that has ended to the asset of its task, once.

    ::

        build_receipt_catalog_sensor(
            "receipts_to_catalog", "pay/*/*", variables={"month": partition_format("%Y-%m")}
        )

    A success is a materialisation with its rows, hashes and data version. A failure, an
    interruption and a skip are observations; so is a success that comes to be known after a newer
    one of the same partition. It launches nothing. What is on record is looked up in Dagster
    itself, so a lost cursor reports nothing twice. Oldest first, ``at_most`` so many in a tick.

    The time of an event is when it was reported. When the run ended is ``ended_at`` in its
    metadata: measure freshness by ``build_freshness_checks``, not by a freshness policy.

    Args:
        name: The sensor's name.
        tasks: Tasks or patterns.
        exclude: Tasks or patterns to leave out.
        variables: Which variable names a partition, as for ``@recorded``. Left out: the run's
            window, else ``partition`` or each dimension by its name.
        key_of: Which partition a receipt is for, where ``variables`` cannot say it.
        partitions_def: How the assets are partitioned. Left out: as the asset in this code
            location is.
        asset_keys: The keys of assets that are not named like their task.
        checks: What ``build_health_checks``, ``build_freshness_checks`` or
            ``build_row_count_checks`` returned: each is asked, and its answer is shown, when a
            receipt of its task is reported.
        since: How long ago a run may have started to be reported at all, such as ``30d``.
        lookback: How much earlier than the newest one a run may have started whose receipt comes
            into sight late.
        at_most: How many receipts to report in one tick; Dagster limits the time a tick takes.
        resource_key: The resource that holds the store, a ``ReceiptStoreResource``.
        store: The URL of a store, instead of a resource.
        sensor_arguments: What ``dg.sensor`` takes: ``minimum_interval_seconds``,
            ``default_status``, ...

    Raises:
        ConfigError: an argument is wrong.
    """
    named = [tasks] if isinstance(tasks, str) else list(tasks)
    left_out = [exclude] if isinstance(exclude, str) else list(exclude)
    for each in (*named, *left_out):
        Requirement(each)  # complains of what is no task and no pattern
    check_at_most(at_most)
    since, lookback = duration(since, what="since"), duration(lookback, what="lookback")
    if since < lookback:
        raise ConfigError(
            f"since is {since}, and lookback is {lookback}.", hint="since is the longer one."
        )
    look = _Look(
        tasks=named,
        exclude=left_out,
        places=Places(partitions_def, variables, key_of, asset_keys),
        questions=_questions(checks),
        since=since,
        lookback=lookback,
        at_most=at_most,
    )

    return sensor_that_looks(
        look.at, name=name, resource_key=resource_key, store=store, **sensor_arguments
    )


def _questions(
    checks: Sequence[dg.AssetChecksDefinition],
) -> list[tuple[dg.AssetCheckSpec, Question]]:
    found = []
    for check in checks:
        question, (spec, *_) = question_of(check), check.check_specs
        if question is None or not question.in_a_tick:
            raise ConfigError(
                f"The check '{spec.name}' cannot be asked in a sensor's tick.",
                hint="Give checks of health, freshness, row counts, or hashes without load; run "
                "others from a job.",
            )
        found.append((spec, question))
    return found


@dataclass
class _Task:
    """What a tick finds of one task."""

    name: str
    remembered: Reported
    place: Place
    found: Found
    done: list[Receipt] = field(default_factory=list)
    """The receipts that are on record in Dagster."""
    left: list[Receipt] = field(default_factory=list)
    """Those that are to be reported at a later tick."""
    new: list[tuple[Receipt, list[str | None]]] = field(default_factory=list)
    """Those to report now, each for these partitions."""
    unplaced: list[str] = field(default_factory=list)
    """Those that are for no partition."""

    def is_late(self, receipt: Receipt, partition: str | None) -> bool:
        """Whether a newer success of the same partition is on record."""
        return receipt.status is Status.SUCCESS and any(
            each.status is Status.SUCCESS
            and each.order > receipt.order
            and partition in self.place.keys_of(each)
            for each in self.done
        )


@dataclass
class _Tick:
    """What comes of one tick."""

    events: list[Event] = field(default_factory=list)
    reported: dict[str, int] = field(default_factory=dict)
    """How many receipts of each task."""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Look:
    """One evaluation of the sensor."""

    tasks: Sequence[str]
    exclude: Sequence[str]
    places: Places
    questions: Sequence[tuple[dg.AssetCheckSpec, Question]]
    since: timedelta
    lookback: timedelta
    at_most: int

    def at(self, store: ReceiptStore, context: dg.SensorEvaluationContext) -> dg.SensorResult:
        cursor, now, tick = CatalogCursor.read(context.cursor), datetime.now(UTC), _Tick()
        try:
            tasks = tasks_named(self.tasks, store=store)
        except StoreUnavailableError as error:
            return dg.SensorResult(skip_reason=f"UNKNOWN: {error}")
        left_out = tasks_named(self.exclude, among=tasks)
        named = [each for each in tasks if each not in left_out]
        looked, stopped = self._look_at(cursor, named, store, context, tick, now)
        self._report(looked, tick, context.instance)
        checked = self._checks(tick, store)
        moved = self._moved(cursor, looked, named, now)
        if stopped is not None:
            tick.notes.append(
                f"There was no time for all tasks; the next tick begins at {stopped}."
            )
        for note in tick.notes:
            context.log.warning(note)
        count = sum(tick.reported.values())
        receipts = "1 receipt was" if count == 1 else f"{count} receipts were"
        said = f"{receipts} reported." if count else "No new receipt."
        return dg.SensorResult(
            asset_events=[*tick.events, *checked],
            skip_reason=" ".join([*tick.notes, said]),
            cursor=CatalogCursor(moved, stopped).write(),
        )

    def _look_at(
        self,
        cursor: CatalogCursor,
        named: Sequence[str],
        store: ReceiptStore,
        context: dg.SensorEvaluationContext,
        tick: _Tick,
        now: datetime,
    ) -> tuple[list[_Task], str | None]:
        """What is found of each task; and the task for which there was no time, if there is one."""
        until, looked, oldest = time.monotonic() + TICK_SECONDS, list[_Task](), now - self.since
        for name in cursor.in_turn(named):
            if looked and time.monotonic() > until:
                return looked, name
            remembered = cursor.of(name)
            try:
                found = store.search(name, since=max(remembered.since or oldest, oldest))
            except StoreUnavailableError as error:
                tick.notes.append(f"UNKNOWN: {name}: {error}")
                continue
            place = self.places.of(name, context.repository_def)
            task = _Task(name, remembered, place, found)
            self._sort(task, context.instance, now)
            looked.append(task)
        self._tell_unreadable(looked, tick)
        return looked, None

    def _sort(self, task: _Task, instance: dg.DagsterInstance, now: datetime) -> None:
        """Tell which of the receipts found are on record, which are new, and which must wait."""
        fresh = []
        for receipt in task.found:
            if not receipt.status.is_final:
                if receipt.started_at > now - OPEN_FOR:
                    task.left.append(receipt)
            elif receipt.started_at > now + CLOCK_SKEW:
                task.left.append(receipt)
            elif task.remembered.has(receipt):
                task.done.append(receipt)
            else:
                fresh.append(receipt)
        if not fresh:
            return
        on_record = AssetEvents.of(task.place.key, instance, since=min(r.started_at for r in fresh))
        for receipt in fresh:
            try:
                partitions = task.place.keys_of(receipt)
            except ConfigError:
                raise
            except Exception as error:  # a key_of of the user's, for one receipt among many
                task.unplaced.append(f"{receipt.batch} ({type(error).__name__})")
                continue
            if not partitions:
                task.unplaced.append(str(receipt.batch))
                continue
            rest = [each for each in partitions if not on_record.has(receipt, each)]
            run = run_of_this_dagster(receipt, instance) if rest else None
            if not rest or (run is not None and task.place.is_made_here):
                task.done.append(receipt)
            elif run is not None and not run.is_finished:
                task.left.append(receipt)  # Dagster will write down itself what the run makes
            else:
                task.new.append((receipt, rest))

    def _report(self, looked: Sequence[_Task], tick: _Tick, instance: dg.DagsterInstance) -> None:
        """Report what is new, oldest first over all tasks; the rest follows at later ticks."""
        new = [(receipt, rest, task) for task in looked for receipt, rest in task.new]
        unknown = {f"{task.name}: {each}": None for task in looked for each in task.unplaced}
        follow = 0
        for receipt, partitions, task in sorted(new, key=lambda each: each[0].order):
            here = [each for each in partitions if task.place.has(each, instance)]
            lacking = [each for each in partitions if each not in here]
            unknown |= dict.fromkeys(f"{task.name}: {receipt.batch}" for _ in lacking)
            if here and len(tick.events) >= self.at_most:
                task.left.append(receipt)
                follow += 1
                continue
            for partition in here:
                is_late = task.is_late(receipt, partition)
                tick.events.append(event_of(receipt, task.place.key, partition, is_late=is_late))
            if here:
                tick.reported[task.name] = tick.reported.get(task.name, 0) + 1
            if any(not task.place.never_has(each) for each in lacking):
                task.left.append(receipt)
            elif here:
                task.done.append(receipt)
        if unknown:
            tick.notes.append(no_partitions(list(unknown), between="; "))
        if follow:
            tick.notes.append(left_over(follow))

    def _checks(self, tick: _Tick, store: ReceiptStore) -> list[dg.AssetCheckEvaluation]:
        """The answers of the checks whose tasks have news."""
        found = []
        for spec, question in self.questions:
            if not tick.reported.keys() & set(tasks_named(question.task, among=tick.reported)):
                continue
            answer = question.ask(store, None)
            found.append(
                dg.AssetCheckEvaluation(
                    asset_key=spec.asset_key,
                    check_name=spec.name,
                    passed=answer.passed,
                    severity=answer.severity,
                    description=answer.description,
                    metadata=answer.metadata,
                    blocking=spec.blocking,
                )
            )
        return found

    def _moved(
        self, cursor: CatalogCursor, looked: Sequence[_Task], named: Sequence[str], now: datetime
    ) -> dict[str, Reported]:
        """What to remember of each task; of one that was not looked at, what there was."""
        kept = {name: cursor.of(name) for name in named}
        room = room_for(len(named))
        for task in looked:
            kept[task.name] = task.remembered.moved(
                task.done, left=task.left, lookback=self.lookback, room=room, now=now
            )
        return kept

    def _tell_unreadable(self, looked: Sequence[_Task], tick: _Tick) -> None:
        bad = [each for task in looked for each in task.found.unreadable]
        if bad:
            tick.notes.append(f"UNKNOWN: {cannot_be_read(bad)}")
