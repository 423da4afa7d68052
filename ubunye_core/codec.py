"""A receipt as JSON text, and back. Nothing else here knows the stored form.

Reads record versions 1 and 2. Fields that are not known are kept and written back; a document
that is no receipt is a ``BadReceiptError`` that says where and why, and never shows a value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from typing import NoReturn, cast

from ubunye_core.errors import BadReceiptError, InvalidNameError
from ubunye_core.jsonfields import Fields, WrongFieldError
from ubunye_core.receipt import (
    Counts,
    Expectation,
    Json,
    Orchestrator,
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
from ubunye_core.times import in_iso

MAX_RECEIPT_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 64
READ_VERSIONS = (1, 2)


def decode(document: bytes, *, where: str) -> Receipt:
    """The receipt that a stored document holds.

    Args:
        document: UTF-8 JSON, as ``encode`` or ubunye-engine wrote it.
        where: Its place, for the error.

    Raises:
        BadReceiptError: it is empty, cut short, no JSON, or a field has the wrong type.
    """
    try:
        return _receipt(Fields(_parse(document)))
    except WrongFieldError as error:
        raise BadReceiptError(where, str(error)) from None
    except InvalidNameError as error:
        raise BadReceiptError(where, f"it names something that is no {error.kind}") from None
    except (ValueError, OverflowError):  # their messages may hold values
        raise BadReceiptError(where, "a number or a time in it is out of range") from None


def _parse(document: bytes) -> dict[str, Json]:
    if not document.strip():
        raise WrongFieldError("it is empty")
    if len(document) > MAX_RECEIPT_BYTES:
        raise WrongFieldError(f"it has {len(document)} bytes")
    try:
        parsed: Json = json.loads(
            document.decode("utf-8-sig"), parse_constant=_no_such_number, parse_float=_finite
        )
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
    if _is_deeper(parsed, MAX_DEPTH):
        raise WrongFieldError(f"it is nested more than {MAX_DEPTH} deep")
    return parsed


def _is_deeper(document: dict[str, Json], depth: int) -> bool:
    level: list[Json] = [document]
    for _ in range(depth):
        level = [part for holder in level for part in _parts(holder)]
    return bool(level)


def _parts(holder: Json) -> list[Json]:
    """The parts of an object or a list that hold something themselves."""
    inside = list(holder.values()) if isinstance(holder, dict) else holder
    return (
        [part for part in inside if isinstance(part, dict | list)]
        if isinstance(inside, list)
        else []
    )


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise WrongFieldError("a number in it is out of range")
    return number


def _no_such_number(_: str) -> None:
    """NaN and infinities are no JSON; ubunye-engine wrote them for numbers it did not have."""
    return


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
        status=Status(document.one_of("status", [status.value for status in Status])),
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
        kind=TriggerKind(trigger.one_of("kind", [kind.value for kind in TriggerKind])),
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
        extra=step.rest(),
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


def encode(receipt: Receipt) -> bytes:
    """The receipt as indented UTF-8 JSON, in ubunye-engine's fields and ours."""
    text = json.dumps(as_json(receipt), indent=2, allow_nan=False, default=_not_json)
    if len(text) > MAX_RECEIPT_BYTES:
        raise ValueError(f"a receipt of {len(text)} bytes is too large to be read again")
    return text.encode("ascii")


def _not_json(value: object) -> NoReturn:
    raise TypeError(f"a receipt cannot hold a {type(value).__name__}")


def as_json(receipt: Receipt) -> dict[str, Json]:
    """The receipt as JSON data."""
    usecase, package, task_name = receipt.task.split("/")
    document: dict[str, Json] = {
        "run_id": receipt.run_id,
        "task_path": receipt.task,
        "usecase": usecase,
        "package": package,
        "task_name": task_name,
        "config_hash": receipt.config_hash,
        "started_at": receipt.started_at.isoformat(),
        "ended_at": None if receipt.ended_at is None else receipt.ended_at.isoformat(),
        "duration_sec": receipt.duration_sec,
        "status": receipt.status.value,
        "inputs": [_step_json(step) for step in receipt.inputs],
        "outputs": [_step_json(step) for step in receipt.outputs],
        "error": receipt.error,
    }
    of_version_2: dict[str, Json] = {
        "variables": dict[str, Json](receipt.variables),
        "record_version": receipt.record_version,
        "code_hash": receipt.code_hash,
        "environment": None if receipt.environment is None else dict(receipt.environment),
        "environment_hash": receipt.environment_hash,
        "timings": [_timing_json(timing) for timing in receipt.timings],
        "expectations": [_expectation_json(rule) for rule in receipt.expectations],
        "time_zone": receipt.time_zone,
    }
    if (receipt.record_version or 1) < 2:
        of_version_2 = _said(of_version_2)
    return _with_rest(document | of_version_2 | _ours(receipt), receipt.extra)


def _said(document: Mapping[str, Json]) -> dict[str, Json]:
    """The fields that say something."""
    return {name: value for name, value in document.items() if value not in (None, [], {})}


def _with_rest(document: dict[str, Json], rest: Mapping[str, Json]) -> dict[str, Json]:
    """A document with the fields that nobody knows; they never take the place of a known one."""
    return document | {name: value for name, value in rest.items() if name not in document}


def _ours(receipt: Receipt) -> dict[str, Json]:
    """The fields that ubunye-engine does not have; left out where there is nothing to say."""
    every = receipt.heartbeat_every
    found: dict[str, Json] = {
        "recorder": _plain(receipt.recorder),
        "window": _plain(receipt.window),
        "triggered_by": _plain(receipt.triggered_by),
        "orchestrator": _plain(receipt.orchestrator),
        "heartbeat_at": None if receipt.heartbeat_at is None else receipt.heartbeat_at.isoformat(),
        "heartbeat_every": None if every is None else every.total_seconds(),
        "upstreams": [_plain(pin) for pin in receipt.upstreams],
        "counts": _plain(receipt.counts),
        "outcome": receipt.outcome,
        "ended_by": receipt.ended_by,
        "host": receipt.host,
        "pid": receipt.pid,
    }
    return _said(found)


def _plain(part: object) -> Json:
    """A small part of a receipt as JSON, without the fields that say nothing."""
    if part is None:
        return None
    document: dict[str, Json] = {}
    for each in fields(part):  # type: ignore[arg-type]  # only dataclasses come here
        value = getattr(part, each.name)
        if value is None or each.name == "extra":
            continue
        if hasattr(value, "isoformat"):
            value = in_iso(value)
        document[each.name] = dict(value) if isinstance(value, Mapping) else value
    return _with_rest(document, getattr(part, "extra", {}))


def _step_json(step: Step) -> dict[str, Json]:
    document = cast(
        "dict[str, Json]",
        {
            each.name: getattr(step, each.name)
            for each in fields(step)
            if each.name not in ("extra", "route")
        },
    )
    if step.route is not None:
        document["route"] = step.route
    return _with_rest(document, step.extra)


def _timing_json(timing: Timing) -> dict[str, Json]:
    return _with_rest({"step": timing.step, "seconds": timing.seconds}, timing.extra)


def _expectation_json(rule: Expectation) -> dict[str, Json]:
    # All five always: ubunye-engine prints each, and fails where one is absent.
    said: dict[str, Json] = {
        "rule": rule.rule,
        "passed": rule.passed,
        "output": rule.output,
        "failed": rule.failed,
        "total": rule.total,
    }
    return _with_rest(said, rule.extra)
