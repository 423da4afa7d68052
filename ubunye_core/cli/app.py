"""The group of all commands, and how each of them ends."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from ubunye_core.cli.calendar import calendar
from ubunye_core.cli.execute import execute
from ubunye_core.cli.exits import ExitCode, code_of_error
from ubunye_core.cli.exportledger import export_ledger_file
from ubunye_core.cli.fingerprints import hash_paths
from ubunye_core.cli.health import health
from ubunye_core.cli.importledger import import_ledger_file
from ubunye_core.cli.mayrun import may_run_now
from ubunye_core.cli.morning import morning
from ubunye_core.cli.output import document, note, wrong
from ubunye_core.cli.plan import plan
from ubunye_core.cli.runs import close, list_runs, show
from ubunye_core.cli.search import search
from ubunye_core.cli.serve import serve
from ubunye_core.cli.stats import stats
from ubunye_core.cli.store import store
from ubunye_core.cli.waitfor import wait_for
from ubunye_core.cli.windows import windows
from ubunye_core.errors import UbunyeError
from ubunye_core.masking import masked_text
from ubunye_core.questions import Verdict

NAME = "ubunye-runs"


class _Commands(click.Group):
    """Ends every command with an exit code, and every error in words or as JSON."""

    def __init__(self, *args: Any, help: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, help=_as_laid_out(help), **kwargs)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        for each in (cmd, *(cmd.commands.values() if isinstance(cmd, click.Group) else ())):
            each.help = _as_laid_out(each.help)
        super().add_command(cmd, name)

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        given = list(sys.argv[1:] if args is None else args)
        logging.getLogger("ubunye_core").addHandler(_LOGGED)
        for_programs = "--json" in (given[: given.index("--")] if "--" in given else given)
        try:
            color = False if os.environ.get("NO_COLOR") else None
            code = super().main(given, prog_name=NAME, standalone_mode=False, color=color)
        except click.Abort:
            code = _failed(ExitCode.INTERRUPTED, "Interrupted.", for_programs)
        except click.ClickException as error:
            code = _misused(error, for_programs)
        except UbunyeError as error:
            code = _failed(code_of_error(error), str(error), for_programs)
        except Exception as error:
            note(masked_text(traceback.format_exc()))
            text = f"A fault of {NAME} itself: {type(error).__name__}."
            code = _failed(ExitCode.UNKNOWN, text, for_programs)
        sys.exit(int(code or 0))


def _as_laid_out(text: str | None) -> str | None:
    r"""A help text whose paragraphs marked ``\b`` keep their lines.

    click wants the character that this stands for, and a raw docstring has the two it is written
    with.
    """
    return None if text is None else re.sub(r"^( *)\\b$", "\\1\b", text, flags=re.MULTILINE)


def _misused(error: click.ClickException, for_programs: bool) -> ExitCode:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    elif for_programs:
        _failed(ExitCode.WRONG_USAGE, error.format_message(), True)
    else:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            note(error.ctx.get_usage())
            note(f"Try '{error.ctx.command_path} --help'.\n")
        wrong(error.format_message())
    return ExitCode.WRONG_USAGE


def _failed(code: ExitCode, reason: str, for_programs: bool) -> ExitCode:
    if for_programs:
        verdict = Verdict.UNKNOWN if code is ExitCode.UNKNOWN else None
        with contextlib.suppress(OSError):  # what cannot be printed keeps its exit code
            document(verdict=verdict, exit_code=code, reason=masked_text(reason))
    else:
        wrong(reason)
    return code


class _ToStandardError(logging.Handler):
    """What the library logs, for whoever runs a command."""

    def emit(self, record: logging.LogRecord) -> None:
        note(f"{record.levelname.title()}: {record.getMessage()}")


_LOGGED = _ToStandardError(logging.WARNING)


@click.group(
    cls=_Commands,
    name=NAME,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="ubunye-receipts", prog_name=NAME)
def commands() -> None:
    r"""Ask the receipts of scheduled data jobs. The exit code is the answer.

    \b
    0  yes
    1  no
    2  wrong usage or configuration: no answer
    3  unknown: something that could change the answer could not be read

    The store is named by --store URL, or by the environment variable UBUNYE_STORE.
    """


for _command in (
    morning,
    health,
    wait_for,
    windows,
    plan,
    stats,
    calendar,
    may_run_now,
    list_runs,
    search,
    show,
    close,
    execute,
    hash_paths,
    import_ledger_file,
    export_ledger_file,
    serve,
    store,
):
    commands.add_command(_command)


def main() -> NoReturn:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show is no fault
            stream.reconfigure(errors="backslashreplace")
    commands.main()
