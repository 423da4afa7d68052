"""What can be asked about receipts."""

from ubunye_core.questions.answer import Verdict
from ubunye_core.questions.guard import RunAnswer, RunRefusedError, claim, may_run
from ubunye_core.questions.health import Health, job_health
from ubunye_core.questions.plan import Plan, plan_backfill
from ubunye_core.questions.planned import Action, Catchup, Include, PlannedWindow, ToCatchUp
from ubunye_core.questions.requirements import (
    OnFailed,
    Requirement,
    RequirementLike,
    requirements_of,
)
from ubunye_core.questions.schedulefiles import read_calendar, read_schedule
from ubunye_core.questions.task_health import TaskHealth
from ubunye_core.questions.taskfiles import read_requirements
from ubunye_core.questions.upstream import (
    RequirementAnswer,
    UpstreamAnswer,
    UpstreamNotMetError,
    check_upstream,
    require,
)
from ubunye_core.questions.wait import Patience, wait_for_upstream
from ubunye_core.questions.window_state import WindowAnswer, WindowState
from ubunye_core.questions.windows import Windows, missed_windows, window_states

__all__ = [
    "Action",
    "Catchup",
    "Health",
    "Include",
    "OnFailed",
    "Patience",
    "Plan",
    "PlannedWindow",
    "Requirement",
    "RequirementAnswer",
    "RequirementLike",
    "RunAnswer",
    "RunRefusedError",
    "TaskHealth",
    "ToCatchUp",
    "UpstreamAnswer",
    "UpstreamNotMetError",
    "Verdict",
    "WindowAnswer",
    "WindowState",
    "Windows",
    "check_upstream",
    "claim",
    "job_health",
    "may_run",
    "missed_windows",
    "plan_backfill",
    "read_calendar",
    "read_requirements",
    "read_schedule",
    "require",
    "requirements_of",
    "wait_for_upstream",
    "window_states",
]
