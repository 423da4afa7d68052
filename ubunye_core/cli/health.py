"""``ubunye-runs health``: is this job healthy?"""

from __future__ import annotations

from datetime import datetime, timedelta

import click

from ubunye_core.cli import options
from ubunye_core.cli.documents import document_of
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.output import moment, say, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, say_beside, takes_store
from ubunye_core.cli.tables import table
from ubunye_core.questions import Health, TaskHealth, job_health
from ubunye_core.times import in_iso

_COLUMNS = ("task", "verdict", "last status", "last success", "failures", "stuck", "reason")


@click.command()
@click.argument("tasks", nargs=-1, required=True, metavar="TASK|PATTERN...")
@options.stuck_after
@options.max_age
@click.option(
    "--failure-threshold",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="How many runs in a row must fail to be unhealthy; 1 unless given.",
)
@takes_store
@options.now
@options.as_json
def health(
    tasks: tuple[str, ...],
    place: Place,
    stuck_after: timedelta | None,
    max_age: timedelta | None,
    failure_threshold: int,
    now: datetime | None,
    as_json: bool,
) -> ExitCode:
    r"""Say whether jobs are healthy: not failing, not stuck, not stale.

    \b
    Examples:
      ubunye-runs health pay/monthly/calc
      ubunye-runs health 'pay/*/*' --max-age 40d
      ubunye-runs health pay/monthly/calc --failure-threshold 3 --json
    """
    answer = job_health(
        tasks,
        store=place.store,
        now=now,
        stuck_after=stuck_after,
        max_age=max_age,
        failure_threshold=failure_threshold,
    )
    code = code_of(answer.verdict)
    if as_json:
        document_of(
            answer,
            place,
            tasks=[health_as_json(task) for task in answer.tasks],
        )
    else:
        _show(answer, place, now)
    return code


def health_as_json(health: TaskHealth) -> dict[str, object]:
    """How one task stands, for a document."""
    success = health.last_success_at
    return {
        "task": health.task,
        "verdict": health.verdict.value,
        "reason": health.reason,
        "last_status": None if health.last_status is None else health.last_status.value,
        "last_success_at": None if success is None else in_iso(success),
        "consecutive_failures": health.consecutive_failures,
        "stuck": list(health.stuck),
        "stale": health.stale,
    }


def _show(answer: Health, place: Place, now: datetime | None) -> None:
    rows = [
        (
            each.task,
            each.verdict.value,
            "-" if each.last_status is None else each.last_status.value,
            moment(each.last_success_at),
            str(each.consecutive_failures),
            " ".join(each.stuck) or "-",
            each.reason,
        )
        for each in answer.tasks
    ]
    table(_COLUMNS, rows, folds=("stuck", "reason"))
    stuck = [run for each in answer.tasks for run in each.stuck]
    if stuck:
        run, who = (stuck[0], "it") if len(stuck) == 1 else ("RUN", "a stuck run")
        say(f"Try: 'ubunye-runs close {run} --reason TEXT', if {who} is dead.")
    if len(answer.tasks) > 1:
        say_verdict(answer.verdict, answer.reason)
    say_beside(place, now)
    say_unreadable(answer.unreadable, told=[each.reason for each in answer.tasks])
