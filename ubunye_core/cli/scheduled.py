"""The schedules that a command asks about: from its options, or from the YAML of tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click

from ubunye_core.cli import options
from ubunye_core.errors import ConfigError
from ubunye_core.names import is_pattern
from ubunye_core.questions.planned import ToCatchUp
from ubunye_core.questions.schedulefiles import read_schedule
from ubunye_core.questions.taskfolders import is_of_one_task, read_task, read_tasks
from ubunye_core.schedules import Schedule
from ubunye_core.schedules.firings import SHORTEST_INTERVAL
from ubunye_core.schedules.periods import Period
from ubunye_core.schedules.schedule import Of
from ubunye_core.times import duration, in_words, to_the_second, utc_now

config_of_tasks = click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FOLDER|FILE",
    help="Take schedules from the files in usecase/package/task_name below this folder; or, of "
    "one task, from its receipts.yaml.",
)
_config = click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the schedule from this receipts.yaml, or the one in this folder.",
)
_OPTIONS = (
    click.option("--cron", metavar="EXPRESSION", help="When it fires, such as '0 2 * * *'."),
    click.option(
        "--every",
        callback=options.length(least=SHORTEST_INTERVAL, limits="a minute is the shortest"),
        metavar="TIME",
        help="Or: how often it fires, such as 6h.",
    ),
    click.option("--time-zone", metavar="ZONE", help="Whose days and clocks; UTC unless given."),
    click.option(
        "--window",
        type=click.Choice([each.value for each in Period]),
        metavar="PERIOD",
        help="What a firing covers: tick (from firing to firing, unless given), hour, day, week "
        "or month.",
    ),
    click.option(
        "--of",
        type=click.Choice([each.value for each in Of]),
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
    return _config(says_schedule(command))


def says_schedule(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say a schedule themselves."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_given_schedule(
    config: Path | None, format_: str | None, **given: str | timedelta | None
) -> tuple[Schedule, ...]:
    """The schedule that was given: its versions, or the only one.

    Raises:
        ConfigError: none was given, or two, or it is wrong.
    """
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if format_ is not None:
        values["format"] = format_
    if config is None:
        return (_said(values),)
    check_alone(config, values)
    found = read_schedule(config)
    if not found:
        raise ConfigError(
            f"{config} has no schedule.", hint="Write 'schedule' into its receipts.yaml."
        )
    return found


def _said(values: dict[str, Any]) -> Schedule:
    """The schedule that options say.

    Raises:
        ConfigError: they say none, or two, or it is wrong.
    """
    if not {"cron", "every"} & set(values):
        raise ConfigError(
            "No schedule is given.",
            hint="Name the task's receipts.yaml with --config, or give --cron or --every.",
        )
    if {"cron", "every"} <= set(values):
        raise ConfigError("A schedule has either --cron or --every.", hint="Give one.")
    check_format_option(values.get("format"), values.get("variable"))
    return Schedule(**values)


def check_format_option(format_: str | None, variable: str | None) -> None:
    """Refuse a ``--format`` of nothing.

    Raises:
        ConfigError: it is given, and no ``--variable``.
    """
    if format_ is not None and variable is None:
        raise ConfigError(
            "--format says how the value of --variable is written.", hint="Give --variable, too."
        )


def check_alone(config: Path, given: Mapping[str, object]) -> None:
    """Refuse options that say a schedule beside the files that hold it.

    Raises:
        ConfigError: there are such options.
    """
    said = [name.strip("_").replace("_", "-") for name in given if given[name] is not None]
    if said:
        names = ", ".join(f"--{name}" for name in said)
        raise ConfigError(
            f"--config takes the schedule from {config}, so {names} cannot be given too.",
            hint="Write it into the file, or leave out --config.",
        )


def read_expected(
    config: Path, tasks: Sequence[str], retention: timedelta | None
) -> tuple[ToCatchUp, ...]:
    """What the files of a folder expect of its tasks; or those of the one task that is named.

    Raises:
        ConfigError: they are of one task, and it is not named; or something of them is wrong.
    """
    if not is_of_one_task(config):
        return read_tasks(config, retention=retention)
    if not is_one_task(tasks):
        raise ConfigError(
            f"{config} is of one task, and does not say which.",
            hint="Name that task, or the folder above usecase/package/task_name.",
        )
    return (read_task(config, tasks[0], retention=retention),)


def is_one_task(tasks: Sequence[str]) -> bool:
    """Whether one task is named, and no pattern."""
    return len(tasks) == 1 and not is_pattern(tasks[0])


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


def read_period(
    since: str | None, until: str | None, now: datetime | None, *, unless_given: timedelta
) -> tuple[datetime | timedelta, datetime | None]:
    """What ``--since`` and ``--until`` gave; the end of it is None where it is now.

    Raises:
        ConfigError: one of them is wrong, or the period ends before it begins.
    """
    begin = read_since(since, unless_given=unless_given)
    end = options.read_instant_or_date(until, "--until")
    at = now or utc_now()
    first, last = at - begin if isinstance(begin, timedelta) else begin, end or at
    if first <= last:
        return begin, end
    if end is None:
        raise ConfigError(
            f"--since ({to_the_second(first)}) is after now ({to_the_second(last)}).",
            hint="Name an instant in the past.",
        )
    if since is None:
        raise ConfigError(
            f"--until ({to_the_second(last)}) is before the last {in_words(unless_given)}, which "
            f"are looked at unless --since is given.",
            hint="Give --since, too.",
        )
    raise ConfigError(
        f"--since ({to_the_second(first)}) is after --until ({to_the_second(last)}).",
        hint="Give an earlier --since.",
    )
