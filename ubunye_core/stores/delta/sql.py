"""The queries on the table of events, for DataFusion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ubunye_core.receipt import Status
from ubunye_core.stores.events import asked_variables
from ubunye_core.times import as_utc

DAMAGED = "(status IS NULL OR started_at IS NULL OR batch_key IS NULL)"
"""Our writers always fill these; whatever else a row is, it is no receipt."""
KEYS = ("task", "run_id", "event", "turn", "status", "started_at")
"""What tells which event of a run stands, and its place among the runs."""
WHOLE = (*KEYS, "batch_key", "document")
"""What a receipt is read and checked from."""
NOTHING = "FALSE"
_RUNNING = f"'{Status.RUNNING.value}'"


def quoted(text: str) -> str:
    """A text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def moment(when: datetime) -> str:
    """An instant as a literal."""
    return f"to_timestamp_micros({_micros(when)})"


def _micros(when: datetime) -> int:
    utc = as_utc(when)
    whole = utc.replace(microsecond=0)
    return int(whole.timestamp()) * 1_000_000 + utc.microsecond


def of_task(task: str | None) -> list[str]:
    """The condition of one task; none for all tasks."""
    return [] if task is None else [f"task = {quoted(task)}"]


def one_of(column: str, texts: Iterable[str]) -> str:
    """The condition that a column has one of these values."""
    return f"{column} IN ({', '.join(quoted(text) for text in texts)})"


def begins_with(prefix: str) -> str:
    """The condition that a run id begins so. Ids are ASCII, and '~' is greater than any of them."""
    return f"(run_id >= {quoted(prefix)} AND run_id < {quoted(prefix + '~')})"


def that_fit(
    status: Status | None, since: datetime | None, batch: Mapping[str, str] | None
) -> list[str]:
    """The conditions of a search. They leave out only what cannot fit."""
    conditions = []
    if status is not None:
        conditions.append(f"status = {quoted(status.value)}")
    if since is not None:
        conditions.append(f"started_at >= {moment(since)}")
    if batch:
        asked = asked_variables(batch)
        conditions += [NOTHING] if asked is None else map(_has, asked, asked.values())
    return conditions


def not_ended(task: str | None) -> str:
    """The condition of runs none of whose events is an end: one that ended never runs again."""
    name = "concat(coalesce(task, ''), '/', coalesce(run_id, ''))"
    return f"{name} NOT IN ({select([name], [*of_task(task), f'status <> {_RUNNING}'])})"


def _has(name: str, text: str) -> str:
    if not (name.isprintable() and text.isprintable()):
        return "TRUE"  # nothing is spelled that a parser could see otherwise; the receipt tells
    return f"variables[{quoted(name)}] = {quoted(text)}"


def select(columns: Sequence[str], where: Sequence[str] = ()) -> str:
    """Rows as they are."""
    return f"SELECT {', '.join(columns)} FROM events{_where(where)}"


def or_damaged(fitting: Sequence[str]) -> list[str]:
    """Conditions, or damage: what cannot be told may fit."""
    return [f"(({' AND '.join(fitting)}) OR {DAMAGED})"] if fitting else []


def newest(query: str, count: int) -> str:
    """So many rows of a query, newest first; rows that do not tell come before all others."""
    return f"{query} ORDER BY started_at DESC NULLS FIRST LIMIT {count}"


def tasks_in_doubt(tasks: Sequence[str]) -> str:
    """Those of the tasks that have a damaged row, or a run none of whose events is an end."""
    open_runs = (
        f"SELECT task, run_id, min(CASE WHEN {DAMAGED} THEN 2 WHEN status = 'running' THEN 1 "
        f"ELSE 0 END) AS open, max(CASE WHEN {DAMAGED} THEN 1 ELSE 0 END) AS damaged "
        f"FROM events WHERE {one_of('task', tasks)} GROUP BY task, run_id"
    )
    return f"SELECT DISTINCT task FROM ({open_runs}) WHERE open > 0 OR damaged > 0"


def last_starts(tasks: Sequence[str], columns: Sequence[str]) -> str:
    """The events of those runs of each task that started last."""
    last = (
        f"SELECT task AS of_task, max(started_at) AS last FROM events "
        f"WHERE {one_of('task', tasks)} GROUP BY task"
    )
    return (
        f"SELECT {', '.join(columns)} FROM events JOIN ({last}) "
        f"ON task = of_task AND started_at = last"
    )


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
