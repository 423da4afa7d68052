"""The queries on the table of events, for DataFusion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ubunye_core.receipt import Status
from ubunye_core.stores.events import STANDING_FIRST, asked_variables
from ubunye_core.times import as_utc

DAMAGED = "(status IS NULL OR started_at IS NULL OR batch_key IS NULL)"
"""Our writers always fill these; whatever else a row is, it is no receipt."""
KEYS = ("task", "run_id", "event", "turn", "status", "started_at")
"""What tells which event of a run stands, and its place among the runs."""
WHOLE = (*KEYS, "batch_key", "document")
"""What a receipt is read and checked from."""
NOTHING = "FALSE"
NEWEST_FIRST = "started_at DESC NULLS FIRST, run_id DESC NULLS FIRST"


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


def _has(name: str, text: str) -> str:
    if not (name.isprintable() and text.isprintable()):
        return "TRUE"  # nothing is spelled that a parser could see otherwise; the receipt tells
    return f"variables[{quoted(name)}] = {quoted(text)}"


def select(columns: Sequence[str], where: Sequence[str] = ()) -> str:
    """Rows as they are."""
    return f"SELECT {', '.join(columns)} FROM events{_where(where)}"


def standing(columns: Sequence[str], *, of: Sequence[str] = (), fitting: Sequence[str] = ()) -> str:
    """The rows that stand, of the runs that ``of`` names, and that fit or are damaged.

    Which events of a run fit does not tell whether the one that stands does; but a run none of
    whose events fits needs no further look.
    """
    few = " AND ".join(fitting)
    among = [*of, f"run_id IN ({select(['run_id'], [*of, f'({few} OR {DAMAGED})'])})"]
    inner = (
        f"SELECT *, row_number() OVER (PARTITION BY task, run_id ORDER BY {STANDING_FIRST}) "
        f"AS place FROM events{_where(among if fitting else of)}"
    )
    last = ["place = 1", *([f"({few} OR {DAMAGED})"] if fitting else [])]
    return f"SELECT {', '.join(columns)} FROM ({inner}){_where(last)}"


def newest(query: str, limit: int | None) -> str:
    """The newest rows of a query first, and not more than ``limit``."""
    return f"{query} ORDER BY {NEWEST_FIRST}" + ("" if limit is None else f" LIMIT {limit}")


def settled(tasks: Sequence[str], *, looked_at: int) -> str:
    """For each task its newest run, and whether anything speaks against believing it."""
    rows = standing(
        ("task", "run_id", "status", "started_at", "ended_at", "window_end", "batch_key"),
        of=[one_of("task", tasks)],
    )
    ranked = (
        f"SELECT *, row_number() OVER (PARTITION BY task ORDER BY {NEWEST_FIRST}) AS nth "
        f"FROM ({rows})"
    )
    first = ("run_id", "status", "started_at", "ended_at", "window_end")
    columns = ", ".join(f"max(CASE WHEN nth = 1 THEN {name} END) AS {name}" for name in first)
    in_doubt = (
        f"max(CASE WHEN {DAMAGED} OR (nth <= {looked_at} AND status = 'running') THEN 1 ELSE 0 END)"
    )
    return f"SELECT task, {columns}, {in_doubt} AS in_doubt FROM ({ranked}) GROUP BY task"


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
