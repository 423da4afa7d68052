"""Receipts as JSON, and back."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubunye_core import (
    BadReceiptError,
    Counts,
    Expectation,
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
from ubunye_core.codec import MAX_DEPTH, as_json, decode, encode
from ubunye_core.testing import DAMAGED, a_receipt, a_step, at

# --- any receipt comes back as it was ---

_TEXT = st.text(max_size=20)
_NUMBER = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
_SCALAR = st.none() | st.booleans() | _NUMBER | _TEXT
_JSON = st.recursive(
    _SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_REST = st.dictionaries(st.sampled_from(["llm_calls", "engine", "ünknown", ""]), _JSON, max_size=3)
_INSTANT = st.datetimes(datetime(1971, 1, 1), datetime(2999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
_SEGMENT = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,20}", fullmatch=True)
_TASK = st.tuples(_SEGMENT, _SEGMENT, _SEGMENT).map("/".join)
_COUNT = st.none() | st.integers(0, 2**63)
_MAYBE = st.none() | _TEXT


def _parts(kind: type, /, **fields: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.builds(kind, extra=_REST, **fields)


_WINDOWS = st.tuples(_INSTANT, st.timedeltas(timedelta(microseconds=1), timedelta(days=400))).map(
    lambda pair: Window(start=pair[0], end=pair[0] + pair[1], time_zone="Asia/Jakarta")
)
_STEPS = _parts(
    Step,
    name=_TEXT,
    direction=st.sampled_from(["input", "output"]),
    format=_TEXT,
    location=_TEXT,
    row_count=_COUNT,
    schema_hash=_MAYBE,
    data_hash=_MAYBE,
    hash_method=_MAYBE,
    hash_error=_MAYBE,
    hash_seconds=st.none() | st.floats(0, 1e9),
    route=_MAYBE,
    column_hashes=st.none() | st.dictionaries(_TEXT, _TEXT, max_size=3),
)
_RECEIPTS = _parts(
    Receipt,
    task=_TASK,
    run_id=_SEGMENT,
    status=st.sampled_from(Status),
    started_at=_INSTANT,
    ended_at=st.none() | _INSTANT,
    duration_sec=st.none() | st.floats(0, 1e9),
    variables=st.dictionaries(_TEXT, _SCALAR, max_size=4),
    window=st.none() | _WINDOWS,
    triggered_by=st.none()
    | _parts(
        TriggeredBy,
        kind=st.sampled_from(TriggerKind),
        actor=_MAYBE,
        asserted_by=_MAYBE,
        reason=_MAYBE,
    ),
    orchestrator=st.none()
    | _parts(
        Orchestrator,
        name=_TEXT,
        ids=st.dictionaries(_TEXT, _TEXT, max_size=3),
        url=_MAYBE,
        attempt=_COUNT,
        max_attempts=_COUNT,
    ),
    heartbeat_at=st.none() | _INSTANT,
    heartbeat_every=st.none() | st.timedeltas(timedelta(0), timedelta(days=400)),
    inputs=st.lists(_STEPS, max_size=2).map(tuple),
    outputs=st.lists(_STEPS, max_size=2).map(tuple),
    upstreams=st.lists(
        _parts(
            Pin,
            task=_TEXT,
            run_id=_TEXT,
            data_hashes=st.dictionaries(_TEXT, _MAYBE, max_size=2),
        ),
        max_size=2,
    ).map(tuple),
    overrides=st.lists(_parts(Override, name=_TEXT, usual=_MAYBE, given=_MAYBE), max_size=2).map(
        tuple
    ),
    timings=st.lists(_parts(Timing, step=_TEXT, seconds=st.floats(0, 1e9)), max_size=2).map(tuple),
    expectations=st.lists(
        _parts(Expectation, rule=_TEXT, passed=st.none() | st.booleans()), max_size=2
    ).map(tuple),
    counts=st.none() | _parts(Counts, extracted=st.integers(0, 2**63), loaded=_COUNT),
    error=_MAYBE,
    outcome=_MAYBE,
    ended_by=_MAYBE,
    host=_MAYBE,
    pid=_COUNT,
    code_hash=_MAYBE,
    config_hash=_MAYBE,
    environment=st.none() | st.dictionaries(_TEXT, _JSON, min_size=1, max_size=2),
    environment_hash=_MAYBE,
    time_zone=_MAYBE,
    recorder=st.none() | _parts(Recorder, name=_TEXT, version=_TEXT),
    record_version=st.sampled_from([None, 1, 2]),
)


@given(_RECEIPTS)
def test_any_receipt_comes_back_as_it_was(receipt: Receipt) -> None:
    document = encode(receipt)
    again = decode(document, where="here")
    assert again == receipt
    assert encode(again) == document


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_other_bytes_are_refused_and_nothing_worse(document: bytes) -> None:
    with pytest.raises(BadReceiptError) as refused:
        decode(document, where="here")
    assert refused.value.where == "here"


@given(st.dictionaries(st.sampled_from(list(as_json(a_receipt(window=None)))), _JSON, max_size=4))
def test_any_value_in_any_field_is_read_or_refused(changes: dict[str, object]) -> None:
    document = json.dumps(as_json(a_receipt()) | changes).encode()
    try:
        receipt = decode(document, where="here")
    except BadReceiptError:
        return
    assert receipt.batch.as_dict() is not None
    assert decode(encode(receipt), where="here") == receipt


# --- what a document holds ---


def test_fields_that_are_not_known_are_kept_at_every_level() -> None:
    document = as_json(
        a_receipt(
            inputs=(a_step(),),
            window=Window(start=at(0), end=at(1)),
            triggered_by=TriggeredBy(kind=TriggerKind.API),
            orchestrator=Orchestrator(name="airflow"),
            upstreams=(Pin(task="a/b/c", run_id="1"),),
            timings=(Timing(step="read", seconds=1.5),),
            expectations=(Expectation(rule="n > 0", passed=True),),
            counts=Counts(loaded=1),
            recorder=Recorder(name="r", version="1"),
        )
    )
    parts: list[object] = [document, document["window"], document["triggered_by"]]
    parts += [document[name] for name in ("orchestrator", "counts", "recorder")]
    parts += [document[name][0] for name in ("inputs", "upstreams", "timings", "expectations")]  # type: ignore[index]
    for part in parts:
        part["new_field"] = {"deep": [1, None]}  # type: ignore[index]
    text = json.dumps(document).encode()
    assert json.loads(encode(decode(text, where="here"))) == document


def test_an_unknown_field_never_takes_the_place_of_a_known_one() -> None:
    receipt = a_receipt(
        status=Status.ERROR,
        extra={"status": "success", "mine": 1},
        inputs=(a_step(extra={"data_hash": "sha256:0"}),),
    )
    document = json.loads(encode(receipt))
    assert (document["status"], document["mine"]) == ("error", 1)
    assert document["inputs"][0]["data_hash"] == "sha256:" + "2" * 64


def test_a_record_of_version_1_stays_one() -> None:
    receipt = a_receipt(record_version=None, variables={})
    document = json.loads(encode(receipt))
    for name in ("record_version", "variables", "environment", "timings", "time_zone"):
        assert name not in document
    assert decode(encode(receipt), where="here") == receipt


def test_a_record_of_version_1_that_has_fields_of_version_2_keeps_them() -> None:
    receipt = a_receipt(record_version=None, code_hash="sha256:1")
    document = json.loads(encode(receipt))
    assert (document["variables"], document["code_hash"]) == ({"month": "2026-10"}, "sha256:1")


def test_times_are_written_in_utc_with_an_offset() -> None:
    from datetime import timezone

    jakarta = timezone(timedelta(hours=7))
    document = json.loads(encode(a_receipt(started_at=at(0).astimezone(jakarta))))
    assert document["started_at"] == "2026-10-15T06:00:00+00:00"


@pytest.mark.parametrize(
    "text",
    ["2026-10-15T06:00:00Z", "2026-10-15T13:00:00+07:00", "2026-10-15 06:00:00+00:00",
     "20261015T060000Z", "2026-10-15T06:00:00.000000+00:00"],
)  # fmt: skip
def test_an_instant_is_read_in_every_way_iso_writes_it(text: str) -> None:
    document = json.dumps(as_json(a_receipt()) | {"started_at": text}).encode()
    assert decode(document, where="here").started_at == at(0)


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [("pid", 7.0, 7), ("duration_sec", 3, 3.0), ("inputs", None, ()), ("variables", None, {}),
     ("ended_at", None, None), ("error", None, None)],
)  # fmt: skip
def test_small_liberties_of_other_writers_are_read(name: str, value: object, read: object) -> None:
    document = json.dumps(as_json(a_receipt()) | {name: value}).encode()
    assert getattr(decode(document, where="here"), name) == read


def test_a_document_may_be_nested_as_deeply_as_is_said_and_no_deeper() -> None:
    def nested(depth: int) -> bytes:
        return json.dumps(
            as_json(a_receipt()) | {"x": json.loads("[" * depth + "]" * depth)}
        ).encode()

    decode(nested(MAX_DEPTH - 1), where="here")
    with pytest.raises(BadReceiptError, match="nested"):
        decode(nested(MAX_DEPTH), where="here")


@pytest.mark.parametrize("text", ["[" * 500, '{"' * 500, '\\"[' * 500, "[\\" * 500])
def test_brackets_in_a_text_nest_nothing(text: str) -> None:
    receipt = a_receipt(error=text, extra={"a": [[text, {text: text}]]})
    assert decode(encode(receipt), where="here") == receipt


def test_a_document_beyond_reason_is_told_before_it_takes_the_stack() -> None:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    with pytest.raises(BadReceiptError, match="nested more than 64 deep"):
        decode(deep, where="here")


@pytest.mark.parametrize("end", [b"", b"\\"])
def test_a_text_without_an_end_is_told_at_once_and_nests_nothing(end: bytes) -> None:
    cut_short = b'{"a": "' + b"[" * 100 + b'\\"' * 300_000 + end
    begun = time.process_time()
    with pytest.raises(BadReceiptError, match="not whole JSON"):
        decode(cut_short, where="here")
    assert time.process_time() - begun < 10  # a look at each end that it might have takes minutes


@pytest.mark.parametrize("kind", ["empty", "cut short", "an unknown status", "a hostile task"])
def test_the_reason_says_what_to_look_for(kind: str) -> None:
    reasons = {
        "empty": "it is empty",
        "cut short": "it is not whole JSON (line 1, column ",
        "an unknown status": "'status' is none of running, success, error, interrupted, skipped",
        "a hostile task": "'usecase' does not agree with 'task_path'",
    }
    with pytest.raises(BadReceiptError) as refused:
        decode(DAMAGED[kind], where="here")
    assert refused.value.why.startswith(reasons[kind])


def test_a_receipt_that_holds_no_json_is_refused_when_it_is_written() -> None:
    for extra in ({"x": object()}, {"x": float("nan")}, {"x": {1, 2}}):
        with pytest.raises((TypeError, ValueError)):
            encode(a_receipt(extra=extra))


def test_a_receipt_too_large_to_be_read_is_refused_when_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ubunye_core.codec.writing.MAX_RECEIPT_BYTES", 2000)
    encode(a_receipt())
    with pytest.raises(ValueError, match="too large"):
        encode(replace(a_receipt(), error="x" * 2000))


def test_every_time_is_stored_in_one_form() -> None:
    receipt = a_receipt(window=Window(start=at(0), end=at(1)), heartbeat_at=at(2))
    document = as_json(receipt)
    window = document["window"]
    assert isinstance(window, dict)
    times = [document["started_at"], document["ended_at"], document["heartbeat_at"]]
    assert all(str(time).endswith("+00:00") for time in [*times, window["start"], window["end"]])
