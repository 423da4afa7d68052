"""``ubunye-runs store repair``: hints written anew, damage moved out of the way."""

from __future__ import annotations

import sys

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.output import document, is_terminal, say, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, takes_store_argument
from ubunye_core.cli.progress import shown
from ubunye_core.counted import count
from ubunye_core.errors import ConfigError
from ubunye_core.questions import Verdict
from ubunye_core.times import utc_now
from ubunye_core.upkeep import RepairedStore, repair_store


@click.command()
@takes_store_argument
@click.option("--set-aside", is_flag=True, help="Move damaged receipts to where no question looks.")
@click.option("--yes", is_flag=True, help="Move them, and do not ask.")
@options.as_json
def repair(place: Place, set_aside: bool, yes: bool, as_json: bool) -> ExitCode:
    r"""Write a store's hints anew, and with --set-aside move its damaged receipts away.

    Nothing is deleted. Exit code 1 when something is left that cannot be read.

    \b
    Examples:
      ubunye-runs store repair file:///srv/receipts
      ubunye-runs store repair file:///srv/receipts --set-aside --yes
    """
    place.check_named("repair")
    asks = set_aside and not yes
    if asks and (as_json or not (is_terminal(sys.stdin) and is_terminal(sys.stderr))):
        raise ConfigError(
            "--set-aside moves receipts, and nobody can be asked here.", hint="Add --yes."
        )
    done = _repair(place, set_aside=set_aside and yes)
    if asks and done.offered and done.repaired.left:
        say_unreadable(done.repaired.left)
        if click.confirm(
            f"Move {count(len(done.repaired.left), 'damaged receipt')} away?", err=True
        ):
            done = _repair(place, set_aside=True)
    verdict = Verdict.PASS if done else Verdict.FAIL
    code = ExitCode.YES if done else ExitCode.NO
    if as_json:
        document(
            verdict=verdict,
            exit_code=code,
            reason=_reason(done, place, set_aside=set_aside),
            now=utc_now(),
            store=place.shown,
            unreadable=done.repaired.left,
            hints=done.repaired.hints,
            set_aside=list(done.repaired.set_aside),
        )
        return code
    say_verdict(verdict, _reason(done, place, set_aside=set_aside))
    for where in done.repaired.set_aside:
        say(f"Set aside: {where}")
    say_unreadable(done.repaired.left)
    return code


def _repair(place: Place, *, set_aside: bool) -> RepairedStore:
    with shown("Repairing the store: this takes a while."):
        return repair_store(place.store, set_aside=set_aside)


def _reason(done: RepairedStore, place: Place, *, set_aside: bool) -> str:
    repaired = done.repaired
    left = count(len(repaired.left), "receipt")
    if not done.offered and repaired.left:
        return f"{left} cannot be read, and {place.shown} offers no way to set receipts aside."
    if not done.offered:
        return f"Nothing to repair: {place.shown} keeps no hints beside its receipts."
    parts = [f"{place.shown}: the hints of {count(repaired.hints, 'run')} were written anew"]
    if repaired.set_aside:
        parts.append(f"{count(len(repaired.set_aside), 'damaged receipt')} set aside")
    if repaired.left:
        why = "somebody may still write them" if set_aside else "--set-aside moves the damaged"
        parts.append(f"{left} left that cannot be read ({why})")
    return f"{'; '.join(parts)}. {done.repaired.remark}".rstrip()
