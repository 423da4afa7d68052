"""A receipt for people: one line in a list, or everything it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from ubunye_core.batch import shown
from ubunye_core.cli.output import clean, moment, say
from ubunye_core.cli.tables import table
from ubunye_core.questions.telling import (
    came_through,
    more_of,
    period,
    ran_on,
    recorded_by,
    scheduler,
    started_by,
    took,
    why_of,
)
from ubunye_core.receipt import Expectation, Receipt, Step, TriggeredBy
from ubunye_core.times import in_iso

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
        took(receipt) or "-",
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
        [(each.rule, _held(each), more_of(each)) for each in receipt.expectations],
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
    yield "window", period(receipt)
    yield "started", in_iso(receipt.started_at)
    yield "ended", "" if receipt.ended_at is None else in_iso(receipt.ended_at)
    yield "took", took(receipt)
    if not receipt.status.is_final and receipt.heartbeat_at is not None:
        yield "last heartbeat", in_iso(receipt.heartbeat_at)
    yield "triggered by", _who(receipt.triggered_by)
    yield "why", why_of(receipt)
    yield "orchestrator", scheduler(receipt.orchestrator)
    yield "link", (receipt.orchestrator.url if receipt.orchestrator else None) or ""
    yield "rows", came_through(receipt.counts)
    yield "ran on", ran_on(receipt)
    yield "code", receipt.code_hash or ""
    yield "config", receipt.config_hash or ""
    yield "environment", receipt.environment_hash or ""
    yield "recorded by", recorded_by(receipt)


def _who(by: TriggeredBy | None) -> str:
    vouched = f" ({by.asserted_by})" if by is not None and by.asserted_by else ""
    return f"{started_by(by)}{vouched}"


def _pins(receipt: Receipt) -> list[tuple[str, ...]]:
    return [
        (pin.task, pin.run_id, output, data_hash or "-")
        for pin in receipt.upstreams
        for output, data_hash in (pin.data_hashes or {"-": None}).items()
    ]


def _held(expectation: Expectation) -> str:
    return {True: "yes", False: "no", None: "not checked"}[expectation.passed]


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
