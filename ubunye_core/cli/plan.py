"""``ubunye-runs plan``: which missed windows of tasks can be caught up?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click

from ubunye_core.cli import options
from ubunye_core.cli.documents import document_of
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.neverran import with_never_ran
from ubunye_core.cli.output import moment, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, say_beside, takes_store
from ubunye_core.cli.scheduled import (
    check_alone,
    config_of_tasks,
    is_one_task,
    read_expected,
    read_given_schedule,
    read_period,
    says_schedule,
)
from ubunye_core.cli.tables import table
from ubunye_core.errors import ConfigError
from ubunye_core.names import near
from ubunye_core.questions.misread import MisreadTask
from ubunye_core.questions.morning import ALL_TASKS
from ubunye_core.questions.plan import NO_LIMIT, Plan, plan_backfill
from ubunye_core.questions.planned import Catchup, Include, PlannedWindow, ToCatchUp
from ubunye_core.questions.tasks import tasks_named
from ubunye_core.times import LONGEST, in_iso

_COLUMNS = ("window", "action", "starts now", "begins", "runs", "reason")
_MONTH = timedelta(days=30)
_TO_HAVE_ONE = "Write 'schedule' into the receipts.yaml of a task."


@click.command()
@click.argument("tasks", nargs=-1, metavar="[TASK|PATTERN...]")
@config_of_tasks
@says_schedule
@click.option(
    "--since",
    metavar="TIME|INSTANT|DATE",
    help="Windows that were due then or later, or so long ago; 30d unless given.",
)
@click.option(
    "--retention",
    callback=options.LENGTH,
    metavar="TIME",
    help="How long the source keeps its data.",
)
@click.option(
    "--include",
    type=click.Choice([each.value for each in Include]),
    default="missing+failed",
    metavar="WHICH",
    help="missing, missing+failed (unless given), or all.",
)
@click.option(
    "--backfill-limit",
    type=click.IntRange(min=NO_LIMIT),
    default=NO_LIMIT,
    metavar="N",
    help="At most so many; -1 is no limit.",
)
@click.option(
    "--recheck-days",
    type=click.IntRange(0, LONGEST.days),
    default=0,
    metavar="N",
    help="Run windows so young again, too.",
)
@click.option(
    "--catchup",
    type=click.Choice([each.value for each in Catchup]),
    default="all",
    metavar="WHICH",
    help="What starts now: none, latest or all.",
)
@click.option("--cap", type=click.IntRange(min=1), metavar="N", help="How many may run at once.")
@click.option(
    "--max-runs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Leave to people what failed after so many runs.",
)
@click.option("--newest-first", is_flag=True, help="Begin with the newest window.")
@options.stuck_after
@takes_store
@options.now
@options.as_json
def plan(
    tasks: tuple[str, ...],
    config: Path | None,
    format_: str | None,
    since: str | None,
    retention: timedelta | None,
    include: str,
    backfill_limit: int,
    recheck_days: int,
    catchup: str,
    cap: int | None,
    max_runs: int | None,
    newest_first: bool,
    stuck_after: timedelta | None,
    place: Place,
    now: datetime | None,
    as_json: bool,
    **schedule: Any,
) -> ExitCode:
    r"""Say which missed windows of tasks can be caught up, and why not the others.

    It starts nothing. With --config, what the tasks require decides too; without TASK, it is all
    tasks of the folder.

    \b
    Examples:
      ubunye-runs plan sales/daily/load --config tasks/sales/daily/load --retention 30d
      ubunye-runs plan sales/daily/load --config tasks/sales/daily/load --json --cap 2
      ubunye-runs plan 'sales/*/*' --config tasks --since 3d
    """
    begin, _ = read_period(since, None, now, unless_given=_MONTH)
    given = _given(tasks, config, retention, format_=format_, **schedule)
    answer = plan_backfill(
        given,
        since=begin,
        store=place.store,
        now=now,
        include=include,
        backfill_limit=backfill_limit,
        recheck_days=recheck_days,
        catchup=catchup,
        cap=cap,
        max_runs=max_runs,
        newest_first=newest_first,
        stuck_after=stuck_after,
    )
    if answer:
        ran = {each.task for each in answer.windows if each.runs}
        unseen = [each.task for each in given if each.task not in ran]
        answer = with_never_ran(answer, unseen, place.store)
    if as_json:
        document_of(
            answer,
            place,
            windows=[_as_json(each, answer) for each in answer.windows],
        )
    else:
        _show(answer, place, now, with_task=not is_one_task(tasks))
    return code_of(answer.verdict)


def _given(
    tasks: Sequence[str], config: Path | None, retention: timedelta | None, **schedule: Any
) -> tuple[ToCatchUp, ...]:
    """What is expected of the tasks that are named.

    Raises:
        ConfigError: none is named, one has no schedule, or something of them is wrong.
    """
    if config is None:
        if not is_one_task(tasks):
            raise ConfigError(
                "A plan is of one task, unless files say the schedules.",
                hint="Name one task, or the folder of the tasks' files with --config.",
            )
        versions = read_given_schedule(None, **schedule)
        return (ToCatchUp(task=tasks[0], schedule=versions, retention=retention),)
    check_alone(config, schedule)
    expected = {each.task: each for each in read_expected(config, tasks, retention)}
    return tuple(_scheduled(expected, tasks, config))


def _scheduled(
    expected: Mapping[str, ToCatchUp], tasks: Sequence[str], config: Path
) -> Iterator[ToCatchUp]:
    """Those of the tasks of a folder that are named, and have a schedule; or one that is wrong.

    Raises:
        ConfigError: none has one, or a name or a pattern is of none that has.
    """
    scheduled = [
        task for task, each in expected.items() if isinstance(each, MisreadTask) or each.versions
    ]
    if not scheduled:
        raise ConfigError(f"{config} has no schedule.", hint=_TO_HAVE_ONE)
    for name in tasks:
        if set(tasks_named(name, among=scheduled)).isdisjoint(scheduled):
            close = " or ".join(near(name, scheduled))
            hint = f"Did you mean {close}?" if close else _TO_HAVE_ONE
            raise ConfigError(f"{config} has no schedule of {name}.", hint=hint)
    for task in tasks_named(tasks or ALL_TASKS, among=scheduled):
        yield expected[task]


def _as_json(planned: PlannedWindow, plan: Plan) -> dict[str, object]:
    return {
        "task": planned.task,
        "name": planned.window.name,
        "start": in_iso(planned.window.start),
        "end": in_iso(planned.window.end),
        "due": in_iso(planned.window.due),
        "action": planned.action.value,
        "reason": planned.reason,
        "state": planned.state.value,
        "runs": list(planned.runs),
        "variables": dict(planned.variables),
        "after": list(planned.after),
        "because_of": planned.because_of,
        "owner": planned.owner,
        "starts_now": planned in plan.starts,
    }


def _show(answer: Plan, place: Place, now: datetime | None, *, with_task: bool) -> None:
    rows = [
        (
            *((each.task,) if with_task else ()),
            each.window.name,
            each.action.value,
            "yes" if each in answer.starts else "-",
            moment(each.window.start),
            " ".join(each.runs) or "-",
            each.reason,
        )
        for each in answer.windows
    ]
    if rows:
        columns = ("task", *_COLUMNS) if with_task else _COLUMNS
        table(columns, rows, folds=("runs", "reason"))
    say_verdict(answer.verdict, answer.reason)
    say_beside(place, now)
    say_unreadable(
        answer.unreadable, told=[answer.reason, *(each.reason for each in answer.windows)]
    )
