"""Receipts for tests, with fixed times: say only what a test is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ubunye_core.receipt import Receipt, Status, Step

A_TASK = "pay/monthly/calc"
SIX_O_CLOCK = datetime(2026, 10, 15, 6, tzinfo=UTC)


def at(minutes: float) -> datetime:
    """An instant so many minutes after six o'clock on the day of these receipts."""
    return SIX_O_CLOCK + timedelta(minutes=minutes)


def a_step(**changes: Any) -> Step:
    """An input of a run, with its hashes."""
    step = Step(
        name="people",
        direction="input",
        format="csv",
        location="/srv/data/people.csv",
        row_count=8,
        schema_hash="sha256:" + "1" * 64,
        data_hash="sha256:" + "2" * 64,
        hash_method="rows-v1",
    )
    return replace(step, **changes)


def a_receipt(**changes: Any) -> Receipt:
    """A run of ``pay/monthly/calc`` for 2026-10: a success that took ten minutes from six o'clock.

    A run that is ``running`` has no end unless one is given.
    """
    started_at = changes.get("started_at", SIX_O_CLOCK)
    ended_at = (
        None if changes.get("status") is Status.RUNNING else started_at + timedelta(minutes=10)
    )
    given: dict[str, Any] = {
        "task": A_TASK,
        "run_id": "run-1",
        "status": Status.SUCCESS,
        "started_at": started_at,
        "ended_at": ended_at,
        "variables": {"month": "2026-10"},
    }
    return Receipt(**(given | changes))
