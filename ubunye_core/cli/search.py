"""``ubunye-runs search``: who ran what by hand, and why?"""

from __future__ import annotations

from typing import Any

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.place import Place, takes_store
from ubunye_core.cli.runs import (
    find_runs,
    may_be_more,
    never_seen,
    summary,
    takes_narrowing,
    tell_runs,
)
from ubunye_core.questions.search import StartedBy
from ubunye_core.receipt import TriggerKind


@click.command()
@options.task_or_pattern
@click.option(
    "--triggered-by",
    type=click.Choice([each.value for each in TriggerKind]),
    help="Only runs that were started so.",
)
@click.option(
    "--actor", metavar="NAME", help="Only runs that NAME started; '*' stands for any text in it."
)
@click.option("--reason", metavar="TEXT", help="Only runs with this text in the reason given.")
@takes_narrowing
@takes_store
@options.as_json
def search(
    task: str | None,
    triggered_by: str | None,
    actor: str | None,
    reason: str | None,
    place: Place,
    as_json: bool,
    **narrowing: Any,
) -> ExitCode:
    r"""Search the runs of all tasks by who or what started them, and why.

    \b
    Examples:
      ubunye-runs search --triggered-by manual --since 2026-10-01
      ubunye-runs search --task 'pay/*/*' --actor 'nina*' --status error
      ubunye-runs search --reason 'late file' --json
    """
    started_by = StartedBy(
        kind=None if triggered_by is None else TriggerKind(triggered_by),
        actor=actor,
        reason=reason,
    )
    tasks = () if task is None else (task,)
    answer = find_runs(tasks, place, started_by=started_by, **narrowing)
    found = answer.found
    beside = [
        may_be_more(found, narrowing["limit"]),
        _untold(answer.untold),
        never_seen(tasks, found, place),
    ]
    return tell_runs(
        found,
        place,
        reason=summary(found),
        beside=beside,
        as_json=as_json,
        now=narrowing["now"],
        with_reasons=True,
    )


def _untold(runs: int) -> str:
    if runs == 1:
        return "1 more does not say who or what started it."
    return f"{runs:,} more do not say who or what started them." if runs else ""
