"""A job is defined only with checks that stop something in it."""

import warnings
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import ConfigError
from ubunye_dagster import build_health_checks, build_upstream_checks, define_gated_job, recorded

TASK, DAY = "news/daily/load", {"day": "2024-10-09"}
ran: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


@dg.asset
@recorded(TASK, variables=DAY)
def load(context: dg.AssetExecutionContext) -> None:
    ran.append("load")


@dg.asset(deps=[load])
def publish(context: dg.AssetExecutionContext) -> None:
    ran.append("publish")


@dg.asset(deps=[publish])
def announce(context: dg.AssetExecutionContext) -> None:
    ran.append("announce")


def execute(selection: Any, checks: Any, resources: Any) -> bool:
    job = define_gated_job("j", selection, checks)
    defs = dg.Definitions(
        assets=[load, publish, announce], asset_checks=checks, jobs=[job], resources=resources
    )
    return bool(defs.resolve_job_def("j").execute_in_process(raise_on_error=False).success)


def test_a_check_on_an_asset_that_nothing_depends_on_is_refused() -> None:
    with pytest.raises(ConfigError) as error:
        define_gated_job("j", [publish], build_upstream_checks(TASK))
    assert "would stop nothing in the job 'j'" in str(error.value)
    assert "asset 'news/daily/load'" in str(error.value)
    assert "asset='load'" in str(error.value)


@pytest.mark.parametrize(
    ("selection", "asset"),
    [
        pytest.param([load], load, id="its own asset, which has run by then"),
        pytest.param([announce], load, id="beyond an asset that is not selected"),
    ],
)
def test_a_check_that_cannot_stop_a_selected_asset_is_refused(selection: Any, asset: Any) -> None:
    with pytest.raises(ConfigError, match="would stop nothing"):
        define_gated_job("j", selection, build_upstream_checks(TASK, asset=asset))


def test_one_good_check_does_not_excuse_another() -> None:
    checks = [*build_upstream_checks(TASK, asset=load), *build_upstream_checks("news/daily/rate")]
    with pytest.raises(ConfigError, match="upstream_news_daily_rate"):
        define_gated_job("j", [publish], checks)


def test_steps_do_not_wait_for_checks_of_what_they_make_themselves() -> None:
    @dg.multi_asset(specs=[dg.AssetSpec("first"), dg.AssetSpec("second", deps=["first"])])
    def both() -> tuple[None, None]:
        return None, None

    with pytest.raises(ConfigError, match="would stop nothing"):
        define_gated_job("j", [both], build_upstream_checks(TASK, asset="first"))


def test_a_check_of_the_asset_itself_stops_what_depends_on_it(receipts: Any, put: Put) -> None:
    checks = build_upstream_checks(TASK, asset=load, variables=DAY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not execute([publish], checks, receipts)
        assert not execute([publish, announce], checks, receipts)
        assert ran == []
        put(task=TASK, **DAY)
        assert execute([publish], checks, receipts)
    assert ran == ["publish"]


@pytest.mark.parametrize(
    "selection",
    ["publish", ["publish"], [dg.AssetKey("publish")], dg.AssetSelection.assets(publish)],
    ids=["text", "names", "keys", "selection"],
)
def test_a_selection_that_says_nothing_of_its_assets_gives_a_warning(
    receipts: Any, selection: Any
) -> None:
    with pytest.warns(UserWarning, match=r"whether the checks of the job 'j' stop anything") as got:
        assert not execute(
            selection, build_upstream_checks(TASK, asset=load, variables=DAY), receipts
        )
    assert got[0].filename == __file__
    assert ran == []


def test_checks_that_are_to_stop_nothing_may_stand_anywhere() -> None:
    shown = [*build_upstream_checks(TASK, blocking=False), *build_health_checks([TASK])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        define_gated_job("j", [publish], shown)
        define_gated_job("j", "publish", shown)
