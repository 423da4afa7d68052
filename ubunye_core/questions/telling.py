"""What a receipt says, in the words that the command line and the pages share.

Each is empty where the receipt does not say it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta

from ubunye_core.receipt import Counts, Expectation, Orchestrator, Receipt, TriggeredBy
from ubunye_core.times import LONGEST, in_iso, in_words


def took(receipt: Receipt) -> str:
    """How long a run took; empty while it runs."""
    seconds = receipt.duration_sec
    if seconds is None and receipt.ended_at is not None:
        seconds = (receipt.ended_at - receipt.started_at).total_seconds()
    if seconds is None:
        return ""
    possible = 10 <= seconds <= LONGEST.total_seconds()
    return in_words(timedelta(seconds=seconds)) if possible else f"{seconds:.2g}s"


def started_by(by: TriggeredBy | None) -> str:
    """Who or what started a run, in short."""
    if by is None:
        return ""
    return f"{by.kind.value} by {by.actor}" if by.actor else by.kind.value


def why_of(receipt: Receipt) -> str:
    """The reason that was given for a run."""
    return (receipt.triggered_by.reason if receipt.triggered_by else None) or ""


def period(receipt: Receipt) -> str:
    """The window of a run."""
    window = receipt.window
    if window is None:
        return ""
    zone = f" ({window.time_zone})" if window.time_zone else ""
    return f"{in_iso(window.start)} to {in_iso(window.end)}{zone}"


def scheduler(attempt: Orchestrator | None) -> str:
    """The scheduler, which attempt of a run this is, and what the scheduler calls it."""
    if attempt is None:
        return ""
    text = attempt.name
    if attempt.attempt is not None:
        of = f" of {attempt.max_attempts}" if attempt.max_attempts is not None else ""
        text += f", attempt {attempt.attempt}{of}"
    ids = ", ".join(f"{name}={value}" for name, value in attempt.ids.items())
    return f"{text}: {ids}" if ids else text


def came_through(counts: Counts | None, *, form: str = "") -> str:
    """How many rows came through.

    Args:
        counts: The numbers.
        form: How each is written, as ``format`` takes it: ``,`` for ``12,000``.
    """
    if counts is None:
        return ""
    said: Mapping[str, int | None] = {
        each.name: getattr(counts, each.name) for each in fields(counts) if each.name != "extra"
    }
    return ", ".join(f"{rows:{form}} {name}" for name, rows in said.items() if rows is not None)


def ran_on(receipt: Receipt) -> str:
    """The machine and the process of a run."""
    pid = f", process {receipt.pid}" if receipt.pid is not None else ""
    return f"{receipt.host}{pid}" if receipt.host else ""


def recorded_by(receipt: Receipt) -> str:
    """What wrote a receipt."""
    recorder = receipt.recorder
    return "" if recorder is None else f"{recorder.name} {recorder.version}"


def more_of(rule: Expectation) -> str:
    """What else is known of a rule that was checked; a dash for nothing."""
    said = {
        "output": rule.output or None,
        "failed": rule.failed,
        "total": rule.total,
        **rule.extra,
    }
    return ", ".join(f"{name}={value}" for name, value in said.items() if value is not None) or "-"
