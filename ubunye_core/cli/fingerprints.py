"""``ubunye-runs hash``: the hash of every row of a table, the same wherever it is taken."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ubunye_core.cli import options
from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.output import clean, document, is_terminal, note, wrong
from ubunye_core.cli.tables import table
from ubunye_core.hashing import Fingerprint, fingerprint
from ubunye_core.questions import Verdict
from ubunye_core.times import utc_now

_QUIET_SECONDS = 10.0
_COLUMNS = ("path", "rows", "data hash", "schema hash")


@click.command("hash")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--columns", metavar="A,B", help="Hash these columns only.")
@options.as_json
def hash_paths(paths: tuple[str, ...], columns: str | None, as_json: bool) -> ExitCode:
    r"""Hash every row of Parquet and CSV files or folders by rows-v1.

    The order of rows and of columns does not matter. Of what cannot be hashed, the reason is
    told, and the exit code is 3.

    \b
    Examples:
      ubunye-runs hash adults.parquet
      ubunye-runs hash before/ after/ --columns id,amount --json
    """
    chosen = None if columns is None else [name.strip() for name in columns.split(",")]
    found = []
    for path in paths:
        with _at_work(path):
            found.append((path, fingerprint(path, columns=chosen)))
    failed = [(path, each.error) for path, each in found if each.error is not None]
    code = ExitCode.UNKNOWN if failed else ExitCode.YES
    if as_json:
        document(
            verdict=Verdict.UNKNOWN if failed else None,
            exit_code=code,
            reason=f"{len(found) - len(failed)} of {len(found)} hashed.",
            now=utc_now(),
            hashes=[_as_json(path, each) for path, each in found],
        )
        return code
    good = [(path, each) for path, each in found if each.error is None]
    if good:
        table(_COLUMNS, [_line(path, each) for path, each in good], folds=("path",))
    for path, error in failed:
        wrong(f"{path}: {error}")
    return code


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
    }


@contextmanager
def _at_work(path: str) -> Iterator[None]:
    """Tell people, on standard error, that a long hash goes on."""
    if is_terminal(sys.stderr):
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status(Text(f"Hashing {clean(path)}")):
            yield
        return
    timer = threading.Timer(_QUIET_SECONDS, note, [f"Hashing {path}: this takes a while."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
