"""``ubunye-runs may-run``: may this batch be run now?"""

from __future__ import annotations

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.output import document, say, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, takes_store
from ubunye_core.questions import may_run
from ubunye_core.times import in_iso


@click.command(name="may-run")
@click.argument("task")
@options.variables
@click.option("--rerun", is_flag=True, help="A batch that has succeeded may be run again.")
@takes_store
@options.now
@options.as_json
def may_run_now(
    task: str,
    variables: tuple[str, ...],
    rerun: bool,
    place: Place,
    now: str | None,
    as_json: bool,
) -> ExitCode:
    r"""Say whether a batch may be run now: it is not finished, and nobody runs it.

    It only looks. 'exec --guard' takes the right to run.

    \b
    Examples:
      ubunye-runs may-run pay/monthly/calc --var month=2026-10
      ubunye-runs may-run pay/monthly/calc --var month=2026-10 --rerun --json
    """
    answer = may_run(
        task,
        options.read_variables(variables),
        store=place.store,
        rerun=rerun,
        now=options.read_instant(now, "--now"),
    )
    code = code_of(answer.verdict)
    if as_json:
        held = answer.holder
        document(
            verdict=answer.verdict,
            exit_code=code,
            reason=place.with_remark(answer.reason),
            now=answer.now,
            store=place.shown,
            unreadable=answer.unreadable,
            task=answer.task,
            batch=answer.key.batch.as_dict(),
            held_by=None if held is None else held.run_id,
            held_until=None if held is None else in_iso(held.until),
            finished_by=answer.finished_by,
        )
    else:
        say_verdict(answer.verdict, answer.reason)
        if place.remark:
            say(place.remark)
        say_unreadable(answer.unreadable, told=[answer.reason])
    return code
