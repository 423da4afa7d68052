"""What ``import-ledger`` and ``export-ledger`` share: how a ledger is read, and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from ubunye_core.cli.progress import shown
from ubunye_core.schedules.periods import Period

_OPTIONS = (
    click.option("--task", required=True, metavar="TASK", help="The task that its runs are of."),
    click.option(
        "--time-zone", required=True, metavar="ZONE", help="Whose clocks it shows: Asia/Jakarta."
    ),
    click.option(
        "--window",
        type=click.Choice([each.value for each in Period if each is not Period.TICK]),
        default="day",
        metavar="PERIOD",
        help="What a window is: hour, day (unless given), week or month.",
    ),
    click.option(
        "--variable", metavar="NAME", help="The batch variable that names a window, such as dt."
    ),
    click.option("--pipeline", metavar="NAME", help="The task's name in the ledger."),
)


def takes_ledger(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how a ledger is read and written."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def telling() -> Iterator[Callable[[str, int], None]]:
    """Within, what is being done is shown, and how far it has come."""
    with shown("This takes a while.") as tell:
        yield lambda doing, number: tell(lambda: f"{doing}: {number:,} so far.")
