"""A success from its document, without the parts that nobody asks for.

To make a receipt with all its steps takes longer than all else that is done with its document.
Here each field is looked at by its type alone. What is not plainly right, be it wrong or only
rare, is left to the reader of whole receipts, which says what is the matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ubunye_core.batch import Scalar
from ubunye_core.codec.fields import WrongFieldError
from ubunye_core.codec.reading import (
    KINDS,
    READ_VERSIONS,
    parse_object,
    receipt_of,
)
from ubunye_core.errors import BadReceiptError
from ubunye_core.names import is_segment
from ubunye_core.receipt import Receipt
from ubunye_core.runids import shows_its_start
from ubunye_core.times import LONGEST, as_utc, microseconds


class Brief(NamedTuple):
    """What the receipt of a success says of its run. Instants are microseconds since 1970."""

    started: int
    ended: int
    window: tuple[int, int] | None
    variables: Mapping[str, Scalar]
    rows: int | None
    """How many rows it wrote, where it says so."""


def decode_briefly(document: bytes, *, where: str, task: str, run_id: str) -> Brief | Receipt:
    """The receipt that a stored document holds: a success in brief where that is plain.

    Args:
        document: As for ``decode``.
        where: Its place, for the error.
        task: The task whose receipt should stand there.
        run_id: The run whose receipt should.

    Returns:
        The run in brief, if the receipt is that of this task and run, a success that says when it
        ended. Else the whole receipt, which may be of another run.

    Raises:
        BadReceiptError: as for ``decode``, and in the same cases.
    """
    try:
        parsed = parse_object(document)
    except WrongFieldError as error:
        raise BadReceiptError(where, str(error)) from None
    brief = None
    if parsed.get("status") == "success" and is_segment(run_id):
        try:
            brief = _brief(parsed, task, run_id)
        except (ValueError, OverflowError):
            brief = None
    return receipt_of(parsed, where=where) if brief is None else brief


_NONE = type(None)
_TEXT, _MAYBE_TEXT = (str,), (str, _NONE)
# A whole number where any number may stand is rare, and may be too large for one.
_NUMBER, _INTEGER, _BOOLEAN = (float, _NONE), (int, _NONE), (bool, _NONE)
_LIST, _MAP = (list, _NONE), (dict, _NONE)
_MOST_SHAPES = 1_000
_Kinds = tuple[tuple[str, tuple[type, ...]], ...]


def _each(names: str, kinds: tuple[type, ...]) -> _Kinds:
    return tuple((name, kinds) for name in names.split())


class _Shape:
    """The types that the fields of an object may have.

    Few combinations of fields and types occur, so of most objects it is known.
    """

    def __init__(self, kinds: _Kinds) -> None:
        self._kinds = kinds
        self._known: dict[tuple[object, ...], bool] = {}

    def fits(self, part: Mapping[str, Any]) -> bool:
        """Whether the fields are of such types; one that is absent is null."""
        shape = (*part, *map(type, part.values()))
        known = self._known.get(shape)
        if known is None:
            known = all(type(part.get(name)) in allowed for name, allowed in self._kinds)
            if len(self._known) < _MOST_SHAPES:
                self._known[shape] = known
        return known


_RECEIPT = _Shape(
    (
        *_each("started_at ended_at", _TEXT),
        *_each("error outcome ended_by host code_hash config_hash environment_hash", _MAYBE_TEXT),
        *_each("time_zone heartbeat_at", _MAYBE_TEXT),
        *_each("pid record_version", _INTEGER),
        *_each("duration_sec heartbeat_every", _NUMBER),
        *_each("variables window triggered_by orchestrator counts environment recorder", _MAP),
        *_each("inputs outputs upstreams overrides timings expectations", _LIST),
    )
)
_WINDOW = _Shape((*_each("start end", _TEXT), *_each("time_zone", _MAYBE_TEXT)))
_TRIGGER = _Shape((*_each("kind", _TEXT), *_each("actor asserted_by reason", _MAYBE_TEXT)))
_ORCHESTRATOR = _Shape(
    (
        *_each("name", _TEXT),
        *_each("ids", _MAP),
        *_each("url", _MAYBE_TEXT),
        *_each("attempt max_attempts", _INTEGER),
    )
)
_COUNTS = _Shape(_each("extracted reread transformed filtered quarantined loaded", _INTEGER))
_RECORDER = _Shape(_each("name version", _TEXT))
_STEP = _Shape(
    (
        *_each("name", _TEXT),
        *_each("direction format location schema_hash data_hash hash_method", _MAYBE_TEXT),
        *_each("hash_error route", _MAYBE_TEXT),
        *_each("row_count", _INTEGER),
        *_each("hash_seconds", _NUMBER),
        *_each("column_hashes", _MAP),
    )
)
_PIN = _Shape((*_each("task run_id", _TEXT), *_each("data_hashes", _MAP)))
_OVERRIDE = _Shape((*_each("name", _TEXT), *_each("usual given", _MAYBE_TEXT)))
_TIMING = _Shape((*_each("step", _MAYBE_TEXT), *_each("seconds", _NUMBER)))
_EXPECTATION = _Shape(
    (
        *_each("rule output", _MAYBE_TEXT),
        *_each("passed", _BOOLEAN),
        *_each("failed total", _INTEGER),
    )
)
_PARTS: tuple[tuple[str, _Shape], ...] = (
    ("counts", _COUNTS), ("recorder", _RECORDER), ("triggered_by", _TRIGGER),
    ("window", _WINDOW), ("orchestrator", _ORCHESTRATOR),
)  # fmt: skip
_LISTS = (
    ("inputs", _STEP, "column_hashes"),
    ("outputs", _STEP, "column_hashes"),
    ("upstreams", _PIN, "data_hashes"),
    ("overrides", _OVERRIDE, None),
    ("timings", _TIMING, None),
    ("expectations", _EXPECTATION, None),
)
"""Lists of objects, their fields, and which of these is an object of single values."""


def _brief(parsed: dict[str, Any], task: str, run_id: str) -> Brief | None:
    """The run in brief; None where that is not plain. An error where a value is none at all."""
    found = parsed.get
    if found("run_id") != run_id or found("task_path") != task:
        return None
    segments = task.split("/")
    for name, segment in zip(("usecase", "package", "task_name"), segments, strict=True):
        if found(name) not in (segment, None):
            return None
    if not _RECEIPT.fits(parsed):
        return None
    for name, shape in _PARTS:
        part = found(name)
        if part is not None and not shape.fits(part):
            return None
    for name, shape, of_scalars in _LISTS:
        for part in found(name) or ():
            if type(part) is not dict or not shape.fits(part):
                return None
            if of_scalars is not None and not _are_scalars(part.get(of_scalars)):
                return None
    return _told(parsed, run_id)


def _are_scalars(part: Mapping[str, Any] | None) -> bool:
    return part is None or not any(type(value) in (dict, list) for value in part.values())


def _told(parsed: dict[str, Any], run_id: str) -> Brief | None:
    """What is told of a run whose fields have the right types; None where a value is not right."""
    found = parsed.get
    started_at, ended_at = _instant(parsed["started_at"]), _instant(parsed["ended_at"])
    if found("heartbeat_at") is not None:
        _instant(parsed["heartbeat_at"])
    every = found("heartbeat_every")
    is_plain = (
        found("record_version") in (None, *READ_VERSIONS)
        and shows_its_start(run_id, started_at)
        and (every is None or 0 <= every <= LONGEST.total_seconds())
        and _are_scalars(found("variables"))
    )
    trigger, window, attempt = found("triggered_by"), found("window"), found("orchestrator")
    if attempt is not None and not _are_scalars(attempt.get("ids")):
        return None
    if not is_plain or (trigger is not None and trigger["kind"] not in KINDS):
        return None
    span = None
    if window is not None:
        span = (microseconds(_instant(window["start"])), microseconds(_instant(window["end"])))
        if span[1] <= span[0]:
            return None
    counted = (step.get("row_count") for step in found("outputs") or ())
    rows = [number for number in counted if number is not None]
    return Brief(
        started=microseconds(started_at),
        ended=microseconds(ended_at),
        window=span,
        variables=found("variables") or {},
        rows=sum(rows) if rows else None,
    )


def _instant(text: str) -> datetime:
    """As ``parse_instant``; mostly it is in UTC already."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is UTC else as_utc(moment)
