"""Tables: drawn on a wide terminal, rows with their details below on a narrow one, else columns.

Nothing is cut off in any of them.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence

import click

from ubunye_core.cli.output import clean, is_terminal

_BETWEEN = 3
_LEAST_FOLDED, _LONGEST_WORD = 24, 40  # a run id has 36 characters, and is not broken
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


def table(
    columns: Sequence[str], rows: Rows, *, folds: Collection[str], plain_width: int | None = None
) -> None:
    """Print a table.

    Args:
        columns: The heads.
        rows: One text for each column.
        folds: The columns of longer text, which may break into several lines on a terminal. Where
            the others are too wide as well, the last of them are told below the row too.
        plain_width: Where nobody looks, a wider table has these below its rows too; None: never.
    """
    cells = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    if not is_terminal(sys.stdout):
        if plain_width is None or sum(widths) + 2 * (len(widths) - 1) <= plain_width:
            _plain(columns, cells, widths)
        else:
            _with_details(columns, cells, widths, folds, plain_width)
        return
    least = {
        column: _least(texts) if column in folds else width
        for column, width, *texts in zip(columns, widths, *cells, strict=True)
    }
    screen = shutil.get_terminal_size().columns
    if sum(width + _BETWEEN for width in least.values()) <= screen:
        _drawn(columns, cells, folds, least)
    else:
        _with_details(columns, cells, widths, folds, screen)


def _least(texts: Sequence[str]) -> int:
    """How narrow a column of longer text may become."""
    longest = max(map(len, texts), default=0)
    word = max((len(word) for text in texts for word in text.split()), default=0)
    return min(longest, max(_LEAST_FOLDED, min(word, _LONGEST_WORD)))


def _plain(columns: Sequence[str], cells: Rows, widths: Sequence[int]) -> None:
    for line in (columns, *cells):
        click.echo("  ".join(map(str.ljust, line, widths)).rstrip())


def _drawn(
    columns: Sequence[str], cells: Rows, folds: Collection[str], least: Mapping[str, int]
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        drawn.add_column(
            column, overflow="fold", no_wrap=column not in folds, min_width=least[column]
        )
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
    while len(short) > 1 and sum(widths[index] + 2 for index in short) - 2 > screen:
        short.pop()  # a row that breaks is harder to read than one more detail below it
    long = [index for index in range(len(columns)) if index not in short]
    widths = [0 if index in short[-1:] else width for index, width in enumerate(widths)]
    click.echo("  ".join(click.style(columns[i].ljust(widths[i]), bold=True) for i in short))
    wrapped = textwrap.TextWrapper(
        max(screen, 40),
        initial_indent="    ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for row in cells:
        texts = [click.style(row[i].ljust(widths[i]), _COLOURS.get(row[i])) for i in short]
        click.echo("  ".join(texts))
        for index in long:
            if row[index] not in ("", "-"):
                click.echo(wrapped.fill(f"{columns[index]}: {row[index]}"))
