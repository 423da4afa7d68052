"""The lines of a ledger: what each says of a run, and why it may say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path

from ubunye_core.codec.fields import Fields, WrongFieldError
from ubunye_core.codec.reading import MAX_DEPTH, parse_object
from ubunye_core.errors import ConfigError
from ubunye_core.masking import (
    MASK,
    MAX_ERROR_TEXT,
    clean_text,
    is_secret_name,
    masked_text,
    masked_value,
)
from ubunye_core.receipt import Json, Status, TriggeredBy, TriggerKind, Window
from ubunye_core.times import LONGEST
from ubunye_core.upkeep.ledger.clocks import Clocks, NoSuchTimeError

MAX_LINE_BYTES = 1024 * 1024
ASSERTED_BY = "ledger"
REFUSED = "refused"
SCHEDULER = "scheduler"
STATUSES = {
    "success": Status.SUCCESS,
    "failed": Status.ERROR,
    "error": Status.ERROR,
    "running": Status.RUNNING,
    "interrupted": Status.INTERRUPTED,
    "skipped": Status.SKIPPED,
    REFUSED: Status.SKIPPED,
}
_KINDS = {SCHEDULER: TriggerKind.SCHEDULE, **{kind.value: kind for kind in TriggerKind}}
_HOW_WHY = re.compile(r"\((?P<kind>\w+)(?:,\s*(?:alasan|reason)\s*:\s*|\)\Z)")
_DEEPEST = MAX_DEPTH - 4  # what is kept of a line lies so much deeper in its receipt


@dataclass(frozen=True, kw_only=True)
class BadLine:
    """A line that was not imported."""

    number: int
    """Counted from 1."""
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """What one line says of a run."""

    number: int
    run_id: str
    """As the ledger has it, which may be no run id of ours."""
    window: Window
    status: Status
    is_refused: bool
    started_at: datetime
    could_be_later: bool
    """Whether the clocks showed its start twice."""
    took: timedelta | None
    triggered_by: TriggeredBy | None
    who: str | None
    """The trigger as it is written, where that says more than ``triggered_by``."""
    error: str | None
    rest: dict[str, Json]
    """The fields that are not known, without secrets."""


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each line of a file that holds anything, with its number; of a longer one a beginning.

    Raises:
        ConfigError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 2):
                number += 1
                end = line
                while end and not end.endswith(b"\n"):  # what is too long is not held
                    end = file.readline(MAX_LINE_BYTES)
                if line.strip():
                    yield number, line
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error


def document_of(line: bytes) -> Fields:
    """The fields of a line. Raises ``WrongFieldError`` where it is no JSON object."""
    if len(line) > MAX_LINE_BYTES:
        raise WrongFieldError(f"it has more than {MAX_LINE_BYTES:,} bytes")
    return Fields(parse_object(line, depth=_DEEPEST))


def read_line(number: int, fields: Fields, clocks: Clocks) -> Line:
    """What a line says.

    Args:
        number: Its number.
        fields: What it holds; ``pipeline`` was asked for.
        clocks: How its times and windows are read.

    Raises:
        WrongFieldError: a field is missing or wrong. Its text shows no value.
    """
    word = fields.text("status").strip().lower()
    if word not in STATUSES:
        raise WrongFieldError(f"'status' is none of {', '.join(STATUSES)}")
    started_at, could_be_later = _start(fields, clocks)
    who = fields.optional_text("triggered_by")
    triggered_by = None if who is None else trigger_of(who)
    is_told = triggered_by is not None and trigger_as_text(triggered_by) == who
    status = STATUSES[word]
    return Line(
        number=number,
        run_id=_run_id(fields),
        window=_window(fields, clocks),
        status=status,
        is_refused=word == REFUSED,
        started_at=started_at,
        could_be_later=could_be_later,
        took=_took(fields),
        triggered_by=triggered_by,
        who=None if who is None or is_told else masked_text(who),
        error=_error(fields, status),
        rest=masked_fields(fields.rest()),
    )


def _run_id(fields: Fields) -> str:
    try:
        found = fields.text("run_id").strip()
    except WrongFieldError:
        number = fields.optional_integer("run_id")  # some count their runs
        if number is None:
            raise
        found = str(number)
    if not found:
        raise WrongFieldError("'run_id' is empty")
    return found


def _start(fields: Fields, clocks: Clocks) -> tuple[datetime, bool]:
    try:
        return clocks.instant(fields.text("actual_start").strip())
    except NoSuchTimeError as error:
        raise WrongFieldError(f"'actual_start' {error}") from None


def _window(fields: Fields, clocks: Clocks) -> Window:
    try:
        return clocks.window_of(fields.text("window").strip())
    except NoSuchTimeError as error:
        raise WrongFieldError(f"'window' {error}") from None


def _took(fields: Fields) -> timedelta | None:
    minutes = fields.optional_number("durasi_menit")
    if minutes is None:
        return None
    if not 0 <= minutes <= LONGEST / timedelta(minutes=1):
        raise WrongFieldError("'durasi_menit' is no length of time in minutes")
    return timedelta(minutes=minutes)


@lru_cache(maxsize=256)
def trigger_of(text: str) -> TriggeredBy:
    """Who started a run, from ``scheduler``, a name, or ``name (manual, alasan: ...)``."""
    text = text.strip()
    kind = _KINDS.get(text.lower())
    if kind is not None:
        return TriggeredBy(kind=kind, asserted_by=ASSERTED_BY)
    # A search for the first "(" that fits, and no pattern of the whole: a line may be long.
    found = _HOW_WHY.search(text) if text.endswith(")") else None
    kind = None if found is None else _KINDS.get(found["kind"].lower())
    if found is None or kind is None:  # a name alone: no schedule signs its runs
        actor = clean_text(text) or None
        return TriggeredBy(kind=TriggerKind.MANUAL, actor=actor, asserted_by=ASSERTED_BY)
    return TriggeredBy(
        kind=kind,
        actor=clean_text(text[: found.start()]) or None,
        asserted_by=ASSERTED_BY,
        reason=clean_text(text[found.end() : -1]) or None,
    )


def trigger_as_text(by: TriggeredBy) -> str:
    """Who started a run, as ``trigger_of`` reads it."""
    if by.actor is None and by.reason is None:
        return SCHEDULER if by.kind is TriggerKind.SCHEDULE else by.kind.value
    why = f", alasan: {by.reason}" if by.reason else ""
    return f"{by.actor or ''} ({by.kind.value}{why})".lstrip()


def _error(fields: Fields, status: Status) -> str | None:
    """Why a run did not succeed, without secrets.

    Of an error the first line, at most 300 characters of it; why a run was skipped or closed
    somebody wrote for others to read.
    """
    text = clean_text(fields.optional_text("galat") or "")
    if status in (Status.SKIPPED, Status.INTERRUPTED):
        return text or None
    line = text.partition("\n")[0].rstrip()
    return (line if len(line) <= MAX_ERROR_TEXT else line[: MAX_ERROR_TEXT - 3] + "...") or None


def masked_fields(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Fields without secrets, neither in their values nor in their names."""
    return {masked_value(name): masked_json(value, name) for name, value in fields.items()}


def masked_json(value: Json, name: str = "") -> Json:
    """A value without secrets: those of names that look secret, and those in texts."""
    if value is not None and is_secret_name(name):
        return MASK
    match value:
        case str():
            return masked_text(value)
        case list():
            return [masked_json(each) for each in value]
        case dict():
            return masked_fields(value)
        case _:
            return value
