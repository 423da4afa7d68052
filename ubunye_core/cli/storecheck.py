"""``ubunye-runs store check``: can it be read and written, and what does it promise?"""

from __future__ import annotations

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.output import document, say, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, takes_store_argument
from ubunye_core.cli.progress import counting
from ubunye_core.cli.tables import table
from ubunye_core.times import utc_now
from ubunye_core.upkeep import StoreCheck, check_store

_WORDS = {True: "yes", False: "no", None: "-"}


@click.command()
@takes_store_argument
@options.task_or_pattern
@options.as_json
def check(place: Place, task: str | None, as_json: bool) -> ExitCode:
    r"""Say whether a store can be listed, read, written and claimed, and what it promises.

    Reads every receipt, and leaves no trace. Exit code 1 when something is bad, 3 when the store
    does not tell whether it can be written.

    \b
    Examples:
      ubunye-runs store check file:///srv/receipts
      ubunye-runs store check s3://acme-receipts/prod --task 'pay/*/*' --json
    """
    with counting("Reading") as told:
        found = check_store(place.store, task=task, told=told)
    code = code_of(found.verdict)
    if as_json:
        document(
            verdict=found.verdict,
            exit_code=code,
            reason=place.with_remark(found.reason),
            now=utc_now(),
            store=place.shown,
            unreadable=found.unreadable,
            findings=[
                {"what": each.what, "good": each.good, "why": each.why} for each in found.findings
            ],
            tasks=found.tasks,
            receipts=found.receipts,
            by_status=found.by_status,
        )
    else:
        _show(found, place)
    return code


def _show(found: StoreCheck, place: Place) -> None:
    say_verdict(found.verdict, f"{place.shown}: {found.reason}")
    rows = [(each.what, _WORDS[each.good], each.why) for each in found.findings]
    table(("what", "good", "why"), rows, folds=("why",))
    if place.remark:
        say(place.remark)
    say_unreadable(found.unreadable)
