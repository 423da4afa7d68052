"""The timetable of a DAG as a schedule, held against the runs that Airflow itself would make."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.sdk import (
    DAG,
    Asset,
    CronDataIntervalTimetable,
    CronTriggerTimetable,
    DeltaDataIntervalTimetable,
    DeltaTriggerTimetable,
    MultipleCronTriggerTimetable,
)
from airflow.timetables.base import TimeRestriction
from dateutil.relativedelta import relativedelta

from ubunye_airflow import schedule_of_dag
from ubunye_core import ConfigError, Schedule

START, END = datetime(2024, 3, 1, 12, tzinfo=UTC), datetime(2024, 4, 10, tzinfo=UTC)
BERLIN = "Europe/Berlin"  # its clocks change on 31 March
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def a_dag(schedule: Any, **how: Any) -> DAG:
    given = {"start_date": START, "end_date": END, "catchup": True, **how}
    return DAG("timed", schedule=schedule, **given)


def airflows_runs(dag: DAG) -> list[tuple[datetime, datetime, datetime]]:
    """The data interval and the due time of each run that Airflow would make."""
    from airflow.serialization.encoders import coerce_to_core_timetable

    table = coerce_to_core_timetable(dag.timetable)
    limits = TimeRestriction(earliest=dag.start_date, latest=dag.end_date, catchup=dag.catchup)
    found, last = [], None
    while True:
        run = table.next_dagrun_info(last_automated_data_interval=last, restriction=limits)
        if run is None:
            return found
        last = run.data_interval
        found.append((last.start, last.end, run.run_after))


def ours(schedule: Schedule) -> list[tuple[datetime, datetime, datetime]]:
    windows = schedule.due_between(START - 60 * DAY, END + 60 * DAY)
    return [(each.start, each.end, each.due) for each in windows]


@pytest.mark.parametrize(
    "table",
    [
        CronDataIntervalTimetable("0 2 * * *", timezone="UTC"),
        CronDataIntervalTimetable("0 4 * * *", timezone=BERLIN),
        CronDataIntervalTimetable("@weekly", timezone=BERLIN),
        CronDataIntervalTimetable("15 */6 * * *", timezone="Asia/Kolkata"),
        DeltaDataIntervalTimetable(7 * HOUR),
        CronTriggerTimetable("0 2 * * *", timezone="UTC", interval=DAY),
    ],
    ids=repr,
)
def test_a_timetable_with_data_intervals_gives_the_windows_that_airflow_makes(table: Any) -> None:
    dag = a_dag(table)
    expected = airflows_runs(dag)
    assert len(expected) > 4
    assert ours(schedule_of_dag(dag)) == expected


@pytest.mark.parametrize(
    "schedule",
    [
        "@daily",
        CronTriggerTimetable("0 4 * * 1-5", timezone=BERLIN),
        timedelta(hours=7),
        DeltaTriggerTimetable(7 * HOUR),
    ],
    ids=str,
)
def test_a_timetable_without_them_is_due_when_airflow_fires_and_its_author_says_what_it_covers(
    schedule: Any,
) -> None:
    dag = a_dag(schedule)
    due = [run[2] for run in airflows_runs(dag)]
    with pytest.raises(ConfigError, match="does not say which data a run covers"):
        schedule_of_dag(dag)
    for of in ("previous", "current"):
        found = schedule_of_dag(dag, of=of).due_between(START - DAY, END + DAY)
        assert [each.due for each in found] == due
        edge = [each.end if of == "previous" else each.start for each in found]
        assert edge == due
    days = schedule_of_dag(dag, window="day", of="previous", variable="dt", finish_by="2h")
    assert (days.variable, days.finish_by) == ("dt", timedelta(hours=2))


def test_the_timetables_of_airflows_own_core_are_read_too() -> None:
    from airflow.timetables.interval import CronDataIntervalTimetable as CoreTimetable

    dag = a_dag(CoreTimetable("0 4 * * *", BERLIN))
    assert ours(schedule_of_dag(dag)) == airflows_runs(dag)


def test_a_dag_without_dates_and_with_a_grid_of_its_own_is_a_schedule_without_them() -> None:
    found = schedule_of_dag(DAG("endless", schedule=DeltaDataIntervalTimetable(6 * HOUR)))
    assert (found.every, found.start, found.end) == (6 * HOUR, None, None)
    cron = schedule_of_dag(
        a_dag("0 2 * * *", start_date=None, end_date=None, catchup=False), of="current"
    )
    assert (cron.cron, cron.start, cron.end) == ("0 2 * * *", None, None)


class OurTimetable(CronDataIntervalTimetable):
    """What somebody has made of one of Airflow's."""


@pytest.mark.parametrize(
    ("schedule", "how", "says"),
    [
        (None, {}, "NullTimetable"),
        ("@once", {}, "OnceTimetable"),
        ("@continuous", {"max_active_runs": 1}, "ContinuousTimetable"),
        ([Asset("people")], {}, "AssetTriggeredTimetable"),
        (MultipleCronTriggerTimetable("0 2 * * *", "0 9 * * *", timezone="UTC"), {}, "Multiple"),
        (OurTimetable("0 2 * * *", timezone="UTC"), {}, "OurTimetable"),
        (DeltaDataIntervalTimetable(relativedelta(months=1)), {}, "no fixed length"),
        (timedelta(hours=7), {"catchup": False}, "when it first ran"),
        (DeltaDataIntervalTimetable(7 * HOUR), {"catchup": False}, "when it first ran"),
        (CronTriggerTimetable("0 2 * * *", timezone=BERLIN, interval=DAY), {}, "covers 1 day"),
        (CronTriggerTimetable("0 2 * * *", timezone="UTC", interval=HOUR), {}, "covers 1:00:00"),
        ("0 0 2 * * *", {}, "no cron expression"),
    ],
    ids=str,
)
def test_a_timetable_that_is_no_schedule_of_ours_is_refused_by_name(
    schedule: Any, how: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        schedule_of_dag(a_dag(schedule, **how))
