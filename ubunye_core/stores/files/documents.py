"""One receipt in one file."""

from __future__ import annotations

import os
from pathlib import Path

from ubunye_core.codec import MAX_RECEIPT_BYTES, Brief, decode, decode_briefly
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
    document, found = _content(path)
    return of_document(document, path, task), found


def _content(path: str) -> tuple[bytes, os.stat_result]:
    try:
        return read_with_stat(path, at_most=MAX_RECEIPT_BYTES)
    except (FileNotFoundError, NotADirectoryError) as error:
        if os.path.islink(path):
            raise BadReceiptError(printable(path), "it is a link to nothing") from None
        raise FileNotFoundError(error.errno, error.strerror) from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise BadReceiptError(printable(path), why) from error


def look(path: str, task: str) -> tuple[Receipt | Unreadable | None, os.stat_result | None]:
    """One receipt, or why it cannot be read; None if it has gone since it was listed."""
    try:
        return read(path, task)
    except FileNotFoundError:
        return None, None
    except BadReceiptError as error:
        name = os.path.basename(path).removesuffix(SUFFIX)
        return Unreadable.of(error, task=task, run_id=name), None


def look_briefly(
    path: str, task: str, run_id: str
) -> tuple[Brief | Receipt | Unreadable | None, os.stat_result | None]:
    """``look``, for the run whose name the file bears: a success mostly in brief."""
    try:
        document, found = _content(path)
        where = printable(path)
        seen = decode_briefly(document, where=where, task=task, run_id=run_id)
        return seen if isinstance(seen, Brief) else _placed(seen, path, where, task), found
    except FileNotFoundError:
        return None, None
    except BadReceiptError as error:
        return Unreadable.of(error, task=task, run_id=run_id), None


def of_document(document: bytes, path: Path | str, task: str) -> Receipt:
    """The receipt that a document at this place holds.

    Raises:
        BadReceiptError: it is none, or that of another place.
    """
    where = printable(path)
    return _placed(decode(document, where=where), path, where, task)


def _placed(receipt: Receipt, path: Path | str, where: str, task: str) -> Receipt:
    """A receipt that stands where it belongs."""
    if receipt.run_id != os.path.basename(path).removesuffix(SUFFIX):
        raise BadReceiptError(where, "its name is not the run id that stands in it")
    if receipt.task != task:
        raise BadReceiptError(where, "its folder is not the task that stands in it")
    return receipt
