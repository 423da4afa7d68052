"""``ubunye-runs list``, ``show`` and ``close``: the runs themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import Any

import click

from ubunye_core.batch import comparable
from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.output import document, json_text, note, say, say_unreadable
from ubunye_core.cli.place import Place, as_of, say_beside, takes_store
from ubunye_core.cli.progress import counting
from ubunye_core.cli.receiptview import COLUMNS, line_of, show_receipt
from ubunye_core.cli.tables import table
from ubunye_core.codec import as_json as receipt_json
from ubunye_core.counted import count
from ubunye_core.errors import ConfigError
from ubunye_core.names import fits
from ubunye_core.questions.runs import find_run
from ubunye_core.questions.search import SearchedRuns, StartedBy, search_runs
from ubunye_core.questions.symptoms import Limits
from ubunye_core.questions.tasks import never_ran
from ubunye_core.questions.telling import why_of
from ubunye_core.receipt import Receipt, Status
from ubunye_core.recording import close_run
from ubunye_core.stores import Found
from ubunye_core.times import in_words, utc_now

_FEW = 20
_task = click.option("--task", metavar="TASK", help="The run's task; without it, all are searched.")


_NARROWING = (
    click.option(
        "--status",
        type=click.Choice([each.value for each in Status]),
        help="Only runs that are so.",
    ),
    options.variables,
    options.since,
    options.now,
    click.option(
        "-n",
        "--limit",
        type=click.IntRange(min=1),
        metavar="N",
        help=f"At most so many, the newest; {_FEW} unless given.",
    ),
)


def takes_narrowing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say which runs; ``find_runs`` reads them."""
    for option in reversed(_NARROWING):
        command = option(command)
    return command


def find_runs(
    tasks: Sequence[str],
    place: Place,
    *,
    status: str | None,
    variables: Sequence[str],
    since: str | None,
    now: datetime | None,
    limit: int | None,
    started_by: StartedBy | None = None,
) -> SearchedRuns:
    """The newest runs that the options name. Somebody is told how far a long search has come.

    Raises:
        ConfigError: an option is wrong.
    """
    first, batch = (
        options.read_since(since, now=now),
        _comparable(options.read_variables(variables)),
    )
    reads_all = bool(started_by) or now is not None
    with counting("Searching") if reads_all else nullcontext() as told:
        return search_runs(
            tasks,
            store=place.store,
            status=None if status is None else Status(status),
            since=first,
            batch=batch,
            started_by=started_by,
            limit=limit or _FEW,
            now=now,
            told=told,
        )


@click.command("list")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK|PATTERN...")
@takes_narrowing
@takes_store
@options.as_json
def list_runs(tasks: tuple[str, ...], place: Place, as_json: bool, **narrowing: Any) -> ExitCode:
    r"""List the newest runs of tasks.

    \b
    Examples:
      ubunye-runs list pay/monthly/calc
      ubunye-runs list 'pay/*/*' --status error --since 2026-10-01 -n 5
      ubunye-runs list pay/monthly/calc --var month=2026-10
    """
    newest = find_runs(tasks, place, **narrowing).found
    beside = [may_be_more(newest, narrowing["limit"]), never_seen(tasks, newest, place)]
    return tell_runs(
        newest, place, reason=summary(newest), beside=beside, as_json=as_json, now=narrowing["now"]
    )


def may_be_more(found: Found, limit: int | None) -> str:
    """A sentence where no limit was given and as many runs were found as are shown then."""
    is_full = limit is None and len(found) == _FEW
    return f"There may be more: -n shows more than {_FEW}." if is_full else ""


def never_seen(tasks: Sequence[str], found: Found, place: Place) -> str:
    """Sentences about tasks and patterns of which the store has no run; empty if there are none."""
    empty = [each for each in tasks if not any(fits(run.task, each) for run in found)]
    return " ".join(filter(None, (never_ran(each, place.store) for each in empty)))


def tell_runs(
    found: Found,
    place: Place,
    *,
    reason: str,
    beside: Iterable[str],
    as_json: bool,
    now: datetime | None,
    with_reasons: bool = False,
) -> ExitCode:
    """Print runs, one a line or in one document; of each, if wanted, why it was started.

    ``beside`` are sentences that people have to see also where there are runs; some may be empty.
    """
    to_see = " ".join(filter(None, beside))
    reason = place.with_remark(f"{reason} {to_see}".rstrip())
    if as_json:
        document(
            verdict=None,
            exit_code=ExitCode.YES,
            reason=reason,
            now=now or utc_now(),
            store=place.shown,
            unreadable=found.unreadable,
            runs=[receipt_json(receipt) for receipt in found],
        )
        return ExitCode.YES
    if found:
        columns = (*COLUMNS, "why") if with_reasons else COLUMNS
        rows = [
            (*line_of(run), why_of(run) or "-") if with_reasons else line_of(run) for run in found
        ]
        table(columns, rows, folds=("batch", "by", "why"))
        say_beside(place, now)
    else:
        note(f"{reason} {as_of(now)}".rstrip())
    say_unreadable(found.unreadable)
    if found and to_see:
        note(to_see)
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


def summary(found: Found) -> str:
    """How many runs were found."""
    runs = count(len(found), "run") if found else "No runs"
    bad = f", and {len(found.unreadable)} unreadable" if found.unreadable else ""
    return f"{runs}{bad}."


def _one_run(run: str, place: Place, task: str | None) -> Receipt:
    """The run that was named.

    Raises:
        ConfigError: it is a task that was named.
    """
    if "/" in run:
        raise ConfigError(
            f"{run!r} is not a run id.",
            hint=f"For the ids of a task's runs: 'ubunye-runs list {run}'.",
        )
    return find_run(run, store=place.store, task=task)


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
    receipt = _one_run(run, place, task)
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
    receipt = _one_run(run, place, task)
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
