"""One receipt in one file."""

from __future__ import annotations

import os
from pathlib import Path

from ubunye_core.codec import MAX_RECEIPT_BYTES, decode
from ubunye_core.errors import BadReceiptError
from ubunye_core.receipt import Receipt
from ubunye_core.stores.atomic import read_with_stat
from ubunye_core.stores.files.place import SUFFIX
from ubunye_core.stores.protocol import Unreadable
from ubunye_core.stores.refusals import printable


def read(path: str, task: str) -> tuple[Receipt, os.stat_result]:
    """The receipt in a file of a task's folder, and what the system said of the file.

    Raises:
        FileNotFoundError: there is none.
        BadReceiptError: it cannot be read, or is not the receipt that its place says.
    """
    try:
        document, found = read_with_stat(path, at_most=MAX_RECEIPT_BYTES)
    except (FileNotFoundError, NotADirectoryError) as error:
        if os.path.islink(path):
            raise BadReceiptError(printable(path), "it is a link to nothing") from None
        raise FileNotFoundError(error.errno, error.strerror) from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise BadReceiptError(printable(path), why) from error
    return of_document(document, path, task), found


def look(path: str, task: str) -> tuple[Receipt | Unreadable | None, os.stat_result | None]:
    """One receipt, or why it cannot be read; None if it has gone since it was listed."""
    try:
        return read(path, task)
    except FileNotFoundError:
        return None, None
    except BadReceiptError as error:
        name = os.path.basename(path).removesuffix(SUFFIX)
        return Unreadable.of(error, task=task, run_id=name), None


def of_document(document: bytes, path: Path | str, task: str) -> Receipt:
    """The receipt that a document at this place holds.

    Raises:
        BadReceiptError: it is none, or that of another place.
    """
    where = printable(path)
    receipt = decode(document, where=where)
    if receipt.run_id != os.path.basename(path).removesuffix(SUFFIX):
        raise BadReceiptError(where, "its name is not the run id that stands in it")
    if receipt.task != task:
        raise BadReceiptError(where, "its folder is not the task that stands in it")
    return receipt
