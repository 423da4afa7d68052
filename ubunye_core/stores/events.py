"""The table that the Delta stores share: one row for each save, and no row is ever changed.

A row is an ``Event``: the document, and columns that find it without reading it. Of the events of
a run one stands; ``standing_events`` says which, and ``STANDING_FIRST`` says the same in SQL.

Which one stands is told by three things, in this order:

1. ``turn``, the greatest. It counts what a run's record went through: its first save is turn 0;
   each end, and the end that heals a damaged record, has the turn of the record it replaces and 1.
   A save that says ``running`` keeps the turn of the ``running`` record it replaces.
2. An end stands before ``running`` of the same turn.
3. Of several ends of one turn the first stands; of several ``running`` the last. Event ids sort by
   time, and one that replaces another is always greater.

So a heartbeat may be appended without looking who else writes: it can never undo an end. The first
save of a run and every end must be elected, so that two of them never have the same turn; the third
rule then only gives every reader the same answer if a foreign writer did not keep to this.

Only types are used that every reader of Delta knows (reader version 1, writer version 2): no times
without a zone, no unsigned numbers, no columns of nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any, Self

from ubunye_core.batch import Batch, comparable
from ubunye_core.codec import decode, encode
from ubunye_core.errors import BadReceiptError, ConfigError
from ubunye_core.masking import MASK, comparable_value
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.runids import new_run_id, time_in
from ubunye_core.stores.ends import on_record, standing
from ubunye_core.times import as_utc


class Kind(StrEnum):
    """The type of a column, by its name in Delta."""

    TEXT = "string"
    NUMBER = "long"
    TIME = "timestamp"
    """UTC, to the microsecond."""
    TEXTS = "map<string,string>"


@dataclass(frozen=True)
class Column:
    """A column of the table of events. Each may be null, and tells nothing then."""

    name: str
    kind: Kind


PARTITIONED_BY = "task"

COLUMNS = (
    Column("task", Kind.TEXT),
    Column("run_id", Kind.TEXT),
    Column("event", Kind.TEXT),
    Column("turn", Kind.NUMBER),
    Column("saved_at", Kind.TIME),
    Column("status", Kind.TEXT),
    Column("started_at", Kind.TIME),
    Column("ended_at", Kind.TIME),
    Column("window_start", Kind.TIME),
    Column("window_end", Kind.TIME),
    Column("batch_key", Kind.TEXT),
    Column("variables", Kind.TEXTS),
    Column("attempt_key", Kind.TEXT),
    Column("ended_by", Kind.TEXT),
    Column("document", Kind.TEXT),
)

_OF_UBUNYE_ENGINE = frozenset({"recorded_at", "usecase", "pipeline", "target"})
"""Columns of the lineage table that ubunye-engine writes."""


def check_columns(found: Mapping[str, str], *, where: str) -> None:
    """Refuse a table that is no table of events. Columns that it has besides do no harm.

    Args:
        found: The type of each column by its name, as ``Kind`` writes them.
        where: The table, for the error.

    Raises:
        ConfigError: a column is missing or has another type.
    """
    if found.keys() >= _OF_UBUNYE_ENGINE:
        raise ConfigError(
            f"{where} is a lineage table of ubunye-engine, which keeps too little to answer from.",
            hint="Name another place for the receipts.",
        )
    for column in COLUMNS:
        if found.get(column.name) != column.kind:
            told = found.get(column.name, "not there")
            raise ConfigError(
                f"{where} is not a table of receipts: its column '{column.name}' is {told}, "
                f"and should be {column.kind}.",
                hint="Name another place for the receipts.",
            )


PROPERTIES = {
    "delta.checkpointInterval": "100",
    "delta.logRetentionDuration": "interval 7 days",
    "delta.deletedFileRetentionDuration": "interval 1 days",
    "delta.setTransactionRetentionDuration": "interval 1 days",
    "delta.dataSkippingStatsColumns": "run_id,event,status,started_at,batch_key,attempt_key",
}
"""Properties that the table is made with. The log does not grow for ever: not by its versions, and
not by the elections, which Delta forgets a day later. No writer takes that long between its look
and its commit."""

STANDING_FIRST = (
    "coalesce(turn, 0) DESC, CASE WHEN status = 'running' THEN 1 ELSE 0 END, "
    "CASE WHEN status = 'running' THEN '' ELSE coalesce(event, '') END, "
    "coalesce(event, '') DESC"
)
"""SQL, Spark's and DataFusion's: of the rows of one run, ordered by this, the first one stands."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One row, or the columns of it that were asked for. None: not asked for, or not known."""

    task: str
    run_id: str
    event: str
    """A UUIDv7 of the save."""
    turn: int = 0
    saved_at: datetime | None = None
    """When it was saved, by the clock of the writer."""
    status: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    window_start: datetime | None = None
    window_end: datetime | None = None
    batch_key: str | None = None
    """``Batch.digest``."""
    variables: Mapping[str, str] | None = None
    """As they are compared: texts, without secrets."""
    attempt_key: str | None = None
    """``attempt_key``: it stands for a scheduler's attempt."""
    ended_by: str | None = None
    document: str | None = None
    """The receipt, as ``encode`` writes it."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """A row as a library reads it; columns of others are left out."""
        known = {
            each.name: row[each.name] for each in fields(cls) if row.get(each.name) is not None
        }
        if "variables" in known:  # Arrow reads a map as pairs
            known["variables"] = dict(known["variables"])
        return cls(**({"task": "", "run_id": "", "event": ""} | known))

    def as_row(self) -> dict[str, Any]:
        """The row, with every column of the table."""
        return {column.name: getattr(self, column.name) for column in COLUMNS}

    @property
    def is_end(self) -> bool:
        """Whether it is a run's end, as far as its columns tell."""
        return self.status != Status.RUNNING


def event_of(receipt: Receipt, *, replaces: Event | None, saved_at: datetime) -> Event:
    """The row of a save.

    Args:
        receipt: What is to stand.
        replaces: The event of this run that stands now; None for its first.
        saved_at: Now.
    """
    window = receipt.window
    return Event(
        task=receipt.task,
        run_id=receipt.run_id,
        event=new_event_id(saved_at, after=replaces),
        turn=0 if replaces is None else replaces.turn + receipt.status.is_final,
        saved_at=as_utc(saved_at),
        status=receipt.status.value,
        started_at=receipt.started_at,
        ended_at=receipt.ended_at,
        window_start=None if window is None else window.start,
        window_end=None if window is None else window.end,
        batch_key=receipt.batch.digest,
        variables={
            storable(name): storable(text) for name, text in comparable(receipt.variables).items()
        },
        attempt_key=None if receipt.orchestrator is None else attempt_key(receipt.orchestrator),
        ended_by=None if receipt.ended_by is None else storable(receipt.ended_by),
        document=encode(receipt).decode("ascii"),
    )


def next_event(
    current: Event | None, offered: Receipt, *, where: str, saved_at: datetime
) -> Event | None:
    """What to append when ``offered`` is saved; None where what stands now stays.

    Args:
        current: The event of the run that stands now, whole; None where it has none.
        offered: What is to be saved.
        where: The place of the run's record, for an error.
        saved_at: Now.

    Raises:
        ReceiptConflictError: by the rules about ends.
        BadReceiptError: what stands cannot be read, and ``offered`` is no end, which would heal it.
    """
    known = None
    if current is not None:
        known = on_record(partial(receipt_of, current, where=where), offered)
    stands = standing(known, offered)
    return None if stands is None else event_of(stands, replaces=current, saved_at=saved_at)


def needs_election(current: Event | None, following: Event) -> bool:
    """Whether ``following`` may be appended only if nobody else has appended to the run since."""
    return current is None or following.is_end


def election(event: Event) -> tuple[str, int]:
    """The app transaction by which an event is elected: its id, and its version.

    The same in every store that writes this table, so that writers of different kinds meet too. Of
    several commits of one id that are under way at once, Delta takes one. Its versions grow with
    the turn, so that a writer that came too late is seen as such.
    """
    return f"ubunye-receipts/{event.task}/{event.run_id}", event.turn + 1


def receipt_of(event: Event, *, where: str) -> Receipt:
    """The receipt of a row that was read with all of its columns.

    Raises:
        BadReceiptError: its document is no receipt, or is not the one that its columns tell of.
    """
    document = (event.document or "").encode("utf-8", "surrogatepass")
    receipt = decode(document, where=where)
    if (receipt.task, receipt.run_id) != (event.task, event.run_id):
        raise BadReceiptError(where, "its place is not the task and run id that stand in it")
    if (receipt.status, receipt.started_at) != (event.status, event.started_at):
        raise BadReceiptError(where, "its columns tell of another status or start than it does")
    if receipt.batch.digest != event.batch_key:
        raise BadReceiptError(where, "its columns tell of another batch than it does")
    return receipt


def standing_events(events: Iterable[Event]) -> list[Event]:
    """Of each run the event that stands, in no order."""
    stands: dict[tuple[str, str], Event] = {}
    for event in events:
        key = (event.task, event.run_id)
        if key not in stands or _stands_before(event, stands[key]):
            stands[key] = event
    return list(stands.values())


def _stands_before(one: Event, other: Event) -> bool:
    if one.turn != other.turn:
        return one.turn > other.turn
    if one.is_end != other.is_end:
        return one.is_end
    return one.event < other.event if one.is_end else one.event > other.event


def may_fit(
    event: Event,
    *,
    status: Status | None = None,
    since: datetime | None = None,
    batch: Mapping[str, str] | None = None,
) -> bool:
    """Whether a receipt can be among the answer to a search, as far as its columns tell.

    The columns only leave out: whether a receipt does fit is told by the receipt.
    """
    return (
        (status is None or event.status in (None, status.value))
        and (since is None or event.started_at is None or event.started_at >= as_utc(since))
        and (batch is None or event.variables is None or _may_agree(event.variables, batch))
    )


def _may_agree(variables: Mapping[str, str], batch: Mapping[str, str]) -> bool:
    asked = asked_variables(batch)
    return asked is not None and all(variables.get(name) == text for name, text in asked.items())


def asked_variables(batch: Mapping[str, str]) -> dict[str, str] | None:
    """The values that column ``variables`` must have; None where no receipt can agree."""
    asked = {storable(name): storable(comparable_value(text)) for name, text in batch.items()}
    return None if MASK in asked.values() else asked


def batch_key(batch: Mapping[str, str]) -> str:
    """The value of column ``batch_key`` for these variables as text."""
    return Batch.of(batch).digest


def attempt_key(attempt: Orchestrator) -> str:
    """The value of column ``attempt_key``: 64 hexadecimal digits, the same for the same attempt."""
    name, ids = attempt.scheduled_run
    text = json.dumps([name, ids, attempt.attempt], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def new_event_id(saved_at: datetime, *, after: Event | None) -> str:
    """A UUIDv7 of a save, greater than that of the event it replaces, whatever the clocks say."""
    moment = as_utc(saved_at)
    before = None if after is None else time_in(after.event)
    if before is not None and moment < before + timedelta(milliseconds=1):
        moment = before + timedelta(milliseconds=1)
    return new_run_id(moment)


def storable(text: str) -> str:
    """Text that any library can keep in a column; what no UTF-8 has becomes ``?``."""
    return text.encode("utf-8", "replace").decode()
