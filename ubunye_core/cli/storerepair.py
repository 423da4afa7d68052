"""``ubunye-runs store repair``: hints written anew, damage moved out of the way."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Sequence
from datetime import timedelta

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.output import document, is_terminal, say, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, takes_store_argument
from ubunye_core.cli.progress import shown
from ubunye_core.counted import count
from ubunye_core.errors import ConfigError
from ubunye_core.questions import Verdict
from ubunye_core.stores import Unreadable
from ubunye_core.stores.files.upkeep import STILL_WRITTEN_SECONDS
from ubunye_core.times import in_words, utc_now
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
        why = _why_left(repaired.left) if set_aside else "--set-aside moves the damaged"
        parts.append(f"{left} left that cannot be read ({why})")
    return f"{'; '.join(parts)}. {done.repaired.remark}".rstrip()


def _why_left(left: Sequence[Unreadable]) -> str:
    """Why damage was not set aside; of files that changed just now, for how long they stay."""
    why = "somebody may still write them"
    young = [age for age in map(_age_of, left) if age is not None and age < STILL_WRITTEN_SECONDS]
    if len(young) < len(left):
        return why
    wait = in_words(timedelta(seconds=max(1, math.ceil(STILL_WRITTEN_SECONDS - min(young)))))
    return f"changed in the last {STILL_WRITTEN_SECONDS:g} seconds, so {why}: try again in {wait}"


def _age_of(bad: Unreadable) -> float | None:
    """How many seconds ago a file changed; None where it is none, or is gone."""
    try:
        return time.time() - os.stat(bad.where).st_mtime
    except (OSError, ValueError):
        return None
