"""From lines to runs: which lines speak of one run, and what they come to."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ubunye_core.masking import masked_value
from ubunye_core.names import is_segment
from ubunye_core.questions.answer import CLOCK_SKEW
from ubunye_core.receipt import Json, Receipt, Status, Window
from ubunye_core.runids import shows_its_start
from ubunye_core.upkeep.ledger.clocks import Clocks
from ubunye_core.upkeep.ledger.lines import REFUSED, Line

KEPT_AS = "ledger"
"""The field of a receipt under which stands what only a ledger has."""
_BEST_FIRST = (
    *(Status.SUCCESS, Status.ERROR, Status.INTERRUPTED, Status.SKIPPED),
    Status.RUNNING,
)


@dataclass(frozen=True)
class Run:
    """One run, and the lines that speak of it."""

    receipt: Receipt
    line: int
    """The line that it was taken from."""
    could_be_later: bool
    """Whether the clocks showed its start twice."""
    contradicted: tuple[int, ...]
    """Lines that tell another end of it."""


@dataclass(frozen=True, kw_only=True)
class Naming:
    """What the receipts of a ledger have in common."""

    task: str
    pipeline: str | None
    """The name of the task in the ledger."""
    clocks: Clocks
    variable: str | None = None
    """The batch variable that names a window; None where none does."""
    format: str | None = None
    """How its value is written, as for ``strftime``; None for the window's name."""


def runs_of(lines: Iterable[Line], naming: Naming) -> Iterator[Run]:
    """The runs that lines speak of, the same whatever order the lines have.

    Lines of one id, window and start are one run: a success stands, whatever another line says;
    then an error, and so on. A line that says ``running`` belongs to the first end of its id and
    window that comes after it, if the length of that run allows it; what belongs to none is under
    way. Each further start is an attempt of its own, and so is another window under the same id.
    """
    by_id: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_id[line.run_id].append(line)
    for text, group in by_id.items():
        attempts = sorted(_attempts(group), key=lambda lines: _place(lines[0]))
        first = attempts[0][0]
        base = _base(text, first, naming.pipeline)
        for told in attempts:
            run_id = base if told is attempts[0] else _further(base, told[0], first, by_id)
            yield _run(told, run_id, naming)


def _place(line: Line) -> tuple[datetime, datetime]:
    return line.started_at, line.window.start


def _attempts(group: Sequence[Line]) -> Iterator[list[Line]]:
    """The lines of one id by attempt, in each the one that stands first."""
    by_window: dict[datetime, list[Line]] = defaultdict(list)
    for line in group:
        by_window[line.window.start].append(line)
    for lines in by_window.values():
        begun = sorted(
            (each for each in lines if not each.status.is_final),
            key=lambda line: (line.started_at, _standing(line)),
        )
        ends: dict[datetime, list[Line]] = defaultdict(list)
        for line in lines:
            if line.status.is_final:
                ends[line.started_at].append(line)
        for _, told in sorted(ends.items()):
            end, *others = sorted(told, key=_standing)
            before = [each for each in begun if each.started_at <= end.started_at]
            begun = begun[len(before) :]
            its_own = [each for each in before if each.started_at == end.started_at]
            its_own = its_own or [each for each in before if _may_begin(each, end)]
            if its_own != before:
                yield before[:1]
            if its_own:
                first = its_own[0]
                end = replace(end, started_at=first.started_at, could_be_later=first.could_be_later)
            yield [end, *others]
        if begun:
            yield begun[:1]


def _may_begin(begun: Line, end: Line) -> bool:
    """Whether a line that says ``running`` can be of the run that another says the end of.

    Some note the start of a run twice, some seconds apart, or the end in its place.
    """
    return end.started_at - begun.started_at <= (end.took or timedelta(0)) + CLOCK_SKEW


def _standing(line: Line) -> tuple[int, bool, str]:
    """Sorts the lines of one run: which one stands does not hang on their order in the file."""
    more = (line.took, line.error, line.who, line.triggered_by, line.rest)
    return _BEST_FIRST.index(line.status), line.is_refused, json.dumps(more, default=str)


def _base(text: str, first: Line, pipeline: str | None) -> str:
    """The run id for the first attempt: the ledger's, where that can be one."""
    if is_segment(text) and shows_its_start(text, first.started_at):
        return text
    digest = hashlib.sha256(f"{pipeline or ''}\0{text}".encode(errors="surrogatepass"))
    return f"ledger-{digest.hexdigest()[:32]}"


def _further(base: str, line: Line, first: Line, known: Container[str]) -> str:
    """The run id for a further attempt, or another window, under an id that is taken."""
    found = f"{base}.{_stamp(line.started_at)}"
    if line.window.start != first.window.start:
        found += f".{_stamp(line.window.start)}"
    if is_segment(found) and found not in known:
        return found
    return f"ledger-{hashlib.sha256(found.encode()).hexdigest()[:32]}"


def _stamp(moment: datetime) -> str:
    micro = f".{moment:%f}" if moment.microsecond else ""
    return f"{moment:%Y%m%dT%H%M%S}{micro}Z"


def _run(told: Sequence[Line], run_id: str, naming: Naming) -> Run:
    line = told[0]
    took = line.took if line.status.is_final else None
    others = [each for each in told[1:] if _says(each) != _says(line)]
    receipt = Receipt(
        task=naming.task,
        run_id=run_id,
        status=line.status,
        started_at=line.started_at,
        ended_at=None if took is None else line.started_at + took,
        duration_sec=None if took is None else took.total_seconds(),
        variables=_variables(line.window, naming),
        window=line.window,
        triggered_by=line.triggered_by,
        error=line.error,
        outcome=REFUSED if line.is_refused else None,
        extra=_kept(line, run_id, naming.pipeline, others),
    )
    return Run(receipt, line.number, line.could_be_later, tuple(each.number for each in others))


def _says(line: Line) -> tuple[Status, bool]:
    return line.status, line.is_refused


def _variables(window: Window, naming: Naming) -> dict[str, str]:
    if naming.variable is None:
        return {}
    name = naming.clocks.name_of(window) or ""
    if naming.format is not None:
        name = window.start.astimezone(naming.clocks.zone).strftime(naming.format)
    return {naming.variable: name}


def _kept(line: Line, run_id: str, pipeline: str | None, others: Sequence[Line]) -> dict[str, Json]:
    """What only the ledger has: its names, fields that are not known, ends that do not stand."""
    ends: list[Json] = [
        {"status": REFUSED if each.is_refused else each.status.value, "error": each.error}
        for each in others
    ]
    found: dict[str, Json] = {
        "pipeline": None if pipeline is None else masked_value(pipeline),
        "run_id": None if line.run_id == run_id else masked_value(line.run_id),
        "triggered_by": line.who,
        "fields": line.rest or None,
        "other_ends": ends or None,
    }
    kept: dict[str, Json] = {name: value for name, value in found.items() if value is not None}
    return {KEPT_AS: kept} if kept else {}
