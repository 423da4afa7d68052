"""No asset runs past the check that stands before it without a word."""

import warnings
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import ConfigError, ReceiptStore
from ubunye_dagster import (
    build_health_checks,
    build_upstream_checks,
    check_gates,
    define_gated_job,
    gated,
    recorded,
)

TASK, DAY = "news/daily/load", {"day": "2024-10-09"}
LOAD = dg.AssetSpec("load")
CHECKS = build_upstream_checks(TASK, asset="load", variables=DAY)
ran: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


@dg.asset(deps=[LOAD])
def publish(context: dg.AssetExecutionContext) -> None:
    ran.append("publish")


@dg.asset(deps=[LOAD])
@recorded("news/daily/send", variables=DAY)
@gated(TASK)
def send(context: dg.AssetExecutionContext) -> None:
    ran.append("send")


def definitions(*assets: Any, receipts: Any, jobs: Any = (), checks: Any = CHECKS) -> Any:
    return dg.Definitions(
        assets=[LOAD, *assets], asset_checks=checks, jobs=jobs, resources=receipts
    )


ALL = dg.define_asset_job("everything")


def test_a_job_of_all_assets_does_not_run_one_past_its_check_without_a_word(receipts: Any) -> None:
    defs = definitions(publish, receipts=receipts, jobs=[ALL])
    with pytest.warns(UserWarning, match="without the check") as told:
        assert check_gates(defs, alone=False) is defs
    (said,) = told
    assert said.filename == __file__
    assert (
        "The job 'everything' runs the asset 'publish' without the check "
        "'upstream_news_daily_load' on 'load'"
    ) in str(said.message)
    # What is warned of is so: it runs.
    assert defs.resolve_job_def("everything").execute_in_process().success
    assert ran == ["publish"]


def test_it_is_an_error_where_that_is_asked_for(receipts: Any) -> None:
    defs = definitions(publish, receipts=receipts, jobs=[ALL])
    with pytest.raises(ConfigError, match="The job 'everything' runs") as error:
        check_gates(defs, on_ungated="error")
    assert "@gated" in str(error.value)
    assert "Launched alone" in str(error.value)


def test_a_job_that_selects_the_check_is_well_but_a_launch_of_its_asset_alone_is_not(
    receipts: Any,
) -> None:
    job = define_gated_job("careful", [publish], CHECKS)
    defs = definitions(publish, receipts=receipts, jobs=[job])
    check_gates(defs, on_ungated="error", alone=False)
    with pytest.warns(UserWarning, match="Launched alone, .* 'publish' runs without") as told:
        check_gates(defs)
    assert len(told) == 1


def test_an_asset_that_is_gated_is_safe_in_any_selection(
    receipts: Any, store: ReceiptStore, put: Put
) -> None:
    defs = definitions(send, receipts=receipts, jobs=[ALL])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        check_gates(defs, on_ungated="error")
    job = defs.resolve_job_def("everything")
    assert not job.execute_in_process(raise_on_error=False).success
    assert ran == []
    put(task=TASK, **DAY)
    assert job.execute_in_process().success
    assert ran == ["send"]


@pytest.mark.parametrize("is_gated", [True, False])
def test_a_graph_of_ops_is_as_safe_as_its_ops(receipts: Any, is_gated: bool) -> None:
    def look(context: dg.OpExecutionContext, load: int) -> int:
        return load

    first = dg.op(gated(TASK, variables=DAY)(look) if is_gated else look)

    @dg.graph_asset(ins={"load": dg.AssetIn("load")})
    def graph(load: Any) -> Any:
        return first(load)

    defs = definitions(graph, receipts=receipts, jobs=[ALL])
    if is_gated:
        check_gates(defs, on_ungated="error")
    else:
        with pytest.raises(ConfigError, match="the asset 'graph'"):
            check_gates(defs, on_ungated="error")


def test_checks_that_stop_nothing_are_no_gates(receipts: Any) -> None:
    shown = [
        *build_upstream_checks(TASK, asset="load", blocking=False),
        *build_health_checks({"load": TASK}),
    ]

    @dg.asset_check(asset="load", blocking=True)
    def of_somebody_else() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(passed=True)

    for checks in (shown, [of_somebody_else], []):
        check_gates(
            definitions(publish, receipts=receipts, jobs=[ALL], checks=checks), on_ungated="error"
        )


def test_a_check_on_an_asset_of_the_same_step_or_further_up_is_not_before_it(receipts: Any) -> None:
    @dg.multi_asset(specs=[dg.AssetSpec("a", deps=["load"]), dg.AssetSpec("b", deps=["a"])])
    @recorded("news/daily/both", variables=DAY)
    @gated(TASK)
    def both(context: dg.AssetExecutionContext) -> tuple[None, None]:
        return None, None

    of_a = build_upstream_checks("news/daily/both", asset="a", variables=DAY)
    defs = definitions(both, receipts=receipts, jobs=[ALL], checks=[*CHECKS, *of_a])
    check_gates(defs, on_ungated="error")


def test_a_wrong_word_for_what_is_to_happen_is_an_error(receipts: Any) -> None:
    with pytest.raises(ConfigError, match="on_ungated"):
        check_gates(definitions(publish, receipts=receipts), on_ungated="ignore")  # type: ignore[arg-type]
