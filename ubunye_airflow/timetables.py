"""From the timetable of a DAG to a schedule: when a run is due, and which window it covers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import Any

from ubunye_airflow.compat import Timetable, timetable_of
from ubunye_core import ConfigError, Of, Period, Schedule

FIRINGS_TO_COMPARE = 1000
ALMOST = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def schedule_of_dag(
    dag: Any, *, window: Period | str | None = None, of: Of | str | None = None, **others: Any
) -> Schedule:
    """The schedule of a DAG, for questions about its windows.

    ::

        schedule_of_dag(dag, window="day", of="previous", variable="day")

    Args:
        dag: A DAG whose ``schedule`` is a cron expression, a preset such as ``@daily``, a
            ``timedelta``, or a timetable of one of these.
        window: What a run covers: ``tick`` (from one firing to the next, unless given), ``hour``,
            ``day``, ``week`` or ``month``.
        of: ``previous`` or ``current``. Must be given where the timetable has no data interval, as
            that of ``schedule="@daily"`` in Airflow 3: nothing else says what a run covers.
        others: Whatever else a ``Schedule`` takes: ``variable``, ``format``, ``finish_by``, ...

    Raises:
        ConfigError: the timetable fires by other things than a clock, or cannot be told.
    """
    if not hasattr(dag, "timetable"):
        raise ConfigError(f"{dag!r} is no DAG.", hint="Write: schedule_of_dag(dag, window='day').")
    table = timetable_of(dag.timetable)
    if table is None:
        raise _refused(dag, "fires by more than one clock, or by none")
    start, end = (None if each is None else _utc(each) for each in (dag.start_date, dag.end_date))
    told: dict[str, Any] = {**_firings(dag, table, start), **others}
    covers = {"window": window, "of": of}
    told |= {name: word for name, word in covers.items() if word is not None}
    schedule = Schedule(**told)
    if table.interval is not None and not _is_covered(table, schedule):
        if table.interval:
            raise _refused(dag, f"covers {table.interval} at each firing, and not the time between")
        if of is None:
            raise ConfigError(
                f"The {table.kind} of the DAG '{dag.dag_id}' does not say which data a run covers.",
                hint="Say it: schedule_of_dag(dag, window='day', of='previous'), or 'current'.",
            )
    at_the_end = table.interval is None
    if start is not None and "start" not in others:
        schedule = replace(schedule, start=_first_due(schedule, start, at_the_end))
    if end is not None and "end" not in others:
        schedule = replace(schedule, end=_after_last_due(schedule, end, at_the_end))
    return schedule


def _firings(dag: Any, table: Timetable, start: datetime | None) -> dict[str, Any]:
    """When it fires, as a schedule says it."""
    if table.cron is not None:
        return {"cron": table.cron, "time_zone": table.time_zone}
    if not isinstance(table.every, timedelta):
        raise _refused(dag, f"fires every {table.every}, which is no fixed length of time")
    on_grid = start is None or not (start - EPOCH) % table.every
    if dag.catchup and start is not None:
        return {"every": table.every, "start": start}
    if on_grid and not dag.catchup and table.interval is None:
        return {"every": table.every}
    raise _refused(
        dag, "counts its intervals from when it first ran: give the DAG a start_date and catchup"
    )


def _is_covered(table: Timetable, schedule: Schedule) -> bool:
    """Whether the data interval of each firing is the time since the one before."""
    if not table.interval:
        return False
    firings = list(
        islice(schedule.firings.after(EPOCH + timedelta(days=20_000)), FIRINGS_TO_COMPARE)
    )
    return all(later - at == table.interval for at, later in pairwise(firings))


def _first_due(schedule: Schedule, start: datetime, at_the_end: bool) -> datetime:
    """When the first run of a DAG is due: at its first firing, or where an interval ends."""
    firings = schedule.firings.after(start)
    first = next(firings)
    return next(firings) if at_the_end else first


def _after_last_due(schedule: Schedule, end: datetime, at_the_end: bool) -> datetime:
    """Just after the last run is due: its firing, or its interval's start, is not after the end."""
    if not at_the_end:
        return end + ALMOST
    last = schedule.firings.before(end + ALMOST)
    return end if last is None else next(schedule.firings.after(last + ALMOST)) + ALMOST


def _utc(moment: datetime) -> datetime:
    """The same instant; not one of pendulum, whose sums are not those of ``datetime``."""
    return datetime.fromisoformat(moment.isoformat()).astimezone(UTC)


def _refused(dag: Any, why: str) -> ConfigError:
    return ConfigError(
        f"The {type(dag.timetable).__name__} of the DAG '{dag.dag_id}' is no schedule of ours: it "
        f"{why}.",
        hint="Give a schedule: Schedule(cron=..., time_zone=...), or the task's receipts.yaml.",
    )
