"""``ubunye-runs may-run``: may this batch be run now?"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from ubunye_core.cli import options
from ubunye_core.cli.documents import document_of
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.output import say_unreadable, say_verdict
from ubunye_core.cli.place import Place, say_beside, takes_store
from ubunye_core.cli.scheduled import read_given_schedule, takes_schedule
from ubunye_core.errors import ConfigError
from ubunye_core.questions import RunAnswer, may_run
from ubunye_core.questions.foldernames import check_folder_of
from ubunye_core.questions.policyfiles import read_policy
from ubunye_core.times import in_iso


@click.command(name="may-run")
@click.argument("task")
@options.variables
@click.option("--rerun", is_flag=True, help="A batch that has succeeded may be run again.")
@click.option(
    "--ordered", is_flag=True, help="Not before the window before it in the schedule has succeeded."
)
@takes_schedule
@takes_store
@options.now
@options.as_json
def may_run_now(
    task: str,
    variables: tuple[str, ...],
    rerun: bool,
    ordered: bool,
    place: Place,
    now: datetime | None,
    as_json: bool,
    config: Path | None,
    format_: str | None,
    **schedule: str | None,
) -> ExitCode:
    r"""Say whether a batch may be run now: it is not finished, and nobody holds its claim.

    It only looks. 'exec --guard' takes the right to run. With --config, the policy in the task's
    YAML says whether its windows are run in order.

    \b
    Examples:
      ubunye-runs may-run pay/monthly/calc --var month=2026-10
      ubunye-runs may-run pay/monthly/calc --var month=2026-10 --rerun --json
      ubunye-runs may-run pay/monthly/calc --var month=2026-10 --config pay/monthly/calc
    """
    if config is not None:
        check_folder_of(config, task)
    in_order = ordered or (config is not None and read_policy(config).ordered)
    says_when = format_ is not None or any(schedule.values())
    if says_when and not in_order:
        raise ConfigError("A schedule says in which order.", hint="Give --ordered, too.")
    answer = may_run(
        task,
        options.read_variables(variables),
        store=place.store,
        rerun=rerun,
        ordered=in_order,
        schedule=read_given_schedule(config, format_, **schedule) if in_order else None,
        now=now,
    )
    if as_json:
        _as_document(answer, place)
    else:
        say_verdict(answer.verdict, answer.reason)
        say_beside(place, now)
        say_unreadable(answer.unreadable, told=[answer.reason])
    return code_of(answer.verdict)


def _as_document(answer: RunAnswer, place: Place) -> None:
    held, before = answer.holder, answer.before
    document_of(
        answer,
        place,
        task=answer.task,
        batch=answer.key.batch.as_dict(),
        held_by=None if held is None else held.run_id,
        held_until=None if held is None else in_iso(held.until),
        finished_by=answer.finished_by,
        before=None
        if before is None
        else {"name": before.window.name, "state": before.state, "runs": list(before.runs)},
    )
