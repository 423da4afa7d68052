"""``ubunye-runs hash``: the hash of every row of a table, the same wherever it is taken."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ubunye_core.cli import hashagainst, options
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.hashhints import with_hints
from ubunye_core.cli.hashprogress import at_work
from ubunye_core.cli.output import document, say, say_verdict, wrong
from ubunye_core.cli.place import Place, find_place
from ubunye_core.cli.tables import table
from ubunye_core.errors import ConfigError
from ubunye_core.hashing import Fingerprint, fingerprint
from ubunye_core.masking import masked_text
from ubunye_core.questions import Verdict
from ubunye_core.times import utc_now

_COLUMNS = ("path", "rows", "data hash", "schema hash")
Hashes = Sequence[tuple[str, Fingerprint]]


@click.command("hash")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--columns", metavar="A,B", help="Hash these columns only.")
@click.option("--per-column", is_flag=True, help="Hash each column by itself too.")
@click.option("--against", metavar="RUN", help="Compare with what this run has on record.")
@click.option("--task", metavar="TASK", help="The run's task; without it, all are searched.")
@click.option("--step", metavar="NAME", help="Which of the run's inputs and outputs.")
@click.option("--store", metavar="URL", help="The receipt store; else UBUNYE_STORE names it.")
@options.as_json
def hash_paths(
    paths: tuple[str, ...],
    columns: str | None,
    per_column: bool,
    against: str | None,
    task: str | None,
    step: str | None,
    store: str | None,
    as_json: bool,
) -> ExitCode:
    r"""Hash every row of Parquet, Arrow and CSV files or folders, or of Delta tables, by rows-v1.

    The order of rows and of columns does not matter. Of what cannot be hashed, the reason is
    told, and the exit code is 3. With --against, it is 0 for the same rows and 1 for others.

    \b
    Examples:
      ubunye-runs hash adults.parquet
      ubunye-runs hash before/ after/ --columns id,amount --json
      ubunye-runs hash adults.parquet --against a50f2f7c --step adults
    """
    chosen = None if columns is None else [name.strip() for name in columns.split(",")]
    if against is not None:
        if len(paths) > 1:
            raise ConfigError(f"--against compares one path, not {len(paths)}.")
        place = find_place(store)
        return _compared(paths[0], chosen, per_column, against, task, step, place, as_json)
    for name, given in (("--task", task), ("--step", step), ("--store", store)):
        if given is not None:
            raise ConfigError(f"{name} says something only together with --against.")
    return _told([(path, _hashed(path, chosen, per_column)) for path in paths], as_json)


def _hashed(path: str, columns: list[str] | None, per_column: bool) -> Fingerprint:
    with at_work(path):
        found = fingerprint(path, columns=columns, per_column=per_column)
        return with_hints(found, path, columns)


def _told(found: Hashes, as_json: bool) -> ExitCode:
    failed = [path for path, each in found if each.error is not None]
    code = ExitCode.UNKNOWN if failed else ExitCode.YES
    if as_json:
        document(
            verdict=Verdict.UNKNOWN if failed else None,
            exit_code=code,
            reason=f"{len(found) - len(failed)} of {len(found)} hashed.",
            now=utc_now(),
            hashes=[_as_json(path, each) for path, each in found],
        )
    else:
        _print(found)
    return code


def _compared(
    path: str,
    columns: list[str] | None,
    per_column: bool,
    run: str,
    task: str | None,
    step: str | None,
    place: Place,
    as_json: bool,
) -> ExitCode:
    found: Hashes = []
    comparison = None
    try:
        recorded = hashagainst.find_on_record(run, path, place=place, task=task, step=step)
    except hashagainst.CannotTellError as error:
        verdict, reason = Verdict.UNKNOWN, str(error)
    else:
        with_columns = per_column or recorded.step.column_hashes is not None
        hashed = _hashed(path, columns, with_columns)
        found = [(path, hashed)]
        comparison = hashagainst.Comparison(path, recorded, hashed)
        verdict, reason = comparison.verdict, comparison.reason
    code, reason = code_of(verdict), masked_text(place.with_remark(reason))
    if as_json:
        document(
            verdict=verdict,
            exit_code=code,
            reason=reason,
            now=utc_now(),
            store=place.shown,
            hashes=[_as_json(path, each) for path, each in found],
            against=None if comparison is None else hashagainst.as_json(comparison),
        )
        return code
    if per_column:
        _print(found)
    say_verdict(verdict, reason)
    return code


def _print(found: Hashes) -> None:
    good = [(path, each) for path, each in found if each.error is None]
    if good:
        table(_COLUMNS, [_line(path, each) for path, each in good], folds=("path",))
    for path, each in good:
        if each.column_hashes is not None:
            say(f"\n{path}")
            table(("column", "data hash"), list(each.column_hashes.items()), folds=("column",))
    for path, each in found:
        if each.error is not None:
            wrong(f"{path}: {each.error}")


def _line(path: str, found: Fingerprint) -> tuple[str, ...]:
    rows = "-" if found.row_count is None else str(found.row_count)
    return (path, rows, found.data_hash or "-", found.schema_hash or "-")


def _as_json(path: str, found: Fingerprint) -> dict[str, object]:
    return {
        "path": path,
        "data_hash": found.data_hash,
        "schema_hash": found.schema_hash,
        "row_count": found.row_count,
        "hash_method": found.method,
        "hash_error": found.error,
        "route": found.route,
        "column_hashes": None if found.column_hashes is None else dict(found.column_hashes),
    }
