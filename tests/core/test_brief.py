"""A success in brief is what its whole receipt says; and what is wrong is refused just as well."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

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
    Timing,
    TriggeredBy,
    TriggerKind,
    Window,
)
from ubunye_core.codec import Brief, as_json, decode, decode_briefly
from ubunye_core.stores.successes import rows_of
from ubunye_core.testing import A_TASK, DAMAGED, a_receipt, a_step, at
from ubunye_core.times import microseconds

CORPUS = Path(__file__).parents[1] / "data/receipts-corpus"
RUN = "run-1"
SHOWING = "019e9e17-88b8-702a-ae82-5f754b36ebbc"
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, 3, -1, 10**30, 10**400, 1.0, 2.0, 0.5, -0.5, 1e300, float("nan"),
    "",
    "success", "error", "manual", "run-2", "../run", "2026-10-15T06:00:00Z", "2026-10-15T06:00:00",
    "2026-10-15T06:00:00+07:00", "2026-10-15", "20261015T060000Z", "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:00:00-14:00", "1971-01-01T00:00:00Z", "\ud800", [], {}, [1], [None], [[]], [{}],
    {"a": 1}, {"a": None}, {"a": []}, {"a": {}}, [{"name": "n"}], [{"name": "n", "row_count": 5}],
    {"start": "2026-10-15T06:00:00Z", "end": "2026-10-15T06:00:00Z"}, {"kind": "manual"},
    {"name": "airflow", "attempt": 1.0},
)  # fmt: skip
"""Each of them is put in the place of every value of a document."""


def full(run_id: str = RUN) -> dict[str, Any]:
    """A success with a value in every field."""
    step = a_step(column_hashes={"a": "sha256:1"}, row_count=7, hash_seconds=0.5, route="arrow")
    receipt = a_receipt(
        run_id=run_id,
        status=Status.SUCCESS,
        started_at=at(0),
        ended_at=at(5),
        window=Window(start=at(-60), end=at(0), time_zone="Asia/Jakarta"),
        triggered_by=TriggeredBy(kind=TriggerKind.MANUAL, actor="ana", reason="late"),
        orchestrator=Orchestrator(name="airflow", ids={"run": "r"}, attempt=1, max_attempts=2),
        heartbeat_at=at(1),
        heartbeat_every=timedelta(seconds=30),
        inputs=(step,),
        outputs=(step, a_step(row_count=3)),
        upstreams=(Pin(task="a/b/c", run_id="1", data_hashes={"o": "sha256:1"}),),
        overrides=(Override(name="n", usual="1", given="2"),),
        timings=(Timing(step="read", seconds=1.5),),
        expectations=(Expectation(rule="n > 0", passed=True, failed=0, total=9),),
        counts=Counts(loaded=1),
        environment={"packages": {"a": "1"}},
        recorder=Recorder(name="r", version="1"),
        host="h",
        pid=1,
    )
    return dict(as_json(receipt))


def told(document: bytes, *, briefly: bool, run_id: str = RUN) -> object:
    """What a document says: the brief of its receipt, the receipt, or why it is none."""
    try:
        if briefly:
            found = decode_briefly(document, where="here", task=A_TASK, run_id=run_id)
            if isinstance(found, Brief):
                return found
            is_brief = False
        else:
            found = decode(document, where="here")
            is_brief = found.status is Status.SUCCESS and found.ended_at is not None
            is_brief = is_brief and (found.task, found.run_id) == (A_TASK, run_id)
    except BadReceiptError as error:
        return error.why
    assert isinstance(found, Receipt)
    return brief_of(found) if is_brief else found


def brief_of(receipt: Receipt) -> Brief:
    window = receipt.window
    return Brief(
        started=microseconds(receipt.started_at),
        ended=microseconds(receipt.finished_at),
        window=window and (microseconds(window.start), microseconds(window.end)),
        variables=receipt.variables,
        rows=rows_of(receipt),
    )


def agree(document: bytes, run_id: str = RUN) -> bool:
    """Whether both ways say the same; a success may always be told whole. True if it is brief."""
    quick = told(document, briefly=True, run_id=run_id)
    plain = told(document, briefly=False, run_id=run_id)
    if isinstance(quick, Receipt) and isinstance(plain, Brief):
        quick = brief_of(quick)
        assert quick == plain, document
        return False
    assert quick == plain, document
    return isinstance(quick, Brief)


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a document."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def with_value(document: dict[str, Any], path: tuple[Any, ...], *value: Any) -> bytes:
    """The document with another value in one place, or without what stands there."""
    changed = copy.deepcopy(document)
    part = changed
    for key in path[:-1]:
        part = part[key]
    if value:
        part[path[-1]] = value[0]
    else:
        del part[path[-1]]
    return json.dumps(changed).encode()


def test_a_success_is_told_in_brief() -> None:
    assert agree(json.dumps(full()).encode())
    brief = told(json.dumps(full()).encode(), briefly=True)
    assert isinstance(brief, Brief)
    assert (brief.rows, brief.window) == (10, (microseconds(at(-60)), microseconds(at(0))))


@pytest.mark.parametrize("path", list(places(full())), ids=lambda path: ".".join(map(str, path)))
def test_any_value_in_any_place_is_told_as_the_whole_receipt_tells_it(path) -> None:
    document = full()
    agree(with_value(document, path))
    for value in VALUES:
        agree(with_value(document, path, value))


def test_most_changes_that_are_allowed_leave_a_success_in_brief() -> None:
    document, briefly, allowed = full(), 0, 0
    for path in places(document):
        changed = with_value(document, path)
        briefly += isinstance(told(changed, briefly=True), Brief)
        allowed += isinstance(told(changed, briefly=False), Brief)
    assert briefly == allowed > 50


@pytest.mark.parametrize("document", DAMAGED.values(), ids=DAMAGED)
def test_damage_is_told_as_ever(document: bytes) -> None:
    assert not agree(document, "damaged")


def test_an_id_that_shows_another_start_is_refused() -> None:
    assert not agree(json.dumps(full(SHOWING)).encode(), SHOWING)
    document = full(SHOWING) | {"started_at": "2026-06-06T14:00:03Z"}
    for milliseconds in range(-3, 4):
        shown = int(SHOWING[:8] + SHOWING[9:13], 16) + milliseconds
        is_brief = agree(json.dumps(document | {"started_at": iso(shown)}).encode(), SHOWING)
        assert is_brief == (abs(milliseconds) <= 1)


def iso(milliseconds: int) -> str:
    return (at(0) + timedelta(milliseconds=milliseconds - microseconds(at(0)) // 1000)).isoformat()


def test_receipts_of_the_engine_are_told_as_ever() -> None:
    brief = 0
    for path in sorted(CORPUS.rglob("*.json")):
        document = path.read_bytes()
        try:
            receipt = decode(document, where="here")
        except BadReceiptError:
            continue
        found = decode_briefly(document, where="", task=receipt.task, run_id=receipt.run_id)
        if isinstance(found, Brief):
            assert found == brief_of(receipt)
            brief += 1
        else:
            assert found == receipt
    assert brief > 3
