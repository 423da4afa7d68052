"""``ubunye-runs morning``: what needs somebody, of a set of tasks, on one screen?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import click

from ubunye_core.cli import options
from ubunye_core.cli.documents import document_of
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.health import health_as_json
from ubunye_core.cli.morningview import show_morning
from ubunye_core.cli.place import Place, takes_store
from ubunye_core.cli.scheduled import config_of_tasks, read_expected, read_period
from ubunye_core.cli.stats import stats_as_json
from ubunye_core.cli.windows import window_as_json
from ubunye_core.codec import as_json as receipt_json
from ubunye_core.errors import ConfigError
from ubunye_core.questions.morning import WEEK, Morning, MorningTask
from ubunye_core.questions.morning import morning as morning_of
from ubunye_core.questions.planned import ToCatchUp
from ubunye_core.questions.stats import MOST_DAYS
from ubunye_core.questions.window_state import WindowAnswer
from ubunye_core.times import in_iso


@click.command()
@click.argument("tasks", nargs=-1, metavar="[TASK|PATTERN...]")
@config_of_tasks
@click.option(
    "--since",
    metavar="TIME|INSTANT|DATE",
    help="Windows that were due then or later, and runs by hand since then; or so long ago; 7d "
    "unless given.",
)
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=30,
    metavar="N",
    help="Numbers of the last N times 24 hours; 30 unless given.",
)
@click.option(
    "--retention",
    callback=options.LENGTH,
    metavar="TIME",
    help="How long the sources keep their data.",
)
@options.max_age
@options.stuck_after
@takes_store
@options.now
@options.as_json
def morning(
    tasks: tuple[str, ...],
    config: Path | None,
    since: str | None,
    days: int,
    retention: timedelta | None,
    max_age: timedelta | None,
    stuck_after: timedelta | None,
    place: Place,
    now: datetime | None,
    as_json: bool,
) -> ExitCode:
    r"""Say what needs somebody: health, missed windows, what can be caught up, runs by hand.

    Without TASK, of all tasks of the folder that --config names, or else of the store. The exit
    code is 0 when nothing needs anybody, 1 when something does.

    \b
    Examples:
      ubunye-runs morning --config tasks --since 3d
      ubunye-runs morning 'pay/*/*' --config tasks --retention 30d --json
      ubunye-runs morning pay/monthly/calc --config tasks/pay/monthly/calc/receipts.yaml
    """
    begin, _ = read_period(since, None, now, unless_given=WEEK)
    answer = morning_of(
        tasks,
        schedules=_schedules(config, tasks, retention),
        store=place.store,
        now=now,
        since=begin,
        days=days,
        stuck_after=stuck_after,
        max_age=max_age,
    )
    code = code_of(answer.verdict)
    if as_json:
        document_of(
            answer,
            place,
            since=in_iso(answer.since),
            stats_since=in_iso(answer.stats_since),
            tasks=[_task_as_json(each, answer) for each in answer.tasks],
        )
    else:
        show_morning(answer, place, now, days=days)
    return code


def _schedules(
    config: Path | None, tasks: Sequence[str], retention: timedelta | None
) -> tuple[ToCatchUp, ...]:
    """What the files expect of tasks.

    Raises:
        ConfigError: they are of one task, and it is not named; or something of them is wrong.
    """
    if config is None:
        if retention is not None:
            raise ConfigError(
                "--retention is for missed windows, and no schedule is given.",
                hint="Name the folder of the tasks' files with --config.",
            )
        return ()
    return read_expected(config, tasks, retention)


def _task_as_json(each: MorningTask, answer: Morning) -> dict[str, object]:
    return {
        "task": each.task,
        "verdict": each.verdict.value,
        "reason": each.reason,
        "has_schedule": each.windows is not None,
        "health": health_as_json(each.health),
        "windows": [_window_as_json(each.task, window, answer) for window in each.to_tell],
        "stats": stats_as_json(each.stats),
        "by_hand": [receipt_json(run) for run in each.by_hand],
        "untold": each.untold,
    }


def _window_as_json(task: str, answer: WindowAnswer, morning: Morning) -> dict[str, object]:
    planned = morning.planned(task, answer)
    return {
        **window_as_json(answer),
        "variables": dict(answer.variables),
        "action": None if planned is None else planned.action.value,
        "action_reason": None if planned is None else planned.reason,
        "after": [] if planned is None else list(planned.after),
        "because_of": None if planned is None else planned.because_of,
        "owner": None if planned is None else planned.owner,
    }
