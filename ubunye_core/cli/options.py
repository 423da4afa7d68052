"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import click

from ubunye_core.batch import texts_of
from ubunye_core.errors import ConfigError
from ubunye_core.receipt import Window
from ubunye_core.times import LONGEST, duration, in_words, instant, utc_now

SINCE_FORMS = "14d, 2026-10-15 or 2026-10-15T06:00:00Z"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_Read = Callable[[click.Context, click.Parameter, str | None], timedelta | None]


def length(
    *, least: timedelta = timedelta(0), most: timedelta = LONGEST, limits: str = ""
) -> _Read:
    """The callback of an option that is a length of time, such as ``2h``; errors name the option.

    Args:
        least: The shortest.
        most: The longest.
        limits: What to say of one that is shorter or longer.
    """

    def read(_: click.Context, param: click.Parameter, text: str | None) -> timedelta | None:
        if text is None:
            return None
        option = param.opts[0]
        found = duration(text, what=option)
        if not least <= found <= most:
            raise ConfigError(f"{option} is {in_words(found)}; {limits}.")
        return found

    return read


LENGTH = length()

as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document instead of text."
)
now = click.option(
    "--now",
    callback=lambda _, param, text: read_instant(text, param.opts[0]),
    metavar="INSTANT",
    help="Answer as of this instant, such as 2026-10-15T06:00:00Z.",
)
stuck_after = click.option(
    "--stuck-after",
    callback=LENGTH,
    metavar="TIME",
    help="How long a running run may be silent, such as 2h.",
)
max_age = click.option(
    "--max-age",
    callback=LENGTH,
    metavar="TIME",
    help="How old the newest success may be, such as 40d.",
)
since = click.option(
    "--since",
    metavar="TIME|INSTANT|DATE",
    help="Only runs that started then or later, or so long ago, such as 14d; a date means 00:00 "
    "UTC.",
)
task_or_pattern = click.option(
    "--task", metavar="TASK|PATTERN", help="Only this task, or those that fit, such as 'pay/*/*'."
)
variables = click.option(
    "--var",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="A variable of the batch, such as month=2026-10; repeatable.",
)
config = click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the requirements from this config.yaml or receipts.yaml.",
)
wait = click.option(
    "--wait",
    callback=LENGTH,
    metavar="TIME",
    help="How long to keep looking, such as 2h, from the start of this process.",
)
deadline = click.option(
    "--deadline", metavar="INSTANT", help="Until when to keep looking, whenever it began."
)
poll = click.option(
    "--poll",
    callback=length(least=timedelta(milliseconds=1), limits="two looks need a pause"),
    metavar="TIME",
    help="The pause between two looks; 60s where nothing else is said.",
)

window = click.option(
    "--window",
    metavar="START/END",
    help="The window of the run that asks, for requirements with 'windows: all'.",
)
run_window = click.option(
    "--window",
    metavar="START/END",
    help="The period of data that this run is for, such as 2026-10-14/2026-10-15.",
)


def read_window(text: str | None) -> Window | None:
    """The window that ``--window START/END`` gave; of plain dates, their first instants in UTC.

    Raises:
        ConfigError: it is none.
    """
    if text is None:
        return None
    first, slash, last = text.partition("/")
    start, end = (read_instant_or_date(each, "--window") for each in (first, last or first))
    if start is None or end is None or not slash or end <= start:
        raise ConfigError(
            f"--window {text!r} is no window.", hint="Write --window 2026-10-14/2026-10-15."
        )
    return Window(start=start, end=end)


def read_variables(given: Sequence[str]) -> dict[str, str]:
    """The variables that ``--var name=value`` gave.

    Raises:
        ConfigError: one is not a name and a value, or stands twice with two values.
    """
    found: dict[str, str] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ConfigError(
                f"--var {name!r} has no value." if name else "--var has no name.",
                hint="Write --var month=2026-10.",
            )
        if not value:
            raise ConfigError(
                f"--var {name}= is empty.", hint="Is the shell variable that it came from set?"
            )
        if found.setdefault(name, value) != value:
            raise ConfigError(f"--var {name} is given twice, with two values.")
    return texts_of(found)


def read_instant(text: str | None, option: str) -> datetime | None:
    """The instant that an option gave.

    Raises:
        ConfigError: it is none.
    """
    return None if text is None else instant(text, what=option)


def read_instant_or_date(
    text: str | None, option: str, *, forms: str = "2026-10-15 or 2026-10-15T06:00:00Z"
) -> datetime | None:
    """The instant that an option gave; of a plain date, its first, in UTC.

    Raises:
        ConfigError: it is neither; the error says which ``forms`` there are.
    """
    if text is None:
        return None
    is_date = _DATE.fullmatch(text)
    return instant(f"{text}T00:00:00Z" if is_date else text, what=option, forms=forms)


def read_since(text: str | None, *, now: datetime | None = None) -> datetime | None:
    """The instant that ``--since`` gave: itself, of a date its first, or so long before now.

    Args:
        text: What was given.
        now: The instant that was asked for; None is the clock.

    Raises:
        ConfigError: it is none of these.
    """
    if text is None:
        return None
    try:
        ago = duration(text, what="--since")
    except ConfigError:
        return read_instant_or_date(text, "--since", forms=SINCE_FORMS)
    return (now or utc_now()) - ago


def check_waiting(
    *, now: datetime | None = None, wait: timedelta | None = None, deadline: str | None = None
) -> None:
    """Refuse options that contradict each other, and a deadline that is no instant.

    Raises:
        ConfigError: they do, or it is none.
    """
    read_instant(deadline, "--deadline")
    if wait is not None and deadline is not None:
        raise ConfigError("--wait and --deadline are two ends of one wait.", hint="Give one.")
    if now is not None and (wait is not None or deadline is not None):
        raise ConfigError(
            "--now asks about one instant, so there is nothing to wait for.",
            hint="Leave out --now, or --wait and --deadline.",
        )
