"""``ubunye-runs store copy``: every receipt of one store into another."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.output import document, note_first, say_unreadable, say_verdict
from ubunye_core.cli.place import find_place
from ubunye_core.cli.progress import counting
from ubunye_core.counted import count
from ubunye_core.masking import masked_url
from ubunye_core.questions import Verdict
from ubunye_core.times import utc_now
from ubunye_core.upkeep import CopiedStore, NotCopied, copy_store


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@options.task_or_pattern
@options.since
@click.option("--dry-run", is_flag=True, help="Write nothing, and say what would be written.")
@options.as_json
def copy(
    source: str, target: str, task: str | None, since: str | None, dry_run: bool, as_json: bool
) -> ExitCode:
    r"""Copy every receipt of one store into another, with all its fields.

    What is there already stands, and is not written again: a copy that was cut short goes on when
    the command is run again. Claims are not copied. Exit code 1 when a receipt could not be read,
    or the other store holds another end of its run.

    \b
    Examples:
      ubunye-runs store copy .ubunye/lineage file:///srv/receipts --dry-run
      ubunye-runs store copy file:///srv/receipts s3://acme-receipts/prod
      ubunye-runs store copy file:///srv/receipts new --task 'pay/*/*' --since 2026-01-01
    """
    first = options.read_since(since)
    origin, goal = find_place(source).store, find_place(target).store
    with counting("Copying") as told:
        done = copy_store(origin, goal, task=task, since=first, dry_run=dry_run, told=told)
    verdict = Verdict.PASS if done else Verdict.FAIL
    code = ExitCode.YES if done else ExitCode.NO
    if as_json:
        document(
            verdict=verdict,
            exit_code=code,
            reason=_reason(done),
            now=utc_now(),
            store=masked_url(done.target),
            unreadable=done.unreadable,
            source=masked_url(done.source),
            dry_run=done.dry_run,
            tasks=done.tasks,
            copied=done.copied,
            running=done.running,
            same=done.same,
            ahead=done.ahead,
            refused=_as_json(done.refused),
            missing=_as_json(done.missing),
        )
        return code
    say_verdict(verdict, _reason(done))
    _name(done.refused, "Not copied")
    _name(done.missing, "Missing")
    say_unreadable(done.unreadable)
    return code


def _reason(done: CopiedStore) -> str:
    """What a copy did, in sentences."""
    copied = "would be copied" if done.dry_run else "copied"
    way = f"from {masked_url(done.source)} to {masked_url(done.target)}"
    running = f", {done.running:,} of them running" if done.running else ""
    read = f"{count(done.copied, 'receipt')} of {count(done.tasks, 'task')}"
    parts = [f"{read} {copied} {way}{running}"]
    if done.same:
        parts.append(count(done.same, "is there already", "are there already"))
    if done.ahead:
        parts.append(
            count(done.ahead, "has gone on there, which stands", "have gone on there, which stands")
        )
    if done.refused:
        parts.append(f"{len(done.refused):,} not copied: the other store does not take them")
    if done.unreadable:
        parts.append(f"{len(done.unreadable):,} not copied: they cannot be read")
    if done.missing:
        parts.append(f"{len(done.missing):,} not found, or not the same, when read back")
    elif done.copied and not done.dry_run:
        parts.append("all that was written was read back")
    sentences = "; ".join(parts) + "."
    if done.running:
        sentences += " A running receipt hears no more of its run: copy again once it has ended."
    return f"{sentences} {done.remark}".rstrip()


def _as_json(runs: Sequence[NotCopied]) -> list[dict[str, str]]:
    return [{"task": each.task, "run_id": each.run_id, "why": each.why} for each in runs]


def _name(runs: Sequence[NotCopied], head: str) -> None:
    note_first([f"{head}: {each.task} run {each.run_id}: {each.why}" for each in runs])
