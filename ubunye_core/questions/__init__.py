"""What can be asked about receipts. Windows and plans are asked for by their modules."""

from ubunye_core.questions.answer import Verdict
from ubunye_core.questions.guard import RunAnswer, RunRefusedError, RunSkippedError, claim, may_run
from ubunye_core.questions.health import Health, job_health
from ubunye_core.questions.policy import IfHeld, Policy
from ubunye_core.questions.requirements import (
    OnFailed,
    Requirement,
    RequirementLike,
    requirements_of,
)
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

__all__ = [
    "Health",
    "IfHeld",
    "OnFailed",
    "Patience",
    "Policy",
    "Requirement",
    "RequirementAnswer",
    "RequirementLike",
    "RunAnswer",
    "RunRefusedError",
    "RunSkippedError",
    "TaskHealth",
    "UpstreamAnswer",
    "UpstreamNotMetError",
    "Verdict",
    "check_upstream",
    "claim",
    "job_health",
    "may_run",
    "read_requirements",
    "require",
    "requirements_of",
    "wait_for_upstream",
]
