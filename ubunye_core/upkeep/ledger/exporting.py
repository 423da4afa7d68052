"""Export receipts as a ledger: what its fields can hold, for programs that read one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TextIO

from ubunye_core.batch import comparable
from ubunye_core.config import path_given
from ubunye_core.errors import ConfigError
from ubunye_core.names import check_task, one_of
from ubunye_core.questions.tally import measured_length
from ubunye_core.receipt import Json, Receipt, Status
from ubunye_core.schedules.periods import Period
from ubunye_core.stores import ReceiptStore, Unreadable
from ubunye_core.stores.url import store_of
from ubunye_core.times import instant
from ubunye_core.upkeep.ledger.clocks import Clocks, NoSuchTimeError
from ubunye_core.upkeep.ledger.importing import Told
from ubunye_core.upkeep.ledger.lines import REFUSED, masked_fields, trigger_as_text
from ubunye_core.upkeep.ledger.runs import KEPT_AS
from ubunye_core.upkeep.reading import receipts_of

_WORDS = {Status.ERROR: "failed"}


@dataclass(frozen=True, kw_only=True)
class NotExported:
    """A run that no line of a ledger can hold."""

    run_id: str
    why: str


@dataclass(frozen=True, kw_only=True)
class ExportedLedger:
    """What an export did. True when every receipt of the task is in the ledger."""

    task: str
    source: str
    """The store, without secrets."""
    lines: int = 0
    refused: tuple[NotExported, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()

    def __bool__(self) -> bool:
        return not (self.refused or self.unreadable)


def export_ledger(
    file: Path | str | TextIO,
    *,
    task: str,
    time_zone: str,
    store: ReceiptStore | str | None = None,
    window: Period | str = Period.DAY,
    variable: str | None = None,
    pipeline: str | None = None,
    since: datetime | str | None = None,
    told: Told | None = None,
) -> ExportedLedger:
    """Write a line for each receipt of a task, the oldest first.

    ``import_ledger`` makes the same runs of them: with their status, start, length, window,
    trigger, error, and what it kept. A ledger holds neither hashes nor variables.

    Args:
        file: A new file, or something open for text.
        task: The task.
        time_zone: The zone whose clocks the ledger shows, by its IANA name.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        window: What a window is: ``hour``, ``day``, ``week`` or ``month``.
        variable: The variable that names the window of a run that has none of its own.
        pipeline: The ledger's name of the task; by default the one it was imported by, else the
            task.
        since: Only runs that started at this instant or later.
        told: Called with what is being done, and how many so far.

    Raises:
        ConfigError: an argument is wrong, or the file is there already.
        StoreUnavailableError: the store could not be read.
    """
    check_task(task)
    opened, clocks = store_of(store), Clocks(time_zone, one_of(Period, window, "window"))
    first = None if since is None else instant(since, what="since")
    found: list[Receipt] = []
    unreadable: list[Unreadable] = []
    for each in receipts_of(opened, task) if first is None else _since(opened, task, first):
        if isinstance(each, Receipt):
            found.append(each)
        else:
            unreadable.append(each)
        if told is not None:
            told("Reading receipts", len(found))
    lines: list[dict[str, Json]] = []
    refused = []
    for receipt in sorted(found, key=lambda each: each.order):
        name = _window_name(receipt, clocks, variable)
        if name is None:
            refused.append(NotExported(run_id=receipt.run_id, why=_why_not(receipt, clocks)))
        else:
            lines.append(_line(receipt, name, clocks, pipeline))
    _write(file, lines)
    return ExportedLedger(
        task=task,
        source=opened.url,
        lines=len(lines),
        refused=tuple(refused),
        unreadable=tuple(unreadable),
    )


def _since(store: ReceiptStore, task: str, first: datetime) -> list[Receipt | Unreadable]:
    found = store.search(task, since=first)
    return [*found, *found.unreadable]


def _window_name(receipt: Receipt, clocks: Clocks, variable: str | None) -> str | None:
    if receipt.window is not None:
        return clocks.name_of(receipt.window)
    value = None if variable is None else comparable(receipt.variables).get(variable)
    if value is None:
        return None
    try:
        return clocks.name_of(clocks.window_of(value))
    except NoSuchTimeError:
        return None


def _why_not(receipt: Receipt, clocks: Clocks) -> str:
    if receipt.window is None:
        return "it has no window, and no variable names one"
    return f"its window is no whole {clocks.window} of {clocks.time_zone}"


def _line(receipt: Receipt, window: str, clocks: Clocks, pipeline: str | None) -> dict[str, Json]:
    kept = receipt.extra.get(KEPT_AS)
    kept = kept if isinstance(kept, dict) else {}
    rest = kept.get("fields")
    by = receipt.triggered_by
    length = _length(receipt)
    line: dict[str, Json] = {
        "run_id": kept.get("run_id") or receipt.run_id,
        "pipeline": pipeline or kept.get("pipeline") or receipt.task,
        "window": window,
        "status": REFUSED if receipt.was_refused else _WORDS.get(receipt.status, receipt.status),
        "actual_start": clocks.shown(receipt.started_at),
        "durasi_menit": None if length is None else _minutes(length),
        "triggered_by": kept.get("triggered_by") or (None if by is None else trigger_as_text(by)),
    }
    if receipt.error is not None:
        line["galat"] = receipt.error
    if isinstance(rest, Mapping):
        line |= {name: each for name, each in masked_fields(rest).items() if name not in line}
    return line


def _length(receipt: Receipt) -> timedelta | None:
    """How long an ended run took, where that can be."""
    has_ended = receipt.ended_at is not None or receipt.status.is_final
    return measured_length(receipt) if has_ended else None


def _minutes(length: timedelta) -> int | float:
    minutes = length / timedelta(minutes=1)
    return int(minutes) if minutes.is_integer() else minutes


def _write(file: Path | str | TextIO, lines: list[dict[str, Json]]) -> None:
    texts = (f"{json.dumps(line)}\n" for line in lines)
    if not isinstance(file, Path | str):
        file.writelines(texts)
        return
    path = path_given(file)
    try:
        with path.open("x", encoding="utf-8") as new:
            _write_or_remove(path, new, texts)
    except FileExistsError:
        raise ConfigError(
            f"{path} is there already.", hint="Name a new file: a ledger is never overwritten."
        ) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error


def _write_or_remove(path: Path, new: TextIO, texts: Iterable[str]) -> None:
    """Write a new file, or leave none: half a ledger looks like a whole one."""
    try:
        new.writelines(texts)
        new.flush()
    except BaseException:
        path.unlink()
        raise
