"""A receipt for people: one line in a list, or everything it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import timedelta

import click

from ubunye_core.batch import shown
from ubunye_core.cli.output import clean, moment, say
from ubunye_core.cli.tables import table
from ubunye_core.receipt import Counts, Expectation, Orchestrator, Receipt, Step, TriggeredBy
from ubunye_core.times import LONGEST, in_iso, in_words

COLUMNS = ("run", "task", "status", "batch", "started", "took", "by")
_STEP_COLUMNS = ("name", "rows", "data hash", "schema hash", "format", "location")


def line_of(receipt: Receipt) -> tuple[str, ...]:
    """A receipt as one line of a list, by the columns above."""
    return (
        receipt.run_id,
        receipt.task,
        _status(receipt),
        str(receipt.batch) if receipt.batch else "-",
        moment(receipt.started_at),
        _took(receipt) or "-",
        _who(receipt.triggered_by) or "-",
    )


def show_receipt(receipt: Receipt) -> None:
    """Print everything that a receipt says."""
    facts = [(name, text) for name, text in _facts(receipt) if text]
    width = max(len(name) for name, _ in facts)
    for name, text in facts:
        lines = clean(text).replace("\n", "\n" + " " * (width + 2))  # none looks like a fact
        click.echo(f"{click.style(name.ljust(width), dim=True)}  {lines}")
    _show_steps("Inputs", receipt.inputs)
    _show_steps("Outputs", receipt.outputs)
    _show_table("Upstreams", ("task", "run", "output", "data hash"), _pins(receipt))
    _show_table(
        "Overrides",
        ("argument", "usual", "given"),
        [(each.name, each.usual or "-", each.given or "-") for each in receipt.overrides],
    )
    _show_table(
        "Expectations",
        ("rule", "held", "more"),
        [(each.rule, _held(each), _more(each)) for each in receipt.expectations],
    )
    _show_table(
        "Timings",
        ("step", "took"),
        [(each.step, f"{each.seconds:g}s") for each in receipt.timings],
    )


def _status(receipt: Receipt) -> str:
    """How it ended, with the finer word where there is one: ``skipped (refused)``."""
    return receipt.status.value + (f" ({receipt.outcome})" if receipt.outcome else "")


def _facts(receipt: Receipt) -> Iterator[tuple[str, str]]:
    yield "task", receipt.task
    yield "run", receipt.run_id
    yield "status", _status(receipt)
    yield "error" if receipt.status.value != "skipped" else "reason", receipt.error or ""
    yield "ended by", receipt.ended_by or ""
    yield "batch", str(receipt.batch) if receipt.batch else ""
    rest = {n: str(v) for n, v in receipt.variables.items() if n not in receipt.batch.names}
    yield "not in batch", shown(rest) if rest else ""
    if receipt.window is not None:
        zone = f" ({receipt.window.time_zone})" if receipt.window.time_zone else ""
        yield "window", f"{in_iso(receipt.window.start)} to {in_iso(receipt.window.end)}{zone}"
    yield "started", in_iso(receipt.started_at)
    yield "ended", "" if receipt.ended_at is None else in_iso(receipt.ended_at)
    yield "took", _took(receipt)
    if not receipt.status.is_final and receipt.heartbeat_at is not None:
        yield "last heartbeat", in_iso(receipt.heartbeat_at)
    yield "triggered by", _who(receipt.triggered_by)
    yield "why", why_of(receipt)
    yield "orchestrator", _scheduler(receipt.orchestrator)
    yield "link", (receipt.orchestrator.url if receipt.orchestrator else None) or ""
    yield "rows", _counts(receipt.counts)
    pid = f", process {receipt.pid}" if receipt.pid is not None else ""
    yield "ran on", f"{receipt.host}{pid}" if receipt.host else ""
    yield "code", receipt.code_hash or ""
    yield "config", receipt.config_hash or ""
    yield "environment", receipt.environment_hash or ""
    recorder = receipt.recorder
    yield "recorded by", "" if recorder is None else f"{recorder.name} {recorder.version}"


def _took(receipt: Receipt) -> str:
    seconds = receipt.duration_sec
    if seconds is None and receipt.ended_at is not None:
        seconds = (receipt.ended_at - receipt.started_at).total_seconds()
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.2g}s"
    possible = seconds <= LONGEST.total_seconds()
    return in_words(timedelta(seconds=seconds)) if possible else f"{seconds:.2g}s"


def _who(by: TriggeredBy | None) -> str:
    if by is None:
        return ""
    actor = f" by {by.actor}" if by.actor else ""
    vouched = f" ({by.asserted_by})" if by.asserted_by else ""
    return f"{by.kind.value}{actor}{vouched}"


def why_of(receipt: Receipt) -> str:
    """The reason that was given for a run; nothing where none was."""
    return (receipt.triggered_by.reason if receipt.triggered_by else None) or ""


def _scheduler(scheduler: Orchestrator | None) -> str:
    if scheduler is None:
        return ""
    text = scheduler.name
    if scheduler.attempt is not None:
        of = f" of {scheduler.max_attempts}" if scheduler.max_attempts is not None else ""
        text += f", attempt {scheduler.attempt}{of}"
    ids = ", ".join(f"{name}={value}" for name, value in scheduler.ids.items())
    return f"{text}: {ids}" if ids else text


def _counts(counts: Counts | None) -> str:
    if counts is None:
        return ""
    said: Mapping[str, int | None] = {
        each.name: getattr(counts, each.name) for each in fields(counts) if each.name != "extra"
    }
    return ", ".join(f"{number} {name}" for name, number in said.items() if number is not None)


def _pins(receipt: Receipt) -> list[tuple[str, ...]]:
    return [
        (pin.task, pin.run_id, output, data_hash or "-")
        for pin in receipt.upstreams
        for output, data_hash in (pin.data_hashes or {"-": None}).items()
    ]


def _held(expectation: Expectation) -> str:
    return {True: "yes", False: "no", None: "not checked"}[expectation.passed]


def _more(expectation: Expectation) -> str:
    said = {
        "output": expectation.output or None,
        "failed": expectation.failed,
        "total": expectation.total,
        **expectation.extra,
    }
    return ", ".join(f"{name}={value}" for name, value in said.items() if value is not None) or "-"


def _show_steps(title: str, steps: Sequence[Step]) -> None:
    rows = [
        (
            step.name,
            "-" if step.row_count is None else str(step.row_count),
            step.data_hash or (f"none: {step.hash_error}" if step.hash_error else "-"),
            step.schema_hash or "-",
            step.format or "-",
            step.location or "-",
        )
        for step in steps
    ]
    _show_table(title, _STEP_COLUMNS, rows)


def _show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        say(f"\n{title}")
        table(columns, rows, folds=columns)
