"""Import a ledger of runs: its lines become receipts, and stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ubunye_core.batch import texts_of
from ubunye_core.codec.fields import WrongFieldError
from ubunye_core.config import path_given
from ubunye_core.errors import ConfigError
from ubunye_core.masking import is_secret_name, masked_value
from ubunye_core.names import check_task, one_of
from ubunye_core.receipt import Receipt, Status, Window
from ubunye_core.schedules.periods import Period
from ubunye_core.stores import MemoryStore, ReceiptStore, Unreadable
from ubunye_core.stores.url import store_of
from ubunye_core.times import check_format
from ubunye_core.upkeep.copy import CopiedStore, copy_store
from ubunye_core.upkeep.ledger.clocks import Clocks
from ubunye_core.upkeep.ledger.lines import BadLine, Line, document_of, lines_of, read_line
from ubunye_core.upkeep.ledger.runs import Naming, Run, runs_of

Told = Callable[[str, int], None]
"""Told of progress: ``Reading lines`` or ``Saving receipts``, and how many so far."""


@dataclass(frozen=True, kw_only=True)
class NotImported:
    """A run that the store does not take, or knows another end of."""

    run_id: str
    line: int
    why: str


@dataclass(frozen=True, kw_only=True)
class ImportedLedger:
    """What an import did. True when every line was read and every run is in the store."""

    task: str
    pipeline: str | None
    """The task's name in the ledger."""
    target: str
    """The store, without secrets."""
    dry_run: bool
    """Whether nothing was written; the numbers then say what would be."""
    lines: int = 0
    """How many lines of this pipeline there are, bad ones included."""
    of_others: int = 0
    """How many lines are of other pipelines."""
    runs: int = 0
    """How many runs the lines speak of."""
    added: int = 0
    """How many receipts were written."""
    same: int = 0
    """How many were there before, the same."""
    ahead: int = 0
    """Runs of which the store knows a later word; that stands."""
    running: int = 0
    """How many of all runs say ``running``."""
    shown_twice: tuple[int, ...] = ()
    """Lines whose start the clocks showed twice: it was read as the first time."""
    contradictions: tuple[int, ...] = ()
    """Lines that tell another end of a run than the one that stands."""
    bad: tuple[BadLine, ...] = ()
    refused: tuple[NotImported, ...] = ()
    remark: str = ""

    def __bool__(self) -> bool:
        return not (self.bad or self.refused)


def import_ledger(
    file: Path | str,
    *,
    task: str,
    time_zone: str,
    store: ReceiptStore | str | None = None,
    window: Period | str = Period.DAY,
    variable: str | None = None,
    format: str | None = None,
    pipeline: str | None = None,
    dry_run: bool = False,
    told: Told | None = None,
) -> ImportedLedger:
    """Make receipts of the lines of a ledger. The file stays as it is.

    The same line makes the same receipt: a second import adds nothing, and one after lines were
    added adds those. A line that cannot be read is named, and the others are imported.

    Args:
        file: JSON lines with ``run_id``, ``window``, ``status``, ``actual_start``, and where they
            are known ``pipeline``, ``durasi_menit`` (minutes), ``triggered_by`` and ``galat`` (the
            error). Further fields are kept.
        task: The task that its runs are of.
        time_zone: The zone whose clocks it shows, by its IANA name.
        store: Where the receipts go: a store or its URL; by default what ``UBUNYE_STORE`` names.
        window: What a window is: ``hour``, ``day``, ``week`` or ``month``.
        variable: The batch variable that names a window, for guards and gates; None for none.
        format: How its value is written, as for ``strftime``; by default like a window's name.
        pipeline: The ledger's name of the task. Needed where lines have several.
        dry_run: Write nothing, and say what would be written.
        told: Called with what is being done, and how many so far.

    Raises:
        ConfigError: an argument is wrong, or the file cannot be read.
        StoreUnavailableError: the store could not be read or written. Import again, and it goes on.
    """
    check_task(task)
    goal, clocks = store_of(store), Clocks(time_zone, one_of(Period, window, "window"))
    _check_variable(variable, format)
    reading = _Reading(clocks, pipeline, told or _nobody)
    lines = reading.lines(path_given(file))
    naming = Naming(
        task=task, pipeline=reading.pipeline, clocks=clocks, variable=variable, format=format
    )
    runs = {run.receipt.run_id: run for run in runs_of(lines, naming)}
    read = len(lines) + len(reading.bad)
    del lines  # they take more memory than the runs
    _check_values(runs.values(), naming)
    copied = _save([run.receipt for run in runs.values()], goal, dry_run, told or _nobody)
    refused = sorted((*copied.refused, *copied.missing), key=lambda each: runs[each.run_id].line)
    return ImportedLedger(
        task=task,
        pipeline=None if reading.pipeline is None else masked_value(reading.pipeline),
        target=goal.url,
        dry_run=dry_run,
        lines=read,
        of_others=reading.of_others,
        runs=len(runs),
        added=copied.copied,
        same=copied.same,
        ahead=copied.ahead,
        running=sum(run.receipt.status is Status.RUNNING for run in runs.values()),
        shown_twice=tuple(sorted(run.line for run in runs.values() if run.could_be_later)),
        contradictions=tuple(sorted(at for run in runs.values() for at in run.contradicted)),
        bad=tuple(reading.bad),
        refused=tuple(
            NotImported(run_id=each.run_id, line=runs[each.run_id].line, why=each.why)
            for each in refused
        ),
        remark=copied.remark,
    )


def _nobody(doing: str, number: int) -> None:
    """Tells nobody."""


def _check_variable(variable: str | None, format: str | None) -> None:
    if variable is None:
        if format is not None:
            raise ConfigError("A 'format' is given and no 'variable'.")
        return
    texts_of({variable: ""})
    if format is not None:
        check_format(format)
    if is_secret_name(variable):
        raise ConfigError(f"The variable {variable} is masked in every receipt: it names nothing.")


def _check_values(runs: Iterable[Run], naming: Naming) -> None:
    """Refuse a format by which a success would count for other windows too."""
    if naming.variable is None:
        return
    windows: dict[object, Window] = {}
    for run in runs:
        value, window = run.receipt.variables[naming.variable], run.receipt.window
        if window is not None and windows.setdefault(value, window) != window:
            raise ConfigError(
                f"By the format {naming.format!r} several windows are {naming.variable}={value}.",
                hint="Give one that tells them apart, or none.",
            )


class _Reading:
    """Reads the lines of one pipeline, and what is wrong with the others."""

    def __init__(self, clocks: Clocks, pipeline: str | None, told: Told) -> None:
        self._clocks, self._wanted, self._told = clocks, pipeline, told
        self._pipelines: dict[str | None, int] = {}
        self.bad: list[BadLine] = []
        self.of_others = 0

    @property
    def pipeline(self) -> str | None:
        """The pipeline that the lines are of."""
        return self._wanted if self._wanted is not None else next(iter(self._pipelines), None)

    def lines(self, file: Path) -> list[Line]:
        """The lines that can be read.

        Raises:
            ConfigError: the file cannot be read, or nothing says which of several pipelines is
                meant.
        """
        found = []
        for number, raw in lines_of(file):
            self._told("Reading lines", number)
            try:
                fields = document_of(raw)
                if self._is_wanted(fields.optional_text("pipeline"), number):
                    found.append(read_line(number, fields, self._clocks))
            except WrongFieldError as error:
                self.bad.append(BadLine(number=number, why=str(error)))
        if len(self._pipelines) > 1:
            named = ", ".join(f"{name} (line {at})" for name, at in self._first())
            raise ConfigError(
                f"The ledger has lines of {len(self._pipelines)} pipelines: {named}.",
                hint="Say which one is the task: --pipeline NAME on the command line.",
            )
        if self._wanted is not None and self.of_others and not found and not self.bad:
            wanted = masked_value(self._wanted)
            raise ConfigError(f"The ledger has no line of the pipeline {wanted!r}.")
        return found

    def _is_wanted(self, pipeline: str | None, number: int) -> bool:
        if self._wanted is None:
            self._pipelines.setdefault(pipeline, number)
            return True
        self.of_others += pipeline != self._wanted
        return pipeline == self._wanted

    def _first(self) -> list[tuple[str, int]]:
        first = list(self._pipelines.items())[:5]
        return [(masked_value(name or "(none)"), at) for name, at in first]


class _Runs(MemoryStore):
    """Receipts as a store to copy from, which gives out what it was given."""

    def __init__(self, receipts: Sequence[Receipt]) -> None:
        super().__init__()
        self._receipts = receipts

    def tasks(self) -> list[str]:
        return sorted({receipt.task for receipt in self._receipts})

    def scan(self, task: str) -> Iterator[Receipt | Unreadable]:
        return (receipt for receipt in self._receipts if receipt.task == task)


def _save(
    receipts: Sequence[Receipt], goal: ReceiptStore, dry_run: bool, told: Told
) -> CopiedStore:
    """Copy the receipts into the store, by the rules of a copy."""
    if not receipts:
        return CopiedStore(source="", target=goal.url, dry_run=dry_run)
    return copy_store(
        _Runs(receipts),
        goal,
        dry_run=dry_run,
        told=lambda _, number: told("Saving receipts", number),
    )
