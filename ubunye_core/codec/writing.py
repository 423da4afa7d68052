"""From a receipt to the document that is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import NoReturn, cast

from ubunye_core.codec.reading import MAX_RECEIPT_BYTES
from ubunye_core.receipt import Expectation, Json, Receipt, Step, Timing


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
        "overrides": [_plain(each) for each in receipt.overrides],
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
        if isinstance(value, datetime):
            value = value.isoformat()
        document[each.name] = dict(value) if isinstance(value, Mapping) else value
    return _with_rest(document, getattr(part, "extra", {}))


def _step_json(step: Step) -> dict[str, Json]:
    document = cast(
        "dict[str, Json]",
        {
            each.name: getattr(step, each.name)
            for each in fields(step)
            if each.name not in ("extra", "route", "column_hashes")
        },
    )
    if step.route is not None:
        document["route"] = step.route
    if step.column_hashes is not None:
        document["column_hashes"] = dict(step.column_hashes)
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
