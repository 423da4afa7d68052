"""Real run records, written by three versions of ubunye-engine; see the README beside them."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ubunye_core import Status, Verdict, check_upstream, job_health
from ubunye_core.codec import decode, encode
from ubunye_core.receipt import Json
from ubunye_core.stores import FileStore

CORPUS = Path(__file__).parents[2] / "data" / "receipts-corpus"
CALC, SEND, ORDERS = "pay/monthly/calc", "pay/monthly/send", "retail/ingestion/orders"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RECORDS = sorted(CORPUS.glob("*/dot-ubunye/lineage/**/*.json"))


def records(version: str) -> FileStore:
    return FileStore(CORPUS / f"ubunye-engine-{version}" / "dot-ubunye" / "lineage")


@pytest.mark.parametrize(("version", "count"), [("0.8.0", 9), ("0.5.0", 4), ("0.7.1", 2)])
def test_the_corpus_reads_whole(version: str, count: int) -> None:
    found = records(version).search()
    assert (len(found), found.unreadable) == (count, ())


def test_there_are_fifteen_records() -> None:
    assert len(RECORDS) == 15


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem[:8])
def test_no_field_of_a_record_is_lost_or_changed(path: Path) -> None:
    document = path.read_bytes()
    receipt = decode(document, where=str(path))
    written = encode(receipt)
    assert_holds(json.loads(written), json.loads(document), path.name)
    assert decode(written, where=str(path)) == receipt


def assert_holds(written: Json, read: Json, place: str) -> None:
    """Whether everything that was read was written; what we add says nothing."""
    if isinstance(read, dict):
        assert isinstance(written, dict), place
        for name, value in read.items():
            assert name in written, f"{place}.{name}"
            assert_holds(written[name], value, f"{place}.{name}")
        assert all(written[name] in (None, [], {}) for name in written.keys() - read.keys()), place
    elif isinstance(read, list):
        assert isinstance(written, list), place
        assert len(written) == len(read), place
        for at, (one, other) in enumerate(zip(written, read, strict=True)):
            assert_holds(one, other, f"{place}[{at}]")
    else:
        assert written == read, place


def test_records_of_version_1_have_no_variables_and_no_method() -> None:
    found = records("0.5.0").search(CALC)
    assert [receipt.status for receipt in found] == [
        Status.SUCCESS, Status.SUCCESS, Status.ERROR, Status.ERROR,
    ]  # fmt: skip
    for receipt in found:
        assert (receipt.record_version, dict(receipt.variables)) == (None, {})
        assert not receipt.batch
        assert all(step.hash_method is None for step in (*receipt.inputs, *receipt.outputs))
    assert "record_version" not in json.loads(encode(found[0]))


def test_the_newest_engine_left_what_the_readme_says() -> None:
    store = records("0.8.0")
    assert store.tasks() == [CALC, SEND, ORDERS]
    assert [(r.variables["month"], r.variables["mode"]) for r in store.search(CALC)] == [
        ("2026-10", "DEV"), ("2026-09", "DEV"), ("2026-08", "DEV"),
    ]  # fmt: skip
    assert [(r.variables["month"], r.status.value) for r in store.search(SEND)] == [
        ("2026-10", "running"), ("2026-09", "error"), ("2026-08", "success"),
    ]  # fmt: skip
    assert Counter(r.status for r in store.search(ORDERS)) == {Status.SUCCESS: 3}
    assert sorted(r.variables["dt"] for r in store.search(ORDERS)) == [
        "2026-11-24", "2026-11-25", "2026-11-26",
    ]  # fmt: skip
    assert {r.record_version for r in store.search()} == {2}


def test_send_is_unhealthy_and_calc_is_healthy() -> None:
    store = records("0.8.0")
    send = job_health(SEND, store=store, now=NOW)
    assert send.verdict is Verdict.FAIL
    assert send.tasks[0].consecutive_failures == 1
    assert len(send.tasks[0].stuck) == 1
    assert job_health(CALC, store=store, now=NOW).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("month", "verdict"), [("2026-10", Verdict.PASS), ("2026-11", Verdict.FAIL)]
)
def test_a_gate_on_calc_is_met_for_the_months_that_ran_whatever_the_mode(
    month: str, verdict: Verdict
) -> None:
    answer = check_upstream(
        {"task": CALC, "variables": ["month"]},
        variables={"month": month, "mode": "PROD"},
        store=records("0.8.0"),
        now=NOW,
    )
    assert answer.verdict is verdict


def test_leases_of_the_engine_are_no_receipts() -> None:
    root = CORPUS / "ubunye-engine-0.8.0" / "dot-ubunye"
    assert len(list((root / "leases").rglob("*.json"))) == 8
    assert {receipt.task for receipt in records("0.8.0").search()} == {CALC, SEND, ORDERS}
