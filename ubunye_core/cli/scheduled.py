"""The schedule that a command asks about: from its options, or from a task's YAML."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click

from ubunye_core.cli import options
from ubunye_core.errors import ConfigError
from ubunye_core.questions.schedulefiles import read_schedule
from ubunye_core.schedules import Schedule
from ubunye_core.times import duration

_OPTIONS = (
    click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Take the schedule from this receipts.yaml, or the one in this folder.",
    ),
    click.option("--cron", metavar="EXPRESSION", help="When it fires, such as '0 2 * * *'."),
    click.option("--every", metavar="TIME", help="Or: how often it fires, such as 6h."),
    click.option("--time-zone", metavar="ZONE", help="Whose days and clocks; UTC unless given."),
    click.option(
        "--window",
        metavar="PERIOD",
        help="What a firing covers: tick (from firing to firing, unless given), hour, day, week "
        "or month.",
    ),
    click.option(
        "--of",
        metavar="WHICH",
        help="Which one: previous (unless given), or current, in which the firing lies.",
    ),
    click.option(
        "--variable", metavar="NAME", help="The variable that names a window, such as dt."
    ),
    click.option(
        "--format", "format_", metavar="FORMAT", help="How its value is written: %Y-%m-%d."
    ),
)


def takes_schedule(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a schedule; ``read_given_schedule`` reads them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_given_schedule(
    config: Path | None, format_: str | None, **given: str | None
) -> tuple[Schedule, ...]:
    """The schedule that was given: its versions, or the only one.

    Raises:
        ConfigError: none was given, or two, or it is wrong.
    """
    values: dict[str, Any] = {name: text for name, text in given.items() if text is not None}
    if format_ is not None:
        values["format"] = format_
    if config is None:
        if not {"cron", "every"} & set(values):
            raise ConfigError(
                "No schedule is given.",
                hint="Name the task's receipts.yaml with --config, or give --cron or --every.",
            )
        return (Schedule(**values),)
    if values:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in values)
        raise ConfigError(
            f"--config takes the schedule from {config}, so {names} cannot be given too.",
            hint="Write it into the file, or leave out --config.",
        )
    found = read_schedule(config)
    if not found:
        raise ConfigError(
            f"{config} has no schedule.", hint="Write 'schedule' into its receipts.yaml."
        )
    return found


def read_since(text: str | None, *, unless_given: timedelta) -> datetime | timedelta:
    """What ``--since`` gave: an instant, a date, or how long ago.

    Raises:
        ConfigError: it is none of these.
    """
    if text is None:
        return unless_given
    try:
        return duration(text, what="--since")
    except ConfigError:
        forms = options.SINCE_FORMS
        return options.read_instant_or_date(text, "--since", forms=forms) or unless_given
