"""Exit codes: what a shell, a scheduler or a step of a pipeline sees of an answer."""

from __future__ import annotations

from enum import IntEnum

from ubunye_core.errors import (
    BadReceiptError,
    ReceiptConflictError,
    ReceiptNotFoundError,
    StoreUnavailableError,
    UbunyeError,
)
from ubunye_core.questions import UpstreamNotMetError, Verdict


class ExitCode(IntEnum):
    """What the command line ends with."""

    YES = 0
    NO = 1
    WRONG_USAGE = 2
    UNKNOWN = 3
    INTERRUPTED = 130
    """Ctrl-C, as in a shell."""


_OF_VERDICT = {
    Verdict.PASS: ExitCode.YES,
    Verdict.FAIL: ExitCode.NO,
    Verdict.UNKNOWN: ExitCode.UNKNOWN,
}


def code_of(verdict: Verdict) -> ExitCode:
    """The exit code that says a verdict."""
    return _OF_VERDICT[verdict]


def code_of_error(error: UbunyeError) -> ExitCode:
    """The exit code for an error that ends a command.

    A run that is not there is a no. What could not be read is unknown. Everything else is for
    somebody to fix.
    """
    if isinstance(error, UpstreamNotMetError):
        return code_of(error.answer.verdict)
    if isinstance(error, ReceiptNotFoundError | ReceiptConflictError):
        return ExitCode.NO
    if isinstance(error, StoreUnavailableError | BadReceiptError):
        return ExitCode.UNKNOWN
    return ExitCode.WRONG_USAGE
