"""What the code inside a run can say about it. None of it may break the run."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ubunye_core import (
    Counts,
    Expectation,
    Receipt,
    Status,
    TriggeredBy,
    TriggerKind,
    UpstreamNotMetError,
    Verdict,
    check_upstream,
    fingerprint,
    record_run,
)
from ubunye_core.codec import MAX_RECEIPT_BYTES
from ubunye_core.masking import MASK
from ubunye_core.stores import FileStore, MemoryStore
from ubunye_core.testing import a_receipt, a_step

TASK = "pay/monthly/calc"
SEND = "pay/monthly/send"
SECRET = "Wachtwoord-42"
Only = Callable[[], Receipt]
PEOPLE = pd.DataFrame({"name": ["Ada", "Grace"], "age": [36, 45]})


def test_what_was_read_and_written_is_hashed_and_counted(folder: FileStore, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    PEOPLE.to_parquet(path, index=False)
    with record_run(TASK, store=folder) as run:
        run.read("people", path)
        run.read("frame", PEOPLE, format="csv", location="s3://bucket/people.csv")
        run.wrote("adults", pa.table({"n": [1, 2, 3]}))
    receipt = folder.search()[0]
    people, frame = receipt.inputs
    (adults,) = receipt.outputs
    assert (people.direction, people.format, people.location, people.row_count, people.route) == (
        "input", "parquet", str(path), 2, "parquet",
    )  # fmt: skip
    assert people.data_hash == fingerprint(path).data_hash == frame.data_hash
    assert people.hash_method == "rows-v1"
    assert people.hash_seconds is not None
    assert (frame.format, frame.location, frame.route) == (
        "csv",
        "s3://bucket/people.csv",
        "pandas",
    )
    assert (adults.direction, adults.row_count, adults.route) == ("output", 3, "arrow")


def test_a_format_is_told_by_the_name_of_the_location(store: MemoryStore, only: Only) -> None:
    with record_run(TASK, store=store) as run:
        run.wrote("due", PEOPLE, location="/srv/out/due.parquet")
        run.wrote("table", PEOPLE, location="/srv/out/table.v2")
    assert [(step.format, step.route) for step in only().outputs] == [
        ("parquet", "pandas"),
        ("pandas", "pandas"),
    ]


def test_a_hash_of_each_column_is_kept_when_asked_for(store: MemoryStore, only: Only) -> None:
    with record_run(TASK, store=store) as run:
        run.read("people", PEOPLE, per_column=True)
        run.read("ages", PEOPLE, columns=["age"], per_column=True)
        run.read("counted", PEOPLE, hash=False, per_column=True)
        run.wrote("plain", PEOPLE)
    people, ages, counted = only().inputs
    assert people.column_hashes == fingerprint(PEOPLE, per_column=True).column_hashes
    assert people.data_hash == fingerprint(PEOPLE).data_hash
    assert ages.column_hashes == {"age": fingerprint(PEOPLE, columns=["age"]).data_hash}
    assert counted.column_hashes is None
    assert only().outputs[0].column_hashes is None


def test_hashing_is_a_choice_and_the_count_stays(store: MemoryStore, only: Only) -> None:
    with record_run(TASK, store=store) as run:
        step = run.read("big", PEOPLE, hash=False)
    assert only().inputs == (step,)
    said = (step.row_count, step.data_hash, step.hash_method, step.hash_error)
    assert said == (2, None, None, None)


@pytest.mark.parametrize(
    "columns",
    ["age", ["age"], ("age",), iter(["age"])],
    ids=["name", "list", "tuple", "iterator"],
)
def test_columns_may_be_named(store: MemoryStore, columns: object) -> None:
    with record_run(TASK, store=store) as run:
        step = run.read("ages", PEOPLE, columns=columns)  # type: ignore[arg-type]
    assert step.data_hash == fingerprint(PEOPLE, columns=["age"]).data_hash


@pytest.mark.parametrize(
    "data",
    [7, object(), "/nowhere/people.csv", [{"a": 1}], pd.DataFrame({"a": [object()]}), lambda: 1],
    ids=lambda data: type(data).__name__,
)
def test_what_cannot_be_hashed_says_why_and_the_run_stands(
    store: MemoryStore, only: Only, data: object
) -> None:
    with record_run(TASK, store=store) as run:
        run.read("odd", data)
        run.wrote("odd", data, hash=False)
    (step,) = only().inputs
    assert (step.data_hash, step.hash_method) == (None, None)
    assert step.hash_error
    assert only().status is Status.SUCCESS


def test_an_error_of_a_frame_is_told_by_its_type_alone(store: MemoryStore, only: Only) -> None:
    class Frame:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise ValueError(SECRET)

    with record_run(TASK, store=store) as run:
        run.read("odd", Frame())
    assert SECRET not in str(only())


@pytest.mark.parametrize("columns", [7, ["nowhere"], [7], [None]])
def test_wrong_columns_are_a_hash_error(store: MemoryStore, only: Only, columns: object) -> None:
    with record_run(TASK, store=store) as run:
        run.read("people", PEOPLE, columns=columns)  # type: ignore[arg-type]
    assert only().inputs[0].hash_error


def test_a_step_without_data_is_only_named(store: MemoryStore, only: Only) -> None:
    with record_run(TASK, store=store) as run:
        run.wrote("mail", format="smtp", location=f"smtp://ada:{SECRET}@mail/out")
    (step,) = only().outputs
    assert (step.format, step.location, step.hash_error) == (
        "smtp",
        "smtp://ada:***@mail/out",
        None,
    )


def test_the_same_name_again_replaces_what_was_said(store: MemoryStore, only: Only) -> None:
    with record_run(TASK, store=store) as run:
        run.read("people", PEOPLE)
        run.read("people", PEOPLE.head(1))
        run.wrote("people", PEOPLE)
    assert [step.row_count for step in only().inputs] == [1]
    assert [step.row_count for step in only().outputs] == [2]


def test_rules_are_kept_with_counts_and_without_rows(folder: FileStore) -> None:
    with record_run(TASK, variables={"api_key": SECRET}, store=folder) as run:
        assert run.expect("age >= 0", True)
        assert not run.expect(
            "name is not null", False, output="adults", column="name", failed=3, total=9
        )
        assert not run.expect("n", np.bool_(False), failed=np.int64(4))  # type: ignore[arg-type]
        assert run.expect(f"key is {SECRET}", np.bool_(True))  # type: ignore[arg-type]
    rules = folder.search()[0].expectations
    assert rules == (
        Expectation(rule="age >= 0", passed=True),
        Expectation(
            rule="name is not null", passed=False, output="adults", failed=3, total=9,
            extra={"column": "name"},
        ),
        Expectation(rule="n", passed=False, failed=4),
        Expectation(rule="key is ***", passed=True),
    )  # fmt: skip


def test_a_rule_that_is_neither_true_nor_false_did_not_hold(store: MemoryStore, only: Only) -> None:
    with record_run(TASK, store=store) as run:
        assert run.expect("all", pd.Series([True, False])) is False  # type: ignore[arg-type]
        assert run.expect("na", pd.NA) is False  # type: ignore[arg-type]
    assert [rule.passed for rule in only().expectations] == [None, None]


def test_counts_add_up_from_what_is_said_and_may_be_of_numpy(folder: FileStore) -> None:
    with record_run(TASK, store=folder) as run:
        run.count(extracted=np.int64(10), filtered=2)  # type: ignore[arg-type]
        run.count(filtered=3, loaded=np.float64(7))  # type: ignore[arg-type]
        run.count(quarantined=math.nan, reread="many", transformed=None)  # type: ignore[arg-type]
    receipt = folder.search()[0]
    assert receipt.status is Status.SUCCESS
    assert receipt.counts == Counts(extracted=10, filtered=3, loaded=7)


def test_timings_rules_and_hashes_are_kept_when_the_run_fails(
    store: MemoryStore, only: Only
) -> None:
    with pytest.raises(ValueError, match="x"), record_run(TASK, store=store) as run:
        _fail_halfway(run)
    receipt = only()
    assert receipt.status is Status.ERROR
    assert [timing.step for timing in receipt.timings] == ["read", "write"]
    assert all(0 <= timing.seconds < 5 for timing in receipt.timings)
    assert (len(receipt.inputs), len(receipt.expectations)) == (1, 1)


def _fail_halfway(run: object) -> None:
    with run.timed("read"):  # type: ignore[attr-defined]
        run.read("people", PEOPLE)  # type: ignore[attr-defined]
    run.expect("age >= 0", False)  # type: ignore[attr-defined]
    with run.timed("write"):  # type: ignore[attr-defined]
        raise ValueError("x")


# --- gates inside a run ---


def test_a_gate_inside_the_run_pins_what_met_it(store: MemoryStore) -> None:
    upstream = a_receipt(outputs=(a_step(name="adults", direction="output"),))
    store.save(upstream)
    with record_run(SEND, variables={"month": "2026-10"}, store=store) as run:
        answer = run.require({"task": TASK, "variables": ["month"]})
        run.require({"task": TASK, "variables": ["month"]})
    assert answer.verdict == "PASS"
    (pin,) = store.list_runs(SEND)[0].upstreams
    assert (pin.task, pin.run_id) == (TASK, "run-1")
    assert dict(pin.data_hashes) == {"adults": "sha256:" + "2" * 64}


def test_a_refused_run_is_skipped_with_the_reason(store: MemoryStore) -> None:
    ran = False
    recording = record_run(SEND, variables={"month": "2026-11"}, store=store, requires=TASK)
    with pytest.raises(UpstreamNotMetError) as refused, recording:
        ran = True
    receipt = store.list_runs(SEND)[0]
    assert not ran
    assert (receipt.status, receipt.outcome) == (Status.SKIPPED, "refused")
    assert receipt.was_refused
    assert receipt.error == refused.value.answer.reason


def test_a_refusal_inside_the_block_is_a_refusal_too(store: MemoryStore) -> None:
    recording = record_run(SEND, variables={"month": "2026-11"}, store=store)
    with pytest.raises(UpstreamNotMetError), recording as run:
        run.require(TASK)
    assert store.list_runs(SEND)[0].was_refused


def test_a_gate_that_is_met_lets_the_block_run(store: MemoryStore) -> None:
    store.save(a_receipt())
    with record_run(SEND, variables={"month": "2026-10"}, store=store, requires=TASK) as run:
        assert [pin.run_id for pin in run.receipt.upstreams] == ["run-1"]
    assert store.list_runs(SEND)[0].status is Status.SUCCESS


class BrokenError:
    """Cannot be shown, counted or weighed."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __bool__ = __int__ = __str__  # type: ignore[assignment]


def test_nothing_that_is_said_of_a_run_breaks_it(store: MemoryStore, only: Only) -> None:
    broken: Any = BrokenError()
    with record_run(TASK, store=store) as run:
        run.read(broken, broken, format=broken, location=broken)
        run.expect(broken, broken, output=broken, column=broken, failed=broken, total=10**5000)
        run.count(loaded=broken, extracted=10**5000)
        with run.timed(broken):
            pass
    receipt = only()
    assert receipt.status is Status.SUCCESS
    assert receipt.inputs[0].name == receipt.timings[0].step == "BrokenError"
    assert receipt.counts is None


@pytest.mark.parametrize("detail", [{1, 2}, "x" * MAX_RECEIPT_BYTES], ids=["no JSON", "too large"])
def test_a_detail_that_cannot_be_written_does_not_cost_the_receipt(
    folder: FileStore, caplog: pytest.LogCaptureFixture, detail: Any
) -> None:
    by = TriggeredBy(kind=TriggerKind.API, actor="ada", extra={"detail": detail})
    with record_run(TASK, variables={"month": "2026-10"}, store=folder, triggered_by=by) as run:
        run.count(loaded=3)
    (receipt,) = folder.search()
    assert (receipt.status, receipt.variables) == (Status.SUCCESS, {"month": "2026-10"})
    assert receipt.triggered_by == replace(by, extra={})
    assert "are not recorded" in caplog.text


# --- nothing private ---


def test_no_secret_reaches_the_store(folder: FileStore, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    variables = {"month": "2026-10", "db_password": SECRET, "source": f"ftp://ada:{SECRET}@h/x"}
    recording = record_run(TASK, variables=variables, store=folder, reason=f"as {SECRET} asked")
    with pytest.raises(RuntimeError), recording as run:
        _tell_all(run)
    with record_run(TASK, variables=variables, store=folder) as run:
        run.skip(f"because {SECRET}")
    for path in folder.root.rglob("*"):
        if path.is_file():
            assert SECRET not in path.read_text()
    assert SECRET not in caplog.text
    skipped, failed = folder.search()
    assert failed.variables == {
        "month": "2026-10",
        "db_password": MASK,
        "source": "ftp://ada:***@h/x",
    }
    assert failed.error == "RuntimeError: refused *** for ada"
    assert skipped.error == "because ***"


def _tell_all(run: object) -> None:
    assert run.variables["db_password"] == SECRET  # type: ignore[attr-defined]  # the work may use it
    run.expect(f"not {SECRET}", True)  # type: ignore[attr-defined]
    run.read(SECRET, f"/nowhere/{SECRET}/x.csv")  # type: ignore[attr-defined]
    run.expect("even", True, output=SECRET, column=SECRET)  # type: ignore[attr-defined]
    with run.timed(SECRET):  # type: ignore[attr-defined]
        pass
    run.read("x", location=f"https://ada:{SECRET}@host/x?token={SECRET}")  # type: ignore[attr-defined]
    raise RuntimeError(f"refused {SECRET} for ada\n{SECRET}")


def test_a_masked_variable_is_no_part_of_the_batch(store: MemoryStore, only: Only) -> None:
    with record_run(TASK, variables={"month": "2026-10", "token": SECRET}, store=store):
        pass
    assert only().batch.as_dict() == {"month": "2026-10"}


def test_a_url_is_compared_and_shown_without_its_password(store: MemoryStore) -> None:
    with record_run(TASK, variables={"source": f"ftp://ada:{SECRET}@h/x"}, store=store):
        pass
    for source, met in (
        (f"ftp://ada:{SECRET}@h/x", True),
        ("ftp://ada:rotated@h/x", True),
        (f"ftp://ada:{SECRET}@h/y", False),
    ):
        answer = check_upstream(TASK, variables={"source": source}, store=store)
        assert (answer.verdict is Verdict.PASS) is met
        assert SECRET not in str(answer)
