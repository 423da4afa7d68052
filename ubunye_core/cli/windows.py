"""``ubunye-runs windows``: how do the scheduled windows of a task stand?"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click

from ubunye_core.cli import options
from ubunye_core.cli.documents import document_of
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.neverran import with_never_ran
from ubunye_core.cli.output import moment, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, say_beside, takes_store
from ubunye_core.cli.scheduled import read_given_schedule, read_period, takes_schedule
from ubunye_core.cli.tables import table
from ubunye_core.questions.foldernames import check_folder_of
from ubunye_core.questions.window_state import WindowAnswer
from ubunye_core.questions.windows import Windows, window_states
from ubunye_core.times import in_iso

_COLUMNS = ("window", "state", "due", "runs", "reason")
_WEEK = timedelta(days=7)


@click.command()
@click.argument("task")
@takes_schedule
@click.option(
    "--since",
    metavar="TIME|INSTANT|DATE",
    help="Windows that were due then or later, or so long ago; 7d unless given.",
)
@click.option(
    "--until", metavar="INSTANT|DATE", help="Windows that are due earlier; now unless given."
)
@click.option("--missed", is_flag=True, help="Only those without a success.")
@options.stuck_after
@takes_store
@options.now
@options.as_json
def windows(
    task: str,
    config: Path | None,
    format_: str | None,
    since: str | None,
    until: str | None,
    missed: bool,
    stuck_after: timedelta | None,
    place: Place,
    now: datetime | None,
    as_json: bool,
    **schedule: Any,
) -> ExitCode:
    r"""Say how each scheduled window of a task stands, and which were missed.

    The exit code is 0 when every window is well, and 1 when somebody has to look at one.

    \b
    Examples:
      ubunye-runs windows pay/monthly/calc --config tasks/pay/monthly/calc --since 90d
      ubunye-runs windows sales/daily/load --cron '0 2 * * *' --time-zone Asia/Jakarta \
        --window day --variable dt
    """
    if config is not None:
        check_folder_of(config, task)
    begin, end = read_period(since, until, now, unless_given=_WEEK)
    answer = window_states(
        task,
        schedule=read_given_schedule(config, format_, **schedule),
        since=begin,
        until=end,
        store=place.store,
        now=now,
        stuck_after=stuck_after,
    )
    if answer and not any(each.runs for each in answer.windows):
        answer = with_never_ran(answer, [task], place.store)
    shown = answer.missed if missed else answer.windows
    code = code_of(answer.verdict)
    if as_json:
        document_of(
            answer,
            place,
            windows=[window_as_json(each) for each in shown],
        )
    else:
        _show(answer, shown, place, now)
    return code


def window_as_json(answer: WindowAnswer) -> dict[str, object]:
    """How one window stands, for a document."""
    window = answer.window
    return {
        "start": in_iso(window.start),
        "end": in_iso(window.end),
        "due": in_iso(window.due),
        "name": window.name,
        "state": answer.state.value,
        "reason": answer.reason,
        "runs": list(answer.runs),
        "doubts": list(answer.doubts),
    }


def _show(
    answer: Windows, shown: tuple[WindowAnswer, ...], place: Place, now: datetime | None
) -> None:
    rows = [
        (
            each.window.name,
            each.state.value,
            moment(each.window.due),
            " ".join(each.runs) or "-",
            "; ".join((each.reason, *each.doubts)),
        )
        for each in shown
    ]
    if rows:
        table(_COLUMNS, rows, folds=("runs", "reason"))
    say_verdict(answer.verdict, answer.reason)
    say_beside(place, now)
    say_unreadable(answer.unreadable, told=[answer.reason, *(each.reason for each in shown)])
