"""``ubunye-runs list``, ``show`` and ``close``: the runs themselves."""

from __future__ import annotations

import click

from ubunye_core.batch import comparable
from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.output import document, json_text, note, say, say_unreadable
from ubunye_core.cli.place import Place, takes_store
from ubunye_core.cli.receiptview import COLUMNS, line_of, show_receipt
from ubunye_core.cli.tables import table
from ubunye_core.codec import as_json as receipt_json
from ubunye_core.errors import ConfigError
from ubunye_core.names import check_task_or_pattern, is_pattern
from ubunye_core.questions.runs import find_run
from ubunye_core.questions.symptoms import Limits
from ubunye_core.questions.tasks import fitting_tasks
from ubunye_core.receipt import Receipt, Status
from ubunye_core.recording import close_run
from ubunye_core.stores import Found, Unreadable
from ubunye_core.stores.select import select
from ubunye_core.times import in_words, utc_now

_task = click.option("--task", metavar="TASK", help="The run's task; without it, all are searched.")


@click.command("list")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK|PATTERN...")
@click.option(
    "--status", type=click.Choice([each.value for each in Status]), help="Only runs that are so."
)
@options.variables
@options.since
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    metavar="N",
    help="At most so many, the newest; 20 unless given.",
)
@takes_store
@options.as_json
def list_runs(
    tasks: tuple[str, ...],
    place: Place,
    status: str | None,
    variables: tuple[str, ...],
    since: str | None,
    limit: int,
    as_json: bool,
) -> ExitCode:
    r"""List the newest runs of tasks.

    \b
    Examples:
      ubunye-runs list pay/monthly/calc
      ubunye-runs list 'pay/*/*' --status error --since 2026-10-01 -n 5
      ubunye-runs list pay/monthly/calc --var month=2026-10
    """
    first = options.read_instant_or_date(since, "--since")
    batch = _comparable(options.read_variables(variables))
    wanted = None if status is None else Status(status)
    receipts: list[Receipt] = []
    unreadable: list[Unreadable] = []
    for task in _named(tasks, place):
        found = place.store.search(task, wanted, first, batch=batch, limit=limit)
        receipts += found
        unreadable += found.unreadable
    newest = select(receipts, unreadable, limit=limit)
    reason = place.with_remark(_summary(newest))
    if as_json:
        document(
            verdict=None,
            exit_code=ExitCode.YES,
            reason=reason,
            now=utc_now(),
            store=place.shown,
            unreadable=newest.unreadable,
            runs=[receipt_json(receipt) for receipt in newest],
        )
        return ExitCode.YES
    if newest:
        table(COLUMNS, [line_of(receipt) for receipt in newest], folds=("batch", "by"))
    else:
        note(reason)
    if newest and place.remark:
        say(place.remark)
    say_unreadable(newest.unreadable)
    return ExitCode.YES


def _comparable(texts: dict[str, str]) -> dict[str, str] | None:
    """The variables to look for; None where there are none.

    Raises:
        ConfigError: one is masked in every receipt, so that no run would ever fit.
    """
    hidden = [name for name, text in texts.items() if name not in comparable({name: text})]
    if hidden:
        raise ConfigError(f"--var {hidden[0]} is masked in every receipt: no run shows it.")
    return texts or None


def _named(tasks: tuple[str, ...], place: Place) -> list[str]:
    """The tasks that names and patterns stand for, each once."""
    named: dict[str, None] = {}
    for each in map(check_task_or_pattern, tasks):
        named |= dict.fromkeys(fitting_tasks(each, place.store) if is_pattern(each) else [each])
    return list(named)


def _summary(found: Found) -> str:
    runs = "1 run" if len(found) == 1 else f"{len(found) or 'No'} runs"
    bad = f", and {len(found.unreadable)} unreadable" if found.unreadable else ""
    return f"{runs}{bad}."


@click.command()
@click.argument("run", metavar="RUN")
@_task
@takes_store
@options.as_json
def show(run: str, place: Place, task: str | None, as_json: bool) -> ExitCode:
    r"""Show the receipt of one run, by its id or a beginning of it that fits no other.

    \b
    Examples:
      ubunye-runs show a50f2f7c
      ubunye-runs show a50f2f7c --task pay/monthly/calc --json
    """
    receipt = find_run(run, store=place.store, task=task)
    if as_json:
        json_text(receipt_json(receipt))
        return ExitCode.YES
    show_receipt(receipt)
    if place.remark:
        say(place.remark)
    return ExitCode.YES


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--reason", required=True, metavar="TEXT", help="Why, for whoever reads it later.")
@_task
@takes_store
@options.as_json
def close(run: str, place: Place, reason: str, task: str | None, as_json: bool) -> ExitCode:
    r"""Mark a run that says running, and is not, as interrupted.

    If it lives after all, its own later word stands. Where it has shown a sign of life so lately
    that nothing says it is dead, it is closed with a warning.

    \b
    Example:
      ubunye-runs close 8dc6a23f --reason "the machine was lost"
    """
    receipt = find_run(run, store=place.store, task=task)
    now = utc_now()
    closed = close_run(receipt.task, receipt.run_id, reason=reason, store=place.store)
    if now - receipt.last_sign_of_life <= Limits().silence_allowed(receipt):
        ago = in_words(now - receipt.last_sign_of_life)
        note(f"Its last sign of life was {ago} ago; if it lives, its own end will stand.")
    if as_json:
        json_text(receipt_json(closed))
    else:
        text = f"Closed run {closed.run_id} of {closed.task}: it is {closed.status} now."
        say(place.with_remark(text))
    return ExitCode.YES
