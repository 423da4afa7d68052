"""The partitions of a definition as the windows of a schedule, held against Dagster's own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pytest

from ubunye_core import Action, PlannedWindow, WindowState
from ubunye_dagster import partition_format, schedule_of_partitions
from ubunye_dagster.partitions.schedules import key_of_window

ZONES = ("UTC", "Europe/London", "America/Chicago", "Australia/Lord_Howe", "Asia/Jakarta")
LIMITS = {"start_date": datetime(2024, 1, 30, 12), "end_date": datetime(2024, 12, 2)}  # noqa: DTZ001
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "hourly": (dg.HourlyPartitionsDefinition, {}),
    "hourly at 15": (dg.HourlyPartitionsDefinition, {"minute_offset": 15}),
    "daily": (dg.DailyPartitionsDefinition, {}),
    "daily at 04:30": (dg.DailyPartitionsDefinition, {"hour_offset": 4, "minute_offset": 30}),
    "weekly": (dg.WeeklyPartitionsDefinition, {}),
    "weekly on Wednesday": (dg.WeeklyPartitionsDefinition, {"day_offset": 3}),
    "monthly": (dg.MonthlyPartitionsDefinition, {}),
    "monthly from the 5th": (dg.MonthlyPartitionsDefinition, {"day_offset": 5}),
    "every six hours": (
        dg.TimeWindowPartitionsDefinition,
        {"cron_schedule": "0 */6 * * *", "fmt": "%Y-%m-%d-%H"},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", KINDS)
def test_windows_are_the_partitions_with_their_keys_also_when_clocks_change(
    kind: str, zone: str
) -> None:
    if kind.startswith("hourly") and zone == "Australia/Lord_Howe":
        zone = "Asia/Kolkata"  # by half an hour Dagster's own hours leave the clock's
    make, more = KINDS[kind]
    limits = {name.removesuffix("_date"): each for name, each in LIMITS.items()}
    if make is not dg.TimeWindowPartitionsDefinition:
        limits = LIMITS
    definition = make(**limits, timezone=zone, **more)
    schedule = schedule_of_partitions(definition)
    found = schedule.due_between(datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC))
    keys = definition.get_partition_keys()
    if kind.startswith("hourly"):  # there are thousands: those of the days on which clocks change
        days = ("2024-03-10", "2024-03-31", "2024-04-07", "2024-10-06", "2024-10-27", "2024-11-03")
        keys = [key for key in keys if key[:10] in days]
        found = [each for each in found if each.name[:10] in days]
    assert len(keys) == len(found) > 8
    periods = [definition.time_window_for_partition_key(key) for key in keys]
    # An instant in a zone that shows its hour twice equals none in another, says PEP 495.
    utc = [(p.start.astimezone(UTC), p.end.astimezone(UTC)) for p in periods]
    assert [(each.start, each.end) for each in found] == utc
    assert all(each.due == each.end for each in found)
    planned = [
        PlannedWindow(
            task="a/b/c", window=each, action=Action.RUN, reason="", state=WindowState.MISSING
        )
        for each in found
    ]
    assert [key_of_window(definition, each, (schedule,)) for each in planned] == keys


def test_a_variable_names_a_partition_as_recorded_writes_it() -> None:
    monthly = dg.MonthlyPartitionsDefinition("2024-01-01", timezone="Africa/Johannesburg")
    october = datetime(2024, 11, 1, tzinfo=UTC)

    def text(**variables: Any) -> tuple[str | None, str]:
        schedule = schedule_of_partitions(monthly, variables or None)
        (window,) = schedule.due_between(october - timedelta(days=5), october + timedelta(days=5))
        return schedule.variable, schedule.value_of(window)

    assert text() == ("partition", "2024-10-01")
    assert text(month=partition_format("%Y-%m"), mode="PROD") == ("month", "2024-10")
