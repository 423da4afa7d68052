"""``ubunye-runs export-ledger``: receipts as a ledger, for programs that read one."""

from __future__ import annotations

import sys

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.ledgeroptions import takes_ledger, telling
from ubunye_core.cli.output import document, note, note_first, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, takes_store
from ubunye_core.counted import count
from ubunye_core.errors import ConfigError
from ubunye_core.questions import Verdict
from ubunye_core.questions.tasks import never_ran
from ubunye_core.times import utc_now
from ubunye_core.upkeep import ExportedLedger, export_ledger


@click.command("export-ledger")
@click.argument("file", metavar="FILE|-")
@takes_ledger
@options.since
@takes_store
@options.as_json
def export_ledger_file(
    file: str,
    task: str,
    time_zone: str,
    window: str,
    variable: str | None,
    pipeline: str | None,
    since: str | None,
    place: Place,
    as_json: bool,
) -> ExitCode:
    r"""Write the receipts of a task as a ledger of runs: a new file of JSON lines.

    Exit code 1 when a receipt could not be read, or has no window that a line could name; all
    others are exported.

    \b
    Examples:
      ubunye-runs export-ledger new.jsonl --task shop/orders/daily --time-zone Asia/Jakarta
      ubunye-runs export-ledger - --task shop/orders/daily --time-zone UTC --variable dt
    """
    if as_json and file == "-":
        raise ConfigError("'-' and --json are two things for standard output.", hint="Name a file.")
    first = options.read_since(since)
    with telling() as told:
        done = export_ledger(
            sys.stdout if file == "-" else file,
            task=task,
            time_zone=time_zone,
            store=place.store,
            window=window,
            variable=variable,
            pipeline=pipeline,
            since=first,
            told=told,
        )
    verdict = Verdict.PASS if done else Verdict.FAIL
    code = ExitCode.YES if done else ExitCode.NO
    reason = place.with_remark(_reason(done, file, place))
    if as_json:
        document(
            verdict=verdict,
            exit_code=code,
            reason=reason,
            now=utc_now(),
            store=place.shown,
            unreadable=done.unreadable,
            task=done.task,
            lines=done.lines,
            refused=[{"run_id": no.run_id, "why": no.why} for no in done.refused],
        )
        return code
    if file == "-":
        note(f"{verdict}  {reason}")
    else:
        say_verdict(verdict, reason)
    note_first([f"Not exported: run {no.run_id}: {no.why}" for no in done.refused])
    say_unreadable(done.unreadable)
    return code


def _reason(done: ExportedLedger, file: str, place: Place) -> str:
    where = "standard output" if file == "-" else file
    text = f"{count(done.lines, 'line')} of {done.task} written to {where}"
    if done.refused:
        text += "; " + count(
            len(done.refused),
            "run not exported: no line can hold it",
            "runs not exported: no line can hold them",
        )
    if done.unreadable:
        text += "; " + count(
            len(done.unreadable),
            "receipt not exported: it cannot be read",
            "receipts not exported: they cannot be read",
        )
    unseen = never_ran(done.task, place.store) if done and not done.lines else ""
    return f"{text}. {unseen}".rstrip()
