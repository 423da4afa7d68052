"""The recipes of the page, run as they stand."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import ReceiptStore, Status, TriggerKind

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "dagster-recipes.md"
CALC, SEND = "pay/monthly/calc", "pay/monthly/send"
EAST = dg.AssetKey(["sales", "daily", "east"])
MONTHS = ["2024-09-01", "2024-10-01", "2024-11-01"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The page's code blocks as one module."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path_factory.mktemp("page") / "recipes.py"
    file.write_text("\n\n".join(blocks))
    module = ModuleType("dagster_recipes")
    sys.modules["dagster_recipes"] = module
    exec(compile(file.read_text(), str(file), "exec", dont_inherit=True), module.__dict__)
    dg.Definitions.validate_loadable(module.__dict__["defs"])
    yield module
    del sys.modules["dagster_recipes"]


def materialized(asset: Any, resources: Any, key: Any, **how: Any) -> Any:
    return dg.materialize(
        [asset], resources=resources, partition_key=key, raise_on_error=False, **how
    )


@pytest.fixture
def newest(page: Any) -> str:
    return str(page.monthly.get_last_partition_key())


def requested(condition: Any, page: Any, months: list[str]) -> list[str]:
    """The months that an asset with this condition is requested for, after these were reported."""

    @dg.asset(partitions_def=page.monthly, deps=[page.calc], automation_condition=condition)
    def after() -> None: ...

    defs = dg.Definitions(assets=[page.calc, after])
    with dg.DagsterInstance.ephemeral() as instance:
        quiet = dg.evaluate_automation_conditions(defs, instance)
        assert quiet.total_requested == 0
        for key in months:
            event = dg.AssetMaterialization(page.calc.key, partition=key)
            instance.report_runless_asset_event(event)
        told = dg.evaluate_automation_conditions(defs, instance, cursor=quiet.cursor)
        return sorted(told.get_requested_partitions(after.key))


@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
def test_the_condition_requests_every_month_that_was_updated(page: Any, newest: str) -> None:
    assert requested(page.updated, page, [newest, *MONTHS]) == [*MONTHS, newest]


@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
def test_eager_leaves_out_a_month_that_comes_late(page: Any, newest: str) -> None:
    assert requested(dg.AutomationCondition.eager(), page, [newest, *MONTHS]) == [newest]


def test_what_a_condition_launches_is_gated_and_sent_once(
    page: Any, receipts: Any, put: Put, store: ReceiptStore
) -> None:
    assert not materialized(page.send, receipts, MONTHS[0]).success
    put(month="2024-09")
    assert materialized(page.send, receipts, MONTHS[0]).success
    assert not materialized(page.send, receipts, MONTHS[0]).success
    assert [run.status for run in store.list_runs(SEND)] == [
        Status.SKIPPED, Status.SUCCESS, Status.SKIPPED
    ]  # fmt: skip


def test_each_part_of_a_multi_asset_has_its_gate_and_its_receipt(
    page: Any, receipts: Any, put: Put, store: ReceiptStore
) -> None:
    put(task="shop/daily/east", day="2024-10-02")
    tags = {"dagster/schedule_name": "nightly"}
    east = materialized(page.regions, receipts, "2024-10-02", selection=[EAST], tags=tags)
    assert east.success
    (receipt,) = store.list_runs("sales/daily/east")
    assert receipt.batch.as_dict() == {"day": "2024-10-02"}
    assert receipt.upstreams[0].task == "shop/daily/east"
    assert receipt.triggered_by is not None
    assert receipt.triggered_by.kind is TriggerKind.SCHEDULE
    assert receipt.window is not None
    assert receipt.orchestrator is not None
    assert not store.list_runs("sales/daily/west")

    whole = materialized(page.regions, receipts, "2024-10-02")
    assert not whole.success
    (refused,) = store.list_runs("sales/daily/west")
    assert (refused.status, refused.outcome) == (Status.SKIPPED, "refused")
    assert [run.status for run in store.list_runs("sales/daily/east")] == [Status.SUCCESS] * 2


def test_gated_on_a_multi_asset_asks_for_every_part_whatever_is_selected(
    page: Any, receipts: Any, put: Put
) -> None:
    @dg.multi_asset(
        specs=[dg.AssetSpec(name, skippable=True) for name in page.REGIONS],
        partitions_def=page.daily,
        can_subset=True,
    )
    @page.gated(["shop/daily/east", "shop/daily/west"], variables=page.day)
    def parts(context: dg.AssetExecutionContext) -> Any:
        for key in context.selected_asset_keys:
            yield dg.MaterializeResult(asset_key=key)

    put(task="shop/daily/east", day="2024-10-02")
    assert not materialized(parts, receipts, "2024-10-02", selection=["east"]).success
    put(task="shop/daily/west", day="2024-10-02")
    assert materialized(parts, receipts, "2024-10-02", selection=["east"]).success


def test_a_day_waits_for_its_month(page: Any, receipts: Any, put: Put) -> None:
    put(task="rates/monthly/load", month="2024-10")
    assert materialized(page.convert, receipts, "2024-10-31").success
    assert not materialized(page.convert, receipts, "2024-11-01").success


def test_a_month_waits_for_each_of_its_days(page: Any, receipts: Any, put: Put) -> None:
    days = [datetime(2024, 10, 1, tzinfo=UTC) + timedelta(days=n) for n in range(31)]
    for at in days[:-1]:
        put(task="sales/daily/load", run_id=f"r{at:%d}", day=f"{at:%Y-%m-%d}")
    assert not materialized(page.close, receipts, "2024-10-01").success
    put(task="sales/daily/load", run_id="r31", day="2024-10-31")
    assert materialized(page.close, receipts, "2024-10-01").success


def test_a_day_waits_for_the_day_before(page: Any, receipts: Any, put: Put) -> None:
    put(task="sales/daily/load", day="2024-10-09")
    assert materialized(page.compare, receipts, "2024-10-10").success
    assert not materialized(page.compare, receipts, "2024-10-09").success


def test_a_day_of_a_region_waits_for_that_region(
    page: Any, receipts: Any, put: Put, store: ReceiptStore
) -> None:
    put(task="shop/static/load", region="east")
    key = dg.MultiPartitionKey({"day": "2024-10-10", "region": "east"})
    assert materialized(page.sales_by_region, receipts, key).success
    (made,) = store.list_runs("sales/daily/by_region")
    assert made.batch.as_dict() == {"day": "2024-10-10", "region": "east"}
    other = dg.MultiPartitionKey({"day": "2024-10-10", "region": "west"})
    assert not materialized(page.sales_by_region, receipts, other).success
