"""When a task is to run, and for which period of data."""

from ubunye_core.schedules.calendar import Calendar
from ubunye_core.schedules.periods import Period
from ubunye_core.schedules.schedule import Of, Schedule
from ubunye_core.schedules.scheduled import ScheduledWindow, ScheduledWindows

__all__ = ["Calendar", "Of", "Period", "Schedule", "ScheduledWindow", "ScheduledWindows"]
