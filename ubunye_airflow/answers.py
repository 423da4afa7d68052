"""Answers as JSON: for XComs, for events of triggers, and back for the recorder of a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ubunye_airflow.every_window import schedule_fields
from ubunye_core import (
    Health,
    Pin,
    Requirement,
    RequirementAnswer,
    TaskHealth,
    Unreadable,
    UpstreamAnswer,
    Verdict,
)

if TYPE_CHECKING:  # a gate has none, and importing plans takes as long as all else here
    from ubunye_core import Plan


def upstream_fields(answer: UpstreamAnswer, store: str | None) -> dict[str, Any]:
    """An upstream answer, in the shape of ``ubunye-runs wait-for --json``, and its pins."""
    return {
        "verdict": answer.verdict.value,
        "reason": answer.reason,
        "now": iso(answer.now),
        "store": store,
        "unreadable": _unreadable(answer.unreadable),
        "requirements": [
            {
                "task": each.task,
                "batch": dict(each.batch),
                "verdict": each.verdict.value,
                "reason": each.reason,
                "satisfied_by": each.satisfied_by,
                "newest_run": each.newest_run,
            }
            for each in answer.requirements
        ],
        "pins": [
            {"task": pin.task, "run_id": pin.run_id, "data_hashes": dict(pin.data_hashes)}
            for pin in answer.pins
        ],
    }


def health_fields(health: Health, store: str | None) -> dict[str, Any]:
    """A health answer, in the shape of ``ubunye-runs health --json``."""
    return {
        "verdict": health.verdict.value,
        "reason": health.reason,
        "now": iso(health.now),
        "store": store,
        "unreadable": _unreadable(health.unreadable),
        "tasks": [_task_fields(task) for task in health.tasks],
    }


def plan_fields(plan: Plan, store: str | None) -> dict[str, Any]:
    """A plan, in the shape of ``ubunye-runs plan --json``."""
    return {
        "verdict": plan.verdict.value,
        "reason": plan.reason,
        "now": iso(plan.now),
        "store": store,
        "unreadable": _unreadable(plan.unreadable),
        "windows": [
            {
                "task": each.task,
                "name": each.window.name,
                "start": iso(each.window.start),
                "end": iso(each.window.end),
                "due": iso(each.window.due),
                "action": each.action.value,
                "reason": each.reason,
                "state": each.state.value,
                "runs": list(each.runs),
                "variables": dict(each.variables),
                "after": list(each.after),
                "because_of": each.because_of,
                "owner": each.owner,
                "starts_now": each in plan.starts,
            }
            for each in plan.windows
        ],
    }


def pinned(fields: Mapping[str, Any]) -> UpstreamAnswer:
    """What an answer in an XCom has pinned, as an answer that a run can keep.

    Raises:
        ValueError, TypeError or KeyError: it is not such an answer.
    """
    pins = [
        Pin(
            task=str(each["task"]),
            run_id=str(each["run_id"]),
            data_hashes={
                str(name): None if found is None else str(found)
                for name, found in each["data_hashes"].items()
            },
        )
        for each in fields["pins"]
    ]
    reason = str(fields["reason"])
    return UpstreamAnswer(
        verdict=Verdict(fields["verdict"]),
        reason=reason,
        requirements=tuple(
            RequirementAnswer(
                task=pin.task,
                requirement=Requirement(pin.task, ()),
                verdict=Verdict.PASS,
                reason=reason,
                met=True,
                decided=True,
                satisfied_by=pin.run_id,
                pin=pin,
            )
            for pin in pins
        ),
        now=datetime.fromisoformat(str(fields["now"])),
    )


def requirement_fields(requirement: Requirement) -> dict[str, Any]:
    """A requirement as JSON, in the words of YAML; ``requirement_read`` reads it back."""
    variables = requirement.variables
    lengths = {"wait": requirement.wait, "poll": requirement.poll, "max_age": requirement.max_age}
    return {
        "task": requirement.task,
        "variables": dict(variables)
        if isinstance(variables, Mapping)
        else None
        if variables is None
        else list(variables),
        **{name: None if length is None else _seconds(length) for name, length in lengths.items()},
        "on_failed": str(requirement.on_failed),
        "optional": requirement.optional,
        "allow_unknown": requirement.allow_unknown,
        "windows": requirement.windows,
        "schedule": [schedule_fields(each) for each in requirement.versions] or None,
    }


def _task_fields(task: TaskHealth) -> dict[str, Any]:
    return {
        "task": task.task,
        "verdict": task.verdict.value,
        "reason": task.reason,
        "last_status": None if task.last_status is None else task.last_status.value,
        "last_success_at": None if task.last_success_at is None else iso(task.last_success_at),
        "consecutive_failures": task.consecutive_failures,
        "stuck": list(task.stuck),
        "stale": task.stale,
    }


def _unreadable(unreadable: Iterable[Unreadable]) -> list[dict[str, str]]:
    return [{"where": bad.where, "why": bad.why} for bad in unreadable]


def _seconds(length: timedelta | str) -> str:
    return f"{length.total_seconds():f}s" if isinstance(length, timedelta) else length


def iso(moment: datetime) -> str:
    """An instant in UTC, as receipts write it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
