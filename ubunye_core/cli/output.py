"""What commands print: one JSON document for programs, text and tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import click

from ubunye_core.masking import masked_text
from ubunye_core.questions import Verdict
from ubunye_core.stores import Unreadable
from ubunye_core.times import in_iso

_COLOURS = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.UNKNOWN: "yellow"}
_SHOWN_UNREADABLE = 10


def document(
    *,
    verdict: Verdict | None,
    exit_code: int,
    reason: str,
    now: datetime | None = None,
    store: str | None = None,
    unreadable: Iterable[Unreadable] = (),
    **more: object,
) -> None:
    """Print the one JSON document of a command, to standard output."""
    content = {
        "verdict": None if verdict is None else verdict.value,
        "exit_code": int(exit_code),
        "reason": reason,
        "now": None if now is None else in_iso(now),
        "store": store,
        "unreadable": [{"where": bad.where, "why": bad.why} for bad in unreadable],
        **more,
    }
    json_text(content)


def json_text(content: Mapping[str, object]) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(content, indent=2))


def say(text: str) -> None:
    """Print text for people. What receipts hold cannot move the cursor or colour the screen."""
    click.echo(clean(text))


def note(text: str) -> None:
    """Print text beside the answer, to standard error."""
    click.echo(clean(text), err=True)


def wrong(text: str) -> None:
    """Print an error, without secrets, to standard error."""
    click.echo(f"Error: {clean(masked_text(text))}", err=True)


def say_verdict(verdict: Verdict, text: str) -> None:
    """Print a verdict and what it is about."""
    click.echo(f"{click.style(verdict.value, fg=_COLOURS[verdict], bold=True)}  {clean(text)}")


def say_unreadable(unreadable: Sequence[Unreadable]) -> None:
    """Print what could not be read, to standard error."""
    for bad in unreadable[:_SHOWN_UNREADABLE]:
        note(f"Unreadable: {bad.where}: {bad.why}")
    if len(unreadable) > _SHOWN_UNREADABLE:
        note(f"... and {len(unreadable) - _SHOWN_UNREADABLE} more that are unreadable.")


def clean(text: str) -> str:
    """Text without control characters; line ends and tabs stay."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text
    )


def moment(value: datetime | None) -> str:
    """An instant in a table, to the second; a dash for none."""
    return "-" if value is None else in_iso(value.replace(microsecond=0))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, folds: Sequence[str]) -> None:
    """Print a table: lines on a terminal, columns of text elsewhere, nothing cut off in either.

    Args:
        columns: The heads.
        rows: One text for each column.
        folds: The columns that may break into several lines on a terminal.
    """
    cells = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
    if sys.stdout.isatty():
        _rich_table(columns, cells, folds)
        return
    lines = [list(columns), *cells]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        click.echo("  ".join(map(str.ljust, line, widths)).rstrip())


def _rich_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], folds: Sequence[str]
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        shown.add_column(column, overflow="fold", no_wrap=column not in folds)
    for row in rows:
        shown.add_row(*(Text(cell, style=_style(cell)) for cell in row))
    Console(highlight=False).print(shown)


def _style(cell: str) -> str:
    styles = {
        "PASS": "green",
        "success": "green",
        "FAIL": "red",
        "error": "red",
        "interrupted": "red",
        "UNKNOWN": "yellow",
        "running": "cyan",
        "skipped": "dim",
    }
    return styles.get(cell, "")
