"""Checks show what gates are; and a gate stands even where its check is not selected."""

import warnings
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import DAY, Put
from ubunye_core import ConfigError, ReceiptStore, Status, Window
from ubunye_dagster import (
    ReceiptStoreResource,
    build_freshness_checks,
    build_health_checks,
    build_upstream_checks,
    define_gated_job,
    gated,
    partition_format,
    recorded,
)

UPSTREAM, TASK = "pay/monthly/calc", "pay/monthly/send"
EXTERNAL = dg.AssetSpec(["pay", "monthly", "calc"])
MONTHLY = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
MONTH = {"month": partition_format("%Y-%m")}
CHECKS = build_upstream_checks(UPSTREAM, variables=MONTH)
ran: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


@dg.asset(partitions_def=MONTHLY, deps=[EXTERNAL])
def trusting(context: dg.AssetExecutionContext) -> None:
    ran.append("trusting")


@dg.asset(partitions_def=MONTHLY, deps=[EXTERNAL])
@recorded(TASK, variables=MONTH)
@gated(UPSTREAM)
def send(context: dg.AssetExecutionContext) -> None:
    ran.append("send")


def definitions(resources: Any, checks: Any = CHECKS) -> dg.Definitions:
    return dg.Definitions(
        assets=[EXTERNAL, trusting, send],
        asset_checks=checks,
        resources=resources,
        jobs=[
            define_gated_job("checked", [trusting], checks),
            define_gated_job("checked_send", [send], checks),
            dg.define_asset_job("unchecked", ["trusting"]),
            dg.define_asset_job("unchecked_send", ["send"]),
        ],
    )


def execute(job: str, resources: Any, checks: Any = CHECKS, key: str = "2026-10-01") -> Any:
    resolved = definitions(resources, checks).resolve_job_def(job)
    return resolved.execute_in_process(partition_key=key, raise_on_error=False)


def test_a_check_of_the_upstream_blocks_what_depends_on_it(receipts: Any, put: Put) -> None:
    put(month="2026-11")
    result = execute("checked", receipts)
    assert not result.success
    assert ran == []
    (check,) = result.get_asset_check_evaluations()
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert check.asset_key == EXTERNAL.key
    assert check.check_name == "upstream_pay_monthly_calc"
    assert "has not succeeded for month=2026-10" in str(check.metadata["reason"].value)


def test_a_check_passes_for_the_runs_own_partition(receipts: Any, put: Put) -> None:
    upstream = put(month="2026-11")
    result = execute("checked", receipts, key="2026-11-01")
    assert result.success
    assert ran == ["trusting"]
    (check,) = result.get_asset_check_evaluations()
    assert check.passed
    (row,) = check.metadata["requirements"].records  # type: ignore[union-attr]
    assert row.data["satisfied_by"] == upstream.run_id


def test_what_cannot_be_told_fails_a_check_as_an_error(receipts: Any, url: str) -> None:
    damaged = Path(url) / "pay" / "monthly" / "calc" / "damaged.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{")
    result = execute("checked", receipts)
    (check,) = result.get_asset_check_evaluations()
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert check.metadata["verdict"].value == "UNKNOWN"
    assert "damaged.json" in str(check.metadata["reason"].value)
    assert ran == []


def test_a_check_that_cannot_be_asked_blocks_too(put: Put) -> None:
    nowhere = {"receipts": ReceiptStoreResource()}  # and UBUNYE_STORE is not set
    assert not execute("checked", nowhere).success
    assert ran == []


def test_without_the_check_in_its_selection_a_run_is_not_blocked_by_it(receipts: Any) -> None:
    """Why a check is no guarantee: this is Dagster's own doing, in every job by default."""
    assert execute("unchecked", receipts).success
    assert ran == ["trusting"]


@pytest.mark.parametrize("job", ["unchecked_send", "checked_send"])
def test_the_gate_in_the_body_stands_with_and_without_the_check(
    receipts: Any, put: Put, job: str
) -> None:
    put(month="2026-11")
    assert not execute(job, receipts).success
    assert ran == []
    assert execute(job, receipts, key="2026-11-01").success
    assert ran == ["send"]


def test_a_check_that_does_not_block_is_shown_all_the_same(receipts: Any, put: Put) -> None:
    checks = build_upstream_checks(UPSTREAM, variables=MONTH, blocking=False)
    result = execute("checked", receipts, checks)
    assert ran == ["trusting"]
    assert [check.passed for check in result.get_asset_check_evaluations()] == [False]


def test_several_requirements_have_a_check_each_with_a_name_that_stays() -> None:
    checks = build_upstream_checks(
        [UPSTREAM, {"task": UPSTREAM, "variables": []}, "pay/*/approve"], asset="money"
    )
    keys = [key for check in checks for key in check.check_keys]
    assert [key.name for key in keys] == [
        "upstream_pay_monthly_calc",
        "upstream_pay_monthly_calc__2",
        "upstream_pay___approve",
    ]
    assert {key.asset_key for key in keys} == {dg.AssetKey("money")}


def test_checks_give_no_warnings_unless_a_preview_is_asked_for() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_upstream_checks(UPSTREAM)
        build_health_checks([UPSTREAM])


@pytest.mark.parametrize(
    ("build", "wrong", "said"),
    [
        (build_health_checks, {"max_age": "40 days"}, "40 days.*max_age"),
        (build_health_checks, {"stuck_after": "soon"}, "soon.*stuck_after"),
        (build_health_checks, {"failure_threshold": 0}, "failure_threshold"),
        (build_freshness_checks, {"max_age": "40 days"}, "40 days.*max_age"),
    ],
)
def test_a_wrong_limit_is_an_error_when_the_code_location_is_loaded(
    build: Any, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        build([UPSTREAM], **wrong)


def health(resources: Any, store: ReceiptStore, **limits: Any) -> dg.AssetCheckEvaluation:
    checks = build_health_checks({"calc": UPSTREAM}, **limits)
    defs = dg.Definitions(assets=[dg.AssetSpec("calc")], asset_checks=checks, resources=resources)
    job = dg.define_asset_job("watch", dg.AssetSelection.checks(*checks))
    defs = dg.Definitions.merge(defs, dg.Definitions(jobs=[job]))
    result = defs.resolve_job_def("watch").execute_in_process(raise_on_error=False)
    (found,) = result.get_asset_check_evaluations()
    assert found.severity is dg.AssetCheckSeverity.ERROR
    assert found.check_name == "receipt_health"
    return found


def test_a_healthy_task_passes_its_check(receipts: Any, store: ReceiptStore, put: Put) -> None:
    put(month="2026-10")
    assert health(receipts, store).passed


@pytest.mark.parametrize("status", ["error", "interrupted"])
def test_a_failing_task_fails_its_check(
    receipts: Any, store: ReceiptStore, put: Put, status: str
) -> None:
    put(month="2026-10")
    put(status, run_id="r2", started_at=DAY + timedelta(days=1), month="2026-10")
    found = health(receipts, store)
    assert not found.passed
    assert found.metadata["verdict"].value == "FAIL"
    (row,) = found.metadata["tasks"].records  # type: ignore[union-attr]
    assert row.data["last_status"] == status
    assert row.data["consecutive_failures"] == "1"
    assert health(receipts, store, failure_threshold=2).passed


def test_a_stuck_or_stale_task_fails_its_check(
    receipts: Any, store: ReceiptStore, put: Put
) -> None:
    put(month="2026-10")
    assert not health(receipts, store, max_age="1h").passed
    put("running", run_id="r2", started_at=datetime.now(UTC) - timedelta(hours=5), month="2026-11")
    assert health(receipts, store).passed
    assert not health(receipts, store, stuck_after=timedelta(hours=1)).passed


def test_a_task_that_never_ran_fails_its_check(receipts: Any, store: ReceiptStore) -> None:
    found = health(receipts, store)
    assert not found.passed
    assert found.metadata["verdict"].value == "UNKNOWN"


def test_a_store_that_is_not_there_fails_a_health_check(
    tmp_path: Path, store: ReceiptStore
) -> None:
    gone = {"receipts": ReceiptStoreResource(url=str(tmp_path / "gone"))}
    found = health(gone, store)
    assert not found.passed
    assert found.metadata["verdict"].value == "UNKNOWN"


def freshness(resources: Any, **limits: Any) -> dg.AssetCheckEvaluation:
    checks = build_freshness_checks([UPSTREAM], **limits)
    job = dg.define_asset_job("watch", dg.AssetSelection.checks(*checks))
    defs = dg.Definitions(assets=[EXTERNAL], asset_checks=checks, jobs=[job], resources=resources)
    result = defs.resolve_job_def("watch").execute_in_process(raise_on_error=False)
    (found,) = result.get_asset_check_evaluations()
    assert found.severity is dg.AssetCheckSeverity.ERROR
    return found


def test_freshness_goes_by_the_window_and_not_by_when_it_was_written(
    receipts: Any, store: ReceiptStore, put: Put
) -> None:
    """An old month that was run again an hour ago is old data."""
    now = datetime.now(UTC)
    ran = put("running", started_at=now - timedelta(hours=1), month="2026-09")
    old = Window(start=now - timedelta(days=90), end=now - timedelta(days=60))
    store.save(replace(ran, status=Status.SUCCESS, ended_at=now, window=old))
    found = freshness(receipts, max_age="40d", owner="payroll")
    assert not found.passed
    assert "To be told: payroll." in (found.description or "")
    assert found.metadata["owner"].value == "payroll"
    assert freshness(receipts, max_age="61d").passed


def test_a_failure_is_no_lack_of_freshness_and_no_success_at_all_is(
    receipts: Any, store: ReceiptStore, put: Put
) -> None:
    now = datetime.now(UTC)
    put("error", run_id="r0", started_at=now - timedelta(hours=3), month="2026-10")
    assert not freshness(receipts, max_age="1d").passed
    put(run_id="r1", started_at=now - timedelta(hours=2), month="2026-10")
    put("error", run_id="r2", started_at=now - timedelta(hours=1), month="2026-10")
    put("running", run_id="r3", started_at=now - timedelta(days=30), month="2026-09")
    found = freshness(receipts, max_age="1d")
    assert found.passed
    assert "is fresh" in (found.description or "")
    assert not health(receipts, store, max_age="1d").passed
    assert not freshness(receipts, max_age="1h").passed
