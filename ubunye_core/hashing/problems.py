"""Why a table has no hash, in words that never hold a value of the table."""

from __future__ import annotations

from ubunye_core.errors import MissingExtraError, UbunyeError


class UnhashableError(UbunyeError, ValueError):
    """The table has no data hash; the message names columns, types and kinds, never values."""


def quoted(name: object) -> str:
    """A column, file or type name for a message, cut when very long."""
    text = repr(str(name))
    return text if len(text) <= 80 else f"{text[:76]}...'"


def column_problem(name: str, type_text: object, error: Exception) -> UnhashableError:
    """The error of one column.

    Messages of other libraries may quote cells, so only their type is told.
    """
    if isinstance(error, UnhashableError):
        what = error.message
    elif isinstance(error, UnicodeDecodeError):
        what = "holds text that is not valid UTF-8"
    else:
        what = f"could not be written as text ({type(error).__name__})"
    return UnhashableError(f"Column {quoted(name)} ({_short(type_text)}) {what}.")


def _short(type_text: object) -> str:
    text = str(type_text)
    return text if len(text) <= 80 else f"{text[:77]}..."


def told(error: BaseException) -> str:
    """The error text of a fingerprint."""
    if isinstance(error, UnhashableError | MissingExtraError):
        return str(error)
    return f"The rows could not be read ({type(error).__name__})."


def is_interruption(error: BaseException) -> bool:
    """Whether an error is a request to stop, which a fingerprint must not swallow."""
    # A panic of a Rust library is no Exception, yet means only that this table can't be read.
    return not isinstance(error, Exception) and type(error).__name__ != "PanicException"
