"""The health of tasks for programs: the fields are those of ``ubunye-runs health --json``."""

from __future__ import annotations

from datetime import datetime

from ubunye_core.masking import masked_text
from ubunye_core.questions import Health, TaskHealth, Verdict
from ubunye_core.times import in_iso

_EXIT_CODES = {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.UNKNOWN: 3}


def health_document(
    answer: Health | None, following: str | None, store: str, now: datetime
) -> dict[str, object]:
    """The health of the tasks of one page, and the task after which the next one begins."""
    verdict = Verdict.UNKNOWN if answer is None else answer.verdict
    return {
        "verdict": verdict.value,
        "exit_code": _EXIT_CODES[verdict],
        "reason": "There is no task." if answer is None else masked_text(answer.reason),
        "now": in_iso(now),
        "store": masked_text(store),
        "unreadable": [
            {"where": masked_text(bad.where), "why": masked_text(bad.why)}
            for bad in (() if answer is None else answer.unreadable)
        ],
        "tasks": [_of_task(each) for each in (() if answer is None else answer.tasks)],
        "after": following,
    }


def _of_task(health: TaskHealth) -> dict[str, object]:
    success = health.last_success_at
    return {
        "task": health.task,
        "verdict": health.verdict.value,
        "reason": masked_text(health.reason),
        "last_status": None if health.last_status is None else health.last_status.value,
        "last_success_at": None if success is None else in_iso(success),
        "consecutive_failures": health.consecutive_failures,
        "stuck": list(health.stuck),
        "stale": health.stale,
    }
