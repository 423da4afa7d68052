"""``ubunye-runs import-ledger``: another program's record of its runs, as receipts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.ledgeroptions import takes_ledger, telling
from ubunye_core.cli.output import document, note_first, say_verdict
from ubunye_core.cli.place import Place, takes_store
from ubunye_core.cli.scheduled import check_format_option
from ubunye_core.counted import count
from ubunye_core.masking import masked_url
from ubunye_core.questions import Verdict
from ubunye_core.stores import Unreadable
from ubunye_core.times import utc_now
from ubunye_core.upkeep import ImportedLedger, import_ledger


@click.command("import-ledger")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@takes_ledger
@click.option(
    "--format", "format_", metavar="FORMAT", help="How the variable is written: %Y-%m-%d."
)
@click.option("--dry-run", is_flag=True, help="Write nothing, and say what would be written.")
@takes_store
@options.as_json
def import_ledger_file(
    file: Path,
    task: str,
    time_zone: str,
    window: str,
    variable: str | None,
    pipeline: str | None,
    format_: str | None,
    dry_run: bool,
    place: Place,
    as_json: bool,
) -> ExitCode:
    r"""Make receipts of a ledger of runs: a file of JSON lines. The file stays as it is.

    The same lines make the same receipts, so it can be run again: what is there is not written
    again. Exit code 1 when a line could not be read, or the store knows another end of its run;
    all others are imported.

    \b
    Examples:
      ubunye-runs import-ledger ledger_runs.jsonl --task shop/orders/daily \
        --time-zone Asia/Jakarta --variable dt --dry-run
      ubunye-runs import-ledger ledger_runs.jsonl --task shop/orders/daily \
        --time-zone Asia/Jakarta --pipeline etl_orders
    """
    place.check_named("import-ledger")
    check_format_option(format_, variable)
    with telling() as told:
        done = import_ledger(
            file,
            task=task,
            time_zone=time_zone,
            store=place.store,
            window=window,
            variable=variable,
            format=format_,
            pipeline=pipeline,
            dry_run=dry_run,
            told=told,
        )
    verdict = Verdict.PASS if done else Verdict.FAIL
    code = ExitCode.YES if done else ExitCode.NO
    if as_json:
        document(
            verdict=verdict,
            exit_code=code,
            reason=_reason(done),
            now=utc_now(),
            store=place.shown,
            unreadable=[
                Unreadable(where=f"{file}, line {bad.number}", why=bad.why) for bad in done.bad
            ],
            **_as_json(done),
        )
        return code
    say_verdict(verdict, _reason(done))
    note_first([f"Bad: line {bad.number}: {bad.why}" for bad in done.bad])
    note_first([f"Not imported: line {no.line}, run {no.run_id}: {no.why}" for no in done.refused])
    return code


def _as_json(done: ImportedLedger) -> dict[str, object]:
    return {
        "task": done.task,
        "pipeline": done.pipeline,
        "dry_run": done.dry_run,
        "lines": done.lines,
        "of_others": done.of_others,
        "runs": done.runs,
        "added": done.added,
        "same": done.same,
        "ahead": done.ahead,
        "running": done.running,
        "shown_twice": list(done.shown_twice),
        "contradictions": list(done.contradictions),
        "bad": [{"line": bad.number, "why": bad.why} for bad in done.bad],
        "refused": [{"line": no.line, "run_id": no.run_id, "why": no.why} for no in done.refused],
    }


def _reason(done: ImportedLedger) -> str:
    """What an import did, in sentences."""
    added = "would be added" if done.dry_run else "added"
    parts = [
        f"{count(done.lines, 'line')}, {count(done.runs, 'run')}: {count(done.added, 'receipt')} "
        f"of {done.task} {added} to {masked_url(done.target)}",
        *_further(done),
    ]
    asked = ""
    if any("another receipt" in no.why for no in done.refused):
        asked = "Was it imported with another --variable, --time-zone or --window before?"
    return " ".join(filter(None, (f"{'; '.join(parts)}.", done.remark, asked)))


def _further(done: ImportedLedger) -> Iterator[str]:
    if done.same:
        yield count(done.same, "is there already", "are there already")
    if done.ahead:
        yield count(
            done.ahead, "has gone on there, which stands", "have gone on there, which stands"
        )
    if done.running:
        yield count(done.running, "says that it is running", "say that they are running")
    if done.of_others:
        yield f"{count(done.of_others, 'line')} of other pipelines left out"
    if done.shown_twice:
        yield f"starts that the clocks showed twice are the first: {_at(done.shown_twice)}"
    if done.contradictions:
        yield f"another end of a run that has a better one: {_at(done.contradictions)}"
    if done.bad:
        yield f"{count(len(done.bad), 'bad line')} not imported"
    if done.refused:
        yield f"{count(len(done.refused), 'run')} not imported"


def _at(lines: Sequence[int]) -> str:
    first = ", ".join(f"{line}" for line in lines[:5])
    more = f" and {len(lines) - 5:,} more" if len(lines) > 5 else ""
    return f"line{'' if len(lines) == 1 else 's'} {first}{more}"
