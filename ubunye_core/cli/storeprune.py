"""``ubunye-runs store prune``: old receipts that no answer needs."""

from __future__ import annotations

import sys
from datetime import datetime

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.output import document, is_terminal, moment, say, say_unreadable
from ubunye_core.cli.place import Place, takes_store_argument
from ubunye_core.cli.progress import counting
from ubunye_core.cli.tables import table
from ubunye_core.counted import count
from ubunye_core.times import in_iso, to_the_second, utc_now
from ubunye_core.upkeep import PrunedStore, prune_store


@click.command()
@takes_store_argument
@click.option(
    "--older-than",
    required=True,
    metavar="TIME",
    help="How long ago a run must have ended, such as 400d.",
)
@options.task_or_pattern
@click.option("--yes", is_flag=True, help="Remove them, and do not ask.")
@click.option("--dry-run", is_flag=True, help="Only say what would go, also on a terminal.")
@options.as_json
def prune(
    place: Place, older_than: str, task: str | None, yes: bool, dry_run: bool, as_json: bool
) -> ExitCode:
    r"""Remove old receipts that no answer needs. Without --yes, say what would go.

    These stay, however old: of each task the newest run, the last success and what has failed
    since; of each batch the last success; what says running; the evidence for a receipt that
    stays; what cannot be read. On a terminal it asks before it removes anything.

    \b
    Examples:
      ubunye-runs store prune file:///srv/receipts --older-than 400d
      ubunye-runs store prune file:///srv/receipts --older-than 400d --task 'pay/*/*' --yes
    """
    if yes and dry_run:
        raise click.UsageError("--yes removes, and --dry-run does not.")
    place.check_named("prune")
    now = utc_now()
    found = _prune(place, older_than, task, now, remove=yes)
    if as_json:
        _print_document(found, place)
        return ExitCode.YES
    _show(found)
    may_ask = not (yes or dry_run) and is_terminal(sys.stdin) and is_terminal(sys.stderr)
    if (
        may_ask
        and found.goes
        and click.confirm(f"Remove {count(found.goes, 'receipt')}?", err=True)
    ):
        found = _prune(place, older_than, task, now, remove=True)
    say(_reason(found, place))
    say_unreadable(found.unreadable)
    return ExitCode.YES


def _prune(
    place: Place, older_than: str, task: str | None, now: datetime, *, remove: bool
) -> PrunedStore:
    with counting("Pruning" if remove else "Reading") as told:
        return prune_store(
            place.store, older_than=older_than, task=task, now=now, remove=remove, told=told
        )


def _print_document(found: PrunedStore, place: Place) -> None:
    document(
        verdict=None,
        exit_code=ExitCode.YES,
        reason=_reason(found, place),
        now=utc_now(),
        store=place.shown,
        unreadable=found.unreadable,
        ended_before=in_iso(found.cut),
        receipts=found.receipts,
        goes=found.goes,
        removed=found.removed,
        kept=dict(found.kept),
        tasks=[
            {
                "task": each.task,
                "receipts": each.receipts,
                "goes": each.goes,
                "oldest": in_iso(each.oldest),
                "newest": in_iso(each.newest),
            }
            for each in found.tasks
        ],
    )


def _show(found: PrunedStore) -> None:
    if found.tasks:
        rows = [
            (
                each.task,
                str(each.receipts),
                str(each.goes),
                moment(each.oldest),
                moment(each.newest),
            )
            for each in found.tasks
        ]
        table(("task", "receipts", "go", "oldest", "newest"), rows, folds=())


def _reason(found: PrunedStore, place: Place) -> str:
    """What goes or went, and what stays although it is old."""
    what = f"of {count(found.receipts, 'receipt')} in {place.shown}"
    before = f"ended before {to_the_second(found.cut)}"
    if found.removed is not None:
        text = f"Removed {found.removed:,} {what}, that {before}."
    elif found.goes:
        text = f"{found.goes:,} {what}, that {before}, would be removed: nothing is, without --yes."
    else:
        text = f"None {what} both {before} and may be removed."
    if found.kept:
        each = ", ".join(f"{number:,} {why}" for why, number in found.kept.items())
        text += f" Old, and kept: {each}."
    if found.unreadable:
        text += (
            f" {len(found.unreadable):,} cannot be read, and stay; what they pinned is not known."
        )
    return text
