"""Tables: drawn on a wide terminal, rows with their details below on a narrow one, else columns.

Nothing is cut off in any of them.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence

import click

from ubunye_core.cli.output import clean

_LEAST_FOLDED, _BETWEEN = 24, 3
_COLOURS = {
    "PASS": "green",
    "success": "green",
    "FAIL": "red",
    "error": "red",
    "interrupted": "red",
    "UNKNOWN": "yellow",
    "running": "cyan",
}

Rows = Sequence[Sequence[str]]


def table(columns: Sequence[str], rows: Rows, *, folds: Collection[str]) -> None:
    """Print a table.

    Args:
        columns: The heads.
        rows: One text for each column.
        folds: The columns of longer text, which may break into several lines on a terminal.
    """
    cells = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    if not sys.stdout.isatty():
        _plain(columns, cells, widths)
        return
    needed = sum(
        _BETWEEN + (min(width, _LEAST_FOLDED) if column in folds else width)
        for column, width in zip(columns, widths, strict=True)
    )
    screen = shutil.get_terminal_size().columns
    if needed <= screen:
        _drawn(columns, cells, folds)
    else:
        _with_details(columns, cells, widths, folds, screen)


def _plain(columns: Sequence[str], cells: Rows, widths: Sequence[int]) -> None:
    for line in (columns, *cells):
        click.echo("  ".join(map(str.ljust, line, widths)).rstrip())


def _drawn(columns: Sequence[str], cells: Rows, folds: Collection[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        drawn.add_column(column, overflow="fold", no_wrap=column not in folds)
    for row in cells:
        drawn.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
    Console(highlight=False).print(drawn)


def _with_details(
    columns: Sequence[str],
    cells: Rows,
    widths: Sequence[int],
    folds: Collection[str],
    screen: int,
) -> None:
    short = [index for index, column in enumerate(columns) if column not in folds]
    long = [index for index, column in enumerate(columns) if column in folds]
    click.echo("  ".join(click.style(columns[i].ljust(widths[i]), bold=True) for i in short))
    for row in cells:
        click.echo(
            "  ".join(click.style(row[i].ljust(widths[i]), _COLOURS.get(row[i])) for i in short)
        )
        for index in long:
            if row[index] not in ("", "-"):
                text = f"{columns[index]}: {row[index]}"
                click.echo(
                    textwrap.fill(
                        text,
                        max(screen, 40),
                        initial_indent="    ",
                        subsequent_indent="      ",
                        break_long_words=False,
                        break_on_hyphens=False,
                    )
                )
