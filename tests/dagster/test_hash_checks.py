"""Checks that compare what is on record: hashes and rows, with the data now and with other runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.dagster.conftest import DAY, Put
from ubunye_core import (
    ConfigError,
    Counts,
    Receipt,
    ReceiptStore,
    Status,
    Step,
    fingerprint,
    open_store,
    record_run,
)
from ubunye_dagster import (
    build_hash_checks,
    build_row_count_checks,
    define_gated_job,
    partition_format,
)
from ubunye_dagster.checks.definition import question_of

CALC = "pay/monthly/calc"
KEY = dg.AssetKey(["pay", "monthly", "calc"])
MONTHLY = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
MONTH = {"month": partition_format("%Y-%m")}
A, B = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
ADULTS = pa.table({"name": ["Ann"], "age": [31]})
Found = dg.AssetCheckResult | dg.AssetCheckEvaluation
Run = Callable[..., dict[str, dg.AssetCheckResult]]


@pytest.fixture
def run(store: ReceiptStore) -> Run:
    """Ask checks, without Dagster around them, and tell what they found by their names."""

    def ask(
        checks: list[dg.AssetChecksDefinition], of: ReceiptStore = store
    ) -> dict[str, dg.AssetCheckResult]:
        found = {}
        for check in checks:
            (spec,), question = check.check_specs, question_of(check)
            assert question is not None
            found[spec.name] = question.ask(of, None)
            assert found[spec.name].severity is dg.AssetCheckSeverity.ERROR
        return found

    return ask


@pytest.fixture
def run_for(receipts: Any) -> Callable[..., dg.AssetCheckEvaluation]:
    """Run one check in Dagster, for a partition of what depends on its asset."""

    @dg.asset(partitions_def=MONTHLY, deps=[KEY])
    def down() -> None: ...

    def execute(checks: list[dg.AssetChecksDefinition], key: str) -> dg.AssetCheckEvaluation:
        defs = dg.Definitions(
            assets=[dg.AssetSpec(KEY), down],
            asset_checks=checks,
            jobs=[define_gated_job("look", [down], checks)],
            resources=receipts,
        )
        result = defs.resolve_job_def("look").execute_in_process(
            partition_key=key, raise_on_error=False
        )
        (found,) = result.get_asset_check_evaluations()
        assert found.severity is dg.AssetCheckSeverity.ERROR
        return found

    return execute


@pytest.fixture
def wrote(store: ReceiptStore, put: Put) -> Callable[..., Receipt]:
    """Put a success into the store that wrote something."""

    def put_written(
        run_id: str, data_hash: str | None = A, *, month: str = "2026-10", day: int = 0, **more: Any
    ) -> Receipt:
        start = DAY + timedelta(days=day)
        running = put("running", run_id=run_id, started_at=start, month=month)
        if not more.get("outputs"):
            method = "rows-v1" if data_hash else None
            more["outputs"] = (
                Step(name="adults", direction="output", data_hash=data_hash, hash_method=method),
            )
        done = replace(
            running, status=Status.SUCCESS, ended_at=start + timedelta(minutes=1), **more
        )
        store.save(done)
        return done

    return put_written


def verdict(check: Found) -> str:
    found = str(told(check, "verdict"))
    assert check.passed is (found == "PASS")
    return found


def told(check: Found, name: str) -> Any:
    """A metadata value of a check."""
    return check.metadata[name].value  # type: ignore[index, union-attr]


def only(found: dict[str, dg.AssetCheckResult]) -> dg.AssetCheckResult:
    (check,) = found.values()
    return check


def recorded_run(store: ReceiptStore, table: Any = ADULTS) -> None:
    with record_run(CALC, variables={"month": "2026-10"}, store=store) as run:
        run.wrote("adults", table)


def output_check(load: Any, **more: Any) -> list[dg.AssetChecksDefinition]:
    return build_hash_checks(CALC, load=load, reproduced=False, **more)


@pytest.mark.parametrize("is_function", [False, True])
def test_an_output_is_as_its_receipt_says_until_somebody_changes_it(
    run: Run, store: ReceiptStore, tmp_path: Path, is_function: bool
) -> None:
    file = tmp_path / "adults.parquet"
    pq.write_table(ADULTS, file)
    recorded_run(store, str(file))
    checks = output_check((lambda receipt: file) if is_function else file, owner="payroll")
    assert verdict(only(run(checks))) == "PASS"
    pq.write_table(pa.table({"name": ["Ann", "Ben"], "age": [31, 12]}), file)
    check = only(run(checks))
    assert list(run(checks)) == ["receipt_output"]
    assert verdict(check) == "FAIL"
    assert "Rows now: 2; on record: 1. To be told: payroll." in (check.description or "")


def test_a_fingerprint_may_be_given_for_data_that_wants_care(run: Run, store: ReceiptStore) -> None:
    recorded_run(store)
    wide = ADULTS.append_column("note", pa.array(["x"]))
    checks = output_check(lambda receipt: fingerprint(wide, columns=["name", "age"]))
    assert verdict(only(run(checks))) == "PASS"


def test_rows_read_in_another_way_tell_nothing_when_they_hash_otherwise(
    run: Run, store: ReceiptStore
) -> None:
    recorded_run(store, pd.DataFrame({"age": [31.0, None]}))
    table = pa.table({"age": pa.array([31, None], pa.int64())})
    check = only(run(output_check(lambda receipt: table)))
    assert verdict(check) == "UNKNOWN"
    assert "was read as arrow, and then as pandas" in (check.description or "")


def test_what_cannot_be_loaded_or_hashed_cannot_be_told(
    run: Run, store: ReceiptStore, tmp_path: Path
) -> None:
    def fails(receipt: Receipt) -> object:
        raise ValueError("Ada Lovelace")

    recorded_run(store)
    for load, why in ((fails, "could not be loaded: ValueError."), (tmp_path / "gone", "hashed")):
        check = only(run(output_check(load)))
        assert verdict(check) == "UNKNOWN"
        assert why in (check.description or "")
        assert "Ada" not in str(check)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"data_hash": None}, "has no hash on record: none was taken"),
        ({"outputs": (Step(name="a", direction="output", data_hash=A, hash_method="md5"),)}, "md5"),
        (
            {
                "outputs": tuple(
                    Step(name=name, direction="output", data_hash=A) for name in ("one", "two")
                )
            },
            "has not one output on record; it has: one, two",
        ),
    ],
)
def test_without_one_hash_on_record_it_cannot_be_told(
    run: Run, wrote: Any, more: dict[str, Any], why: str
) -> None:
    wrote("r1", **more)
    check = only(run(output_check(lambda receipt: ADULTS)))
    assert verdict(check) == "UNKNOWN"
    assert why in (check.description or "")


def test_a_rerun_of_a_batch_is_held_against_the_run_before_it(run: Run, wrote: Any) -> None:
    checks = build_hash_checks(CALC)
    wrote("r1", A)
    check = only(run(checks))
    assert list(run(checks)) == ["receipt_reproduced"]
    assert "succeeded once" in (check.description or "")
    wrote("r2", B, month="2026-11", day=1)  # another month is no rerun
    assert verdict(only(run(checks))) == "PASS"
    wrote("r3", A, day=2)
    check = only(run(checks))
    assert verdict(check) == "PASS"
    assert told(check, "compared_with") == "r1"
    people = (Step(name="people", direction="input", data_hash=B),)
    wrote("r4", B, day=3, inputs=people, code_hash=B)
    check = only(run(checks))
    assert verdict(check) == "FAIL"
    assert (
        "run r4 of pay/monthly/calc wrote something else than run r3: adults. "
        "It read something else, too: people. Its code was not the same."
    ) in (check.description or "")


def test_each_partition_is_its_own_batch(run_for: Any, wrote: Any) -> None:
    wrote("r1", A, month="2026-10")
    wrote("r2", B, month="2026-10", day=1)
    wrote("r3", A, month="2026-11", day=2)
    checks = build_hash_checks(CALC, variables=MONTH)
    assert verdict(run_for(checks, "2026-10-01")) == "FAIL"
    missing = run_for(checks, "2026-12-01")
    assert verdict(missing) == "UNKNOWN"
    assert "has not succeeded for month=2026-12" in (missing.description or "")


def test_the_same_rows_for_another_batch_are_told(run: Run, wrote: Any) -> None:
    checks = build_hash_checks(CALC, reproduced=False, changed=True)
    wrote("r1", A, month="2026-09")
    assert verdict(only(run(checks))) == "PASS"
    wrote("r2", A, month="2026-10", day=1)
    check = only(run(checks))
    assert list(run(checks)) == ["receipt_changed"]
    assert verdict(check) == "FAIL"
    assert "wrote the same for month=2026-10 as for month=2026-09" in (check.description or "")
    wrote("r3", B, month="2026-10", day=2)
    assert verdict(only(run(checks))) == "PASS"


def test_rows_are_held_against_limits_and_the_batch_before(run: Run, wrote: Any) -> None:
    def rows(number: int | None) -> tuple[Step, ...]:
        return (Step(name="adults", direction="output", row_count=number),)

    def found(**limits: Any) -> dg.AssetCheckResult:
        return only(run(build_row_count_checks([CALC], **limits)))

    wrote("r1", month="2026-09", outputs=rows(100))
    assert verdict(found(max_change=0.1)) == "PASS"
    wrote("r2", month="2026-10", day=1, outputs=rows(60))
    assert verdict(found(min_rows=60, max_rows=60)) == "PASS"
    assert verdict(found(min_rows=61)) == "FAIL"
    assert verdict(found(max_rows=59)) == "FAIL"
    assert verdict(found(max_change=0.4)) == "PASS"
    check = found(max_change=0.39)
    assert verdict(check) == "FAIL"
    assert told(check, "rows_before") == 100
    wrote("r3", month="2026-10", day=2, outputs=rows(100))  # of the same month
    assert verdict(found(max_change=0.0)) == "PASS"
    assert verdict(found(min_rows=1, output="adults")) == "PASS"
    assert verdict(found(min_rows=1, output="children")) == "UNKNOWN"
    wrote("r4", month="2026-10", day=3, outputs=rows(None))
    assert verdict(found(min_rows=1)) == "UNKNOWN"
    wrote("r5", month="2026-10", day=4, outputs=rows(None), counts=Counts(loaded=3))
    assert verdict(found(min_rows=3)) == "PASS"
    wrote("r6", month="2026-11", day=5, outputs=rows(1))
    said = f"Rows that {CALC} wrote for month=2026-11: 1"
    assert found(min_rows=1).description == f"{said}."
    assert found(min_rows=2).description == f"{said}, fewer than 2."
    changed = f"{said}, and 3 for month=2026-10 before: more than 50% apart."
    assert found(max_change=0.5).description == changed


def test_runs_that_name_no_batch_are_held_against_the_run_before(
    run: Run, store: ReceiptStore
) -> None:
    for number, rows in enumerate((100, 10)):
        start = DAY + timedelta(days=number)
        store.save(
            Receipt(
                task=CALC,
                run_id=f"r{number}",
                status=Status.SUCCESS,
                started_at=start,
                ended_at=start,
                counts=Counts(loaded=rows),
                outputs=(Step(name="adults", direction="output", data_hash=A),),
            )
        )
    check = only(run(build_row_count_checks([CALC], max_change=0.5)))
    assert (verdict(check), told(check, "rows_before")) == ("FAIL", 100)
    found = run(build_hash_checks(CALC, changed=True))
    assert {name: verdict(each) for name, each in found.items()} == {
        "receipt_reproduced": "PASS",  # none of them is a rerun
        "receipt_changed": "FAIL",
    }


def test_the_batch_before_is_found_behind_any_number_of_reruns(
    run: Run, wrote: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ubunye_dagster.checks.successes.LOOKED_AT", 2)
    wrote("r0", A, month="2026-09")
    for number in range(1, 5):
        wrote(f"r{number}", A, day=number)
    check = only(run(build_hash_checks(CALC, reproduced=False, changed=True)))
    assert (verdict(check), told(check, "compared_with")) == ("FAIL", "r0")


def test_a_receipt_that_may_be_newer_and_cannot_be_read_leaves_it_open(
    run: Run, wrote: Any, url: str
) -> None:
    wrote("r1")
    (Path(url) / "pay" / "monthly" / "calc" / "damaged.json").write_text("{")
    checks = [*build_hash_checks(CALC), *build_row_count_checks([CALC], min_rows=0)]
    for check in run(checks).values():
        assert verdict(check) == "UNKNOWN"
        assert "damaged.json" in (check.description or "")


def test_a_store_that_cannot_answer_leaves_it_open(run: Run, tmp_path: Path) -> None:
    gone = open_store(str(tmp_path / "gone"))
    assert verdict(only(run(build_hash_checks(CALC), gone))) == "UNKNOWN"


def test_a_success_from_the_future_counts_for_nothing(run: Run, wrote: Any) -> None:
    wrote("r1", A)
    wrote("r2", A, day=1)
    wrote("r3", B, day=60_000)
    assert verdict(only(run(build_hash_checks(CALC)))) == "PASS"


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda: build_hash_checks(CALC, reproduced=False), "No check is asked for"),
        (lambda: build_row_count_checks([CALC]), "No limit is given"),
        (lambda: build_row_count_checks([CALC], min_rows=2, max_rows=1), "max_rows is 1"),
        (lambda: build_row_count_checks([CALC], max_change=-0.1), "it is a part"),
    ],
)
def test_checks_that_ask_nothing_are_refused(build: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        build()
