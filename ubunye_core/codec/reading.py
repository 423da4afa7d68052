"""From a stored document to a receipt."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from datetime import timedelta

from ubunye_core.codec.fields import Fields, WrongFieldError
from ubunye_core.errors import BadReceiptError, InvalidNameError
from ubunye_core.receipt import (
    Counts,
    Expectation,
    Json,
    Orchestrator,
    Override,
    Pin,
    Receipt,
    Recorder,
    Status,
    Step,
    Timing,
    TriggeredBy,
    TriggerKind,
    Window,
)
from ubunye_core.runids import shows_its_start

MAX_RECEIPT_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 64
READ_VERSIONS = (1, 2)
STATUSES = tuple(status.value for status in Status)
KINDS = tuple(kind.value for kind in TriggerKind)
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""A text, or what is there of one that is cut short: to look for another end takes minutes."""
_NO_BRACKETS = bytes(set(range(256)).difference(b"[]{}"))


def decode(document: bytes, *, where: str) -> Receipt:
    """The receipt that a stored document holds.

    Args:
        document: UTF-8 JSON, as ``encode`` or ubunye-engine wrote it.
        where: Its place, for the error.

    Raises:
        BadReceiptError: it is empty, cut short, no JSON, or a field has the wrong type; or its run
            id shows another start than its own.
    """
    try:
        parsed = parse_object(document)
    except WrongFieldError as error:
        raise BadReceiptError(where, str(error)) from None
    return receipt_of(parsed, where=where)


def receipt_of(parsed: dict[str, Json], *, where: str) -> Receipt:
    """The receipt that the object of a document holds.

    Raises:
        BadReceiptError: as for ``decode``.
    """
    try:
        receipt = _receipt(Fields(parsed))
        if not shows_its_start(receipt.run_id, receipt.started_at):
            raise WrongFieldError("its run id shows another start than its own")
        return receipt
    except WrongFieldError as error:
        raise BadReceiptError(where, str(error)) from None
    except InvalidNameError as error:
        raise BadReceiptError(where, f"it names something that is no {error.kind}") from None
    except (ValueError, OverflowError):  # their messages may hold values
        raise BadReceiptError(where, "a number or a time in it is out of range") from None


def parse_object(document: bytes, *, depth: int = MAX_DEPTH) -> dict[str, Json]:
    """The JSON object that a document holds, nested at most so deep.

    Raises:
        WrongFieldError: it holds none, or one that could be read in two ways.
    """
    if not document.strip():
        raise WrongFieldError("it is empty")
    if len(document) > MAX_RECEIPT_BYTES:
        raise WrongFieldError(f"it has {len(document)} bytes")
    if document.count(b"{") + document.count(b"[") > depth and _nesting(document) > depth:
        raise WrongFieldError(f"it is nested more than {depth} deep")
    try:
        parsed: Json = _JSON.decode(document.removeprefix(BOM_UTF8).decode())
    except UnicodeDecodeError:
        raise WrongFieldError("it is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise WrongFieldError(
            f"it is not whole JSON (line {error.lineno}, column {error.colno})"
        ) from None
    except (RecursionError, ValueError):
        raise WrongFieldError("it is not JSON that can be read") from None
    if not isinstance(parsed, dict):
        raise WrongFieldError("it is not a JSON object")
    return parsed


def _nesting(document: bytes) -> int:
    """How deep a document is nested, told before it is parsed: a parser takes the stack for that.

    What runs in the depth of a parse, a finalizer for one, would find no stack left.
    """
    deepest = now = 0
    for bracket in _STRING.sub(b"", document).translate(None, _NO_BRACKETS):
        now += 1 if bracket in b"[{" else -1
        deepest = max(deepest, now)
    return deepest


def _each_once(fields: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object; where a field stands twice, nobody can tell which of the two counts."""
    document = dict(fields)
    if len(document) < len(fields):
        raise WrongFieldError("a field stands in it twice")
    return document


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise WrongFieldError("a number in it is out of range")
    return number


def _no_such_number(_: str) -> None:
    """NaN and infinities are no JSON; ubunye-engine wrote them for numbers it did not have."""
    return


_JSON = json.JSONDecoder(
    parse_constant=_no_such_number, parse_float=_finite, object_pairs_hook=_each_once
)


def _receipt(document: Fields) -> Receipt:
    task = document.text("task_path")
    for name, segment in zip(("usecase", "package", "task_name"), task.split("/"), strict=False):
        if document.optional_text(name) not in (segment, None):
            raise WrongFieldError(f"'{name}' does not agree with 'task_path'")
    version = document.optional_integer("record_version")
    if version is not None and version not in READ_VERSIONS:
        raise WrongFieldError(f"its record version {version} is not known")
    every = document.optional_number("heartbeat_every")
    return Receipt(
        task=task,
        run_id=document.text("run_id"),
        status=Status(document.one_of("status", STATUSES)),
        started_at=document.instant("started_at"),
        ended_at=document.optional_instant("ended_at"),
        duration_sec=document.optional_number("duration_sec"),
        variables=document.scalars("variables"),
        window=_window(document.optional("window")),
        triggered_by=_triggered_by(document.optional("triggered_by")),
        orchestrator=_orchestrator(document.optional("orchestrator")),
        heartbeat_at=document.optional_instant("heartbeat_at"),
        heartbeat_every=None if every is None else timedelta(seconds=every),
        inputs=tuple(_step(step, "input") for step in document.each("inputs")),
        outputs=tuple(_step(step, "output") for step in document.each("outputs")),
        upstreams=tuple(_pin(pin) for pin in document.each("upstreams")),
        overrides=tuple(_override(each) for each in document.each("overrides")),
        timings=tuple(_timing(timing) for timing in document.each("timings")),
        expectations=tuple(_expectation(rule) for rule in document.each("expectations")),
        counts=_counts(document.optional("counts")),
        error=document.optional_text("error"),
        outcome=document.optional_text("outcome"),
        ended_by=document.optional_text("ended_by"),
        host=document.optional_text("host"),
        pid=document.optional_integer("pid"),
        code_hash=document.optional_text("code_hash"),
        config_hash=document.optional_text("config_hash"),
        environment=document.optional_map("environment"),
        environment_hash=document.optional_text("environment_hash"),
        time_zone=document.optional_text("time_zone"),
        recorder=_recorder(document.optional("recorder")),
        record_version=version,
        extra=document.rest(),
    )


def _window(window: Fields | None) -> Window | None:
    if window is None:
        return None
    start, end = window.instant("start"), window.instant("end")
    if end <= start:
        raise WrongFieldError("'window.end' is not after 'window.start'")
    return Window(
        start=start,
        end=end,
        time_zone=window.optional_text("time_zone"),
        extra=window.rest(),
    )


def _triggered_by(trigger: Fields | None) -> TriggeredBy | None:
    if trigger is None:
        return None
    return TriggeredBy(
        kind=TriggerKind(trigger.one_of("kind", KINDS)),
        actor=trigger.optional_text("actor"),
        asserted_by=trigger.optional_text("asserted_by"),
        reason=trigger.optional_text("reason"),
        extra=trigger.rest(),
    )


def _orchestrator(scheduler: Fields | None) -> Orchestrator | None:
    if scheduler is None:
        return None
    return Orchestrator(
        name=scheduler.text("name"),
        ids=scheduler.texts("ids"),
        url=scheduler.optional_text("url"),
        attempt=scheduler.optional_integer("attempt"),
        max_attempts=scheduler.optional_integer("max_attempts"),
        extra=scheduler.rest(),
    )


def _recorder(recorder: Fields | None) -> Recorder | None:
    if recorder is None:
        return None
    return Recorder(
        name=recorder.text("name"), version=recorder.text("version"), extra=recorder.rest()
    )


def _step(step: Fields, direction: str) -> Step:
    has_columns = step.optional_map("column_hashes") is not None
    return Step(
        name=step.text("name"),
        direction=step.optional_text("direction") or direction,
        format=step.optional_text("format") or "",
        location=step.optional_text("location") or "",
        row_count=step.optional_integer("row_count"),
        schema_hash=step.optional_text("schema_hash"),
        data_hash=step.optional_text("data_hash"),
        hash_method=step.optional_text("hash_method"),
        hash_error=step.optional_text("hash_error"),
        hash_seconds=step.optional_number("hash_seconds"),
        route=step.optional_text("route"),
        column_hashes=step.texts("column_hashes") if has_columns else None,
        extra=step.rest(),
    )


def _override(override: Fields) -> Override:
    return Override(
        name=override.text("name"),
        usual=override.optional_text("usual"),
        given=override.optional_text("given"),
        extra=override.rest(),
    )


def _pin(pin: Fields) -> Pin:
    hashes = pin.scalars("data_hashes")
    return Pin(
        task=pin.text("task"),
        run_id=pin.text("run_id"),
        data_hashes={name: None if hash is None else str(hash) for name, hash in hashes.items()},
        extra=pin.rest(),
    )


def _timing(timing: Fields) -> Timing:
    return Timing(
        step=timing.optional_text("step") or "",
        seconds=timing.optional_number("seconds") or 0.0,
        extra=timing.rest(),
    )


def _expectation(rule: Fields) -> Expectation:
    return Expectation(
        rule=rule.optional_text("rule") or "",
        passed=rule.optional_boolean("passed"),
        output=rule.optional_text("output") or "",
        failed=rule.optional_integer("failed"),
        total=rule.optional_integer("total"),
        extra=rule.rest(),
    )


def _counts(counts: Fields | None) -> Counts | None:
    if counts is None:
        return None
    return Counts(
        extracted=counts.optional_integer("extracted"),
        reread=counts.optional_integer("reread"),
        transformed=counts.optional_integer("transformed"),
        filtered=counts.optional_integer("filtered"),
        quarantined=counts.optional_integer("quarantined"),
        loaded=counts.optional_integer("loaded"),
        extra=counts.rest(),
    )
