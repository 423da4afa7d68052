"""Receipts of scheduled data jobs, and the questions they answer. Knows no scheduler."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ubunye_core.batch import Batch
from ubunye_core.errors import (
    AmbiguousRunError,
    BadReceiptError,
    ClaimLostError,
    ConfigError,
    InvalidNameError,
    MissingExtraError,
    ReceiptConflictError,
    ReceiptNotFoundError,
    StoreNotNamedError,
    StoreUnavailableError,
    UbunyeError,
    UnknownStoreError,
)
from ubunye_core.hashing import Fingerprint, fingerprint
from ubunye_core.masking import masked_url
from ubunye_core.questions import (
    Health,
    OnFailed,
    Patience,
    Requirement,
    RequirementAnswer,
    RequirementLike,
    RunAnswer,
    RunRefusedError,
    TaskHealth,
    UpstreamAnswer,
    UpstreamNotMetError,
    Verdict,
    check_upstream,
    claim,
    job_health,
    may_run,
    read_requirements,
    require,
    requirements_of,
    wait_for_upstream,
)
from ubunye_core.receipt import (
    Counts,
    Expectation,
    Orchestrator,
    Pin,
    Receipt,
    Recorder,
    Status,
    Step,
    Timing,
    TriggeredBy,
    TriggerKind,
    Window,
)
from ubunye_core.recording import Recording, Run, close_run, record_run
from ubunye_core.stores import Claim, ClaimKey, Found, Held, ReceiptStore, Unreadable, open_store

if TYPE_CHECKING:
    from ubunye_core.questions.plan import Plan, plan_backfill
    from ubunye_core.questions.planned import Action, Catchup, Include, PlannedWindow, ToCatchUp
    from ubunye_core.questions.schedulefiles import read_calendar, read_schedule
    from ubunye_core.questions.stats import Stats, Stretch, TaskStats, Trend, task_stats
    from ubunye_core.questions.tally import Durations
    from ubunye_core.questions.window_state import WindowAnswer, WindowState
    from ubunye_core.questions.windows import Windows, missed_windows, window_states
    from ubunye_core.schedules import Calendar, Of, Period, Schedule, ScheduledWindow
    from ubunye_core.upkeep import (
        CopiedStore,
        NotCopied,
        PrunedStore,
        PrunedTask,
        RepairedStore,
        StoreCheck,
        check_store,
        copy_store,
        prune_store,
        repair_store,
    )

_LATER = {
    "ubunye_core.questions.plan": ("Plan", "plan_backfill"),
    "ubunye_core.questions.planned": ("Action", "Catchup", "Include", "PlannedWindow", "ToCatchUp"),
    "ubunye_core.questions.schedulefiles": ("read_calendar", "read_schedule"),
    "ubunye_core.questions.stats": ("Stats", "Stretch", "TaskStats", "Trend", "task_stats"),
    "ubunye_core.questions.tally": ("Durations",),
    "ubunye_core.questions.window_state": ("WindowAnswer", "WindowState"),
    "ubunye_core.questions.windows": ("Windows", "missed_windows", "window_states"),
    "ubunye_core.schedules": ("Calendar", "Of", "Period", "Schedule", "ScheduledWindow"),
    "ubunye_core.upkeep": (
        "CopiedStore",
        "NotCopied",
        "PrunedStore",
        "PrunedTask",
        "RepairedStore",
        "StoreCheck",
        "check_store",
        "copy_store",
        "prune_store",
        "repair_store",
    ),
}
"""What is imported when it is asked for: a gate and a recorder, all day long, need none of it."""

__all__ = [
    "Action",
    "AmbiguousRunError",
    "BadReceiptError",
    "Batch",
    "Calendar",
    "Catchup",
    "Claim",
    "ClaimKey",
    "ClaimLostError",
    "ConfigError",
    "CopiedStore",
    "Counts",
    "Durations",
    "Expectation",
    "Fingerprint",
    "Found",
    "Health",
    "Held",
    "Include",
    "InvalidNameError",
    "MissingExtraError",
    "NotCopied",
    "Of",
    "OnFailed",
    "Orchestrator",
    "Patience",
    "Period",
    "Pin",
    "Plan",
    "PlannedWindow",
    "PrunedStore",
    "PrunedTask",
    "Receipt",
    "ReceiptConflictError",
    "ReceiptNotFoundError",
    "ReceiptStore",
    "Recorder",
    "Recording",
    "RepairedStore",
    "Requirement",
    "RequirementAnswer",
    "RequirementLike",
    "Run",
    "RunAnswer",
    "RunRefusedError",
    "Schedule",
    "ScheduledWindow",
    "Stats",
    "Status",
    "Step",
    "StoreCheck",
    "StoreNotNamedError",
    "StoreUnavailableError",
    "Stretch",
    "TaskHealth",
    "TaskStats",
    "Timing",
    "ToCatchUp",
    "Trend",
    "TriggerKind",
    "TriggeredBy",
    "UbunyeError",
    "UnknownStoreError",
    "Unreadable",
    "UpstreamAnswer",
    "UpstreamNotMetError",
    "Verdict",
    "Window",
    "WindowAnswer",
    "WindowState",
    "Windows",
    "check_store",
    "check_upstream",
    "claim",
    "close_run",
    "copy_store",
    "fingerprint",
    "job_health",
    "masked_url",
    "may_run",
    "missed_windows",
    "open_store",
    "plan_backfill",
    "prune_store",
    "read_calendar",
    "read_requirements",
    "read_schedule",
    "record_run",
    "repair_store",
    "require",
    "requirements_of",
    "task_stats",
    "wait_for_upstream",
    "window_states",
]


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'ubunye_core' has no attribute {name!r}")
