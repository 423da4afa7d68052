"""From a receipt to its row, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from ubunye_core.batch import Batch, comparable
from ubunye_core.codec import decode, encode
from ubunye_core.errors import BadReceiptError
from ubunye_core.masking import MASK, comparable_value, is_secret_name
from ubunye_core.receipt import Orchestrator, Receipt
from ubunye_core.runids import time_in
from ubunye_core.stores.protocol import Unreadable
from ubunye_core.times import instant_of, microseconds

SEALED = (
    "task", "run_id", "status", "started_at", "ended_at", "window_start", "window_end", "pairs",
)  # fmt: skip

Told = str | int | None
"""What stands in a column."""

MOST_PAIRS = 16
"""So many variables are looked for in the index."""
_KINDS: Mapping[type, int] = {str: 1, bytes: 2}
"""SQLite sorts texts after all numbers, and bytes after all texts."""


micros, moment_of = microseconds, instant_of


def row_of(receipt: Receipt) -> dict[str, Any]:
    """The row of a receipt."""
    document = encode(receipt)
    return drawn(receipt, document) | {"document": document.decode("ascii")}


def drawn(receipt: Receipt, document: bytes) -> dict[str, Any]:
    """The columns that are drawn from a receipt, which stands in this document."""
    window, attempt = receipt.window, receipt.orchestrator
    row: dict[str, Any] = {
        "task": receipt.task,
        "run_id": receipt.run_id,
        "status": receipt.status.value,
        "started_at": micros(receipt.started_at),
        "ended_at": None if receipt.ended_at is None else micros(receipt.ended_at),
        "window_start": None if window is None else micros(window.start),
        "window_end": None if window is None else micros(window.end),
        "batch_key": receipt.batch.digest,
        "attempt_key": None if attempt is None else attempt_key(attempt),
        "pairs": " ".join(map(str, pairs_of(receipt))),
    }
    sealed = tuple(row[name] for name in SEALED)
    return row | {"seal": seal_of(len(document), *sealed)}


def seal_of(
    size: int, task: Told, run_id: Told, status: Told, started: Told, ended: Told, start: Told,
    end: Told, pairs: Told,
) -> str:  # fmt: skip
    """What shows that the columns that are told unread were not changed, nor the document cut.

    ``size`` is how many bytes the document has, which a database tells without reading it; the
    others are ``SEALED``, in this order.
    """
    # As str writes the tuple, which takes longer.
    text = (
        f"({task!r}, {run_id!r}, {status!r}, {started!r}, {ended!r}, {start!r}, {end!r}, "
        f"{pairs!r}) {size}"
    )
    return sha256(text.encode()).hexdigest()[:32]


def attempt_key(attempt: Orchestrator) -> str:
    """The same for all receipts of one attempt of a scheduler."""
    name, ids = attempt.scheduled_run
    return sha256(json.dumps([name, ids, attempt.attempt]).encode()).hexdigest()


def pair_of(name: str, text: str) -> int:
    """A variable and its value as a number: text that a database cannot hold can be asked for."""
    digest = sha256(json.dumps([name, text]).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def pairs_of(receipt: Receipt) -> list[int]:
    """The numbers of a receipt's variables; of those that can equal anything."""
    texts = comparable(receipt.variables)
    return sorted({pair_of(name, text) for name, text in texts.items() if text != MASK})


def pairs_wanted(batch: Mapping[str, str]) -> Sequence[int] | None:
    """Numbers that a receipt must have to agree with a batch; None where none can agree.

    Of very many variables a few find it as well, and each row is compared whole once it is read.
    """
    texts = {name: comparable_value(text) for name, text in batch.items()}
    if any(text == MASK or is_secret_name(name) for name, text in texts.items()):
        return None
    return sorted({pair_of(name, text) for name, text in texts.items()})[:MOST_PAIRS]


def batch_key(batch: Mapping[str, str]) -> str:
    """The key of receipts whose whole batch is this one."""
    return Batch.of(batch).digest


@dataclass(frozen=True)
class Stored:
    """One row of the table of receipts."""

    task: str
    run_id: str
    status: str | None
    started_at: int | None
    ended_at: int | None
    document: bytes

    @property
    def order(self) -> tuple[int, str, str]:
        """Its place among all rows; only for rows that say when their run started."""
        return (self.started_at or 0, self.run_id, self.task)

    @property
    def place(self) -> tuple[int, int, str, str]:
        """Its place also where somebody wrote a start that is no number, which SQLite keeps."""
        return (_KINDS.get(type(self.started_at), 0), *self.order)

    def receipt(self, url: str) -> Receipt:
        """The receipt that it holds.

        Raises:
            BadReceiptError: its document is no receipt, or not that of its columns.
        """
        where = _printable(f"{url} {self.task} {self.run_id}")
        receipt = decode(self.document, where=where)
        if (receipt.task, receipt.run_id) != (self.task, self.run_id):
            raise BadReceiptError(where, "its row is not the task and run id that stand in it")
        if self.status is None:
            return receipt
        ended_at = None if receipt.ended_at is None else micros(receipt.ended_at)
        said = (receipt.status.value, micros(receipt.started_at), ended_at)
        if said != (self.status, self.started_at, self.ended_at):
            raise BadReceiptError(where, "the columns of its row say something else")
        return receipt

    def read(self, url: str) -> Receipt | Unreadable:
        """The receipt that it holds, or why it cannot be read."""
        try:
            return self.receipt(url)
        except BadReceiptError as error:
            return Unreadable(
                where=error.where, why=error.why, task=self.task, started_at=self._shown_start()
            )

    def _shown_start(self) -> datetime | None:
        """When its run started, by its name or else by its column."""
        shown = time_in(self.run_id)
        if shown is not None or self.started_at is None:
            return shown
        try:
            return moment_of(self.started_at)
        except (OverflowError, TypeError):
            return None


def _printable(text: str) -> str:
    return text if text.isprintable() else repr(text)[1:-1]
