"""``ubunye-runs plan``: which missed windows of a task can be caught up?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click

from ubunye_core.cli import options
from ubunye_core.cli.documents import document_of
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.output import moment, say, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, takes_store
from ubunye_core.cli.scheduled import read_given_schedule, read_since, takes_schedule
from ubunye_core.cli.tables import table
from ubunye_core.questions.plan import Plan, plan_backfill
from ubunye_core.questions.planned import PlannedWindow, ToCatchUp
from ubunye_core.questions.taskfolders import read_task
from ubunye_core.times import in_iso

_COLUMNS = ("window", "action", "starts now", "begins", "runs", "reason")
_MONTH = timedelta(days=30)


@click.command()
@click.argument("task")
@takes_schedule
@click.option(
    "--since",
    metavar="TIME|INSTANT|DATE",
    help="Windows that were due then or later, or so long ago; 30d unless given.",
)
@click.option("--retention", metavar="TIME", help="How long the source keeps its data.")
@click.option(
    "--include",
    default="missing+failed",
    metavar="WHICH",
    help="missing, missing+failed (unless given), or all.",
)
@click.option(
    "--backfill-limit", type=int, default=-1, metavar="N", help="At most so many; -1 is no limit."
)
@click.option(
    "--recheck-days", type=int, default=0, metavar="N", help="Run windows so young again, too."
)
@click.option(
    "--catchup", default="all", metavar="WHICH", help="What starts now: none, latest or all."
)
@click.option("--cap", type=int, metavar="N", help="How many may run at once.")
@click.option(
    "--max-runs", type=int, metavar="N", help="Leave to people what failed after so many runs."
)
@click.option("--newest-first", is_flag=True, help="Begin with the newest window.")
@options.stuck_after
@takes_store
@options.now
@options.as_json
def plan(
    task: str,
    config: Path | None,
    cron: str | None,
    every: str | None,
    time_zone: str | None,
    window: str | None,
    of: str | None,
    variable: str | None,
    format_: str | None,
    since: str | None,
    retention: str | None,
    include: str,
    backfill_limit: int,
    recheck_days: int,
    catchup: str,
    cap: int | None,
    max_runs: int | None,
    newest_first: bool,
    stuck_after: str | None,
    place: Place,
    now: str | None,
    as_json: bool,
) -> ExitCode:
    r"""Say which missed windows of a task can be caught up, and why not the others.

    It starts nothing. With --config, what the task requires decides too.

    \b
    Examples:
      ubunye-runs plan sales/daily/load --config tasks/sales/daily/load --retention 30d
      ubunye-runs plan sales/daily/load --config tasks/sales/daily/load --json --cap 2
    """
    schedule = read_given_schedule(
        config,
        format_,
        cron=cron,
        every=every,
        time_zone=time_zone,
        window=window,
        of=of,
        variable=variable,
    )
    given = (
        ToCatchUp(task=task, schedule=schedule, retention=retention)
        if config is None
        else read_task(config, task, retention=retention)
    )
    answer = plan_backfill(
        given,
        since=read_since(since, unless_given=_MONTH),
        store=place.store,
        now=options.read_instant(now, "--now"),
        include=include,
        backfill_limit=backfill_limit,
        recheck_days=recheck_days,
        catchup=catchup,
        cap=cap,
        max_runs=max_runs,
        newest_first=newest_first,
        stuck_after=stuck_after,
    )
    code = code_of(answer.verdict)
    if as_json:
        document_of(
            answer,
            place,
            windows=[_as_json(each, answer) for each in answer.windows],
        )
    else:
        _show(answer, place)
    return code


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


def _show(answer: Plan, place: Place) -> None:
    rows = [
        (
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
        table(_COLUMNS, rows, folds=("runs", "reason"))
    say_verdict(answer.verdict, answer.reason)
    if place.remark:
        say(place.remark)
    say_unreadable(
        answer.unreadable, told=[answer.reason, *(each.reason for each in answer.windows)]
    )
