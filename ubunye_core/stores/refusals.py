"""What every store refuses in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ubunye_core.errors import (
    AmbiguousRunError,
    BadReceiptError,
    ReceiptConflictError,
    ReceiptNotFoundError,
)


def only_run(fitting: Sequence[str], run_id: str, *, task: str, url: str) -> str:
    """The one run of a task that ``run_id`` is the id of, or a beginning of its id.

    Args:
        fitting: The ids that begin like this; the order is kept in the error.
        run_id: What was asked for.
        task: Its task.
        url: The store's, for the error.

    Raises:
        ReceiptNotFoundError: none fits.
        AmbiguousRunError: several fit, and none of them is the whole id.
    """
    if run_id in fitting:
        return run_id
    if not fitting:
        raise not_found(run_id, task=task, url=url)
    if len(fitting) > 1:
        raise AmbiguousRunError(run_id, fitting)
    return fitting[0]


def not_found(run_id: str, *, task: str, url: str) -> ReceiptNotFoundError:
    """That a store holds no such run."""
    return ReceiptNotFoundError(f"{url} holds no run '{run_id}' of {task}.")


def raise_if_refused(refused: Sequence[ReceiptConflictError | BadReceiptError]) -> None:
    """The end of ``save_many``: names the first receipt that was refused, and how many were.

    Raises:
        ReceiptConflictError: some were.
    """
    if refused:
        raise ReceiptConflictError(
            f"Not recorded: {len(refused)} of the receipts. The first: {refused[0]}"
        ) from refused[0]


def printable(place: Path | str) -> str:
    """A place for people and JSON, on one line, also where its name is not text."""
    text = str(place).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
