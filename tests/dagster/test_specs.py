"""External assets for the tasks of a store."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import ConfigError, Orchestrator, Pin, ReceiptStore, StoreUnavailableError
from ubunye_dagster import (
    build_health_checks,
    build_upstream_checks,
    define_gated_job,
    load_receipt_asset_specs,
)

CALC, SEND = "pay/monthly/calc", "pay/monthly/send"


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


@pytest.fixture
def pinned(store: ReceiptStore, put: Put) -> Any:
    """Put a receipt of a task that was let through by others."""

    def put_pinned(task: str, *upstreams: str, by: str = "airflow", run_id: str = "p1") -> None:
        receipt = put("running", task=task, run_id=run_id)
        store.save(
            replace(
                receipt,
                upstreams=tuple(Pin(task=each, run_id="u1") for each in upstreams),
                orchestrator=Orchestrator(name=by),
            )
        )

    return put_pinned


def by_key(specs: list[dg.AssetSpec]) -> dict[str, dg.AssetSpec]:
    dg.Definitions.validate_loadable(dg.Definitions(assets=specs))
    return {spec.key.to_user_string(): spec for spec in specs}


def deps(spec: dg.AssetSpec) -> list[str]:
    return sorted(dep.asset_key.to_user_string() for dep in spec.deps)


def test_each_task_is_an_asset_that_depends_on_what_let_it_through(
    store: ReceiptStore, put: Put, pinned: Any
) -> None:
    put()
    pinned(SEND, CALC, "bank/daily/rates")
    specs = by_key(load_receipt_asset_specs(store=store))
    assert sorted(specs) == [CALC, SEND]
    send = specs[SEND]
    assert deps(send) == ["bank/daily/rates", CALC]
    assert send.kinds == {"airflow"}
    assert send.group_name == "pay"
    assert send.tags["ubunye/usecase"] == "pay"
    assert send.tags["ubunye/package"] == "monthly"
    assert send.metadata["ubunye/task"] == SEND
    assert send.description == f"The task {SEND}, known by its receipts; airflow runs it."
    assert deps(specs[CALC]) == []


def test_a_task_may_be_named_before_it_has_run(store: ReceiptStore) -> None:
    (spec,) = load_receipt_asset_specs([CALC], store=store)
    assert "has never run" in (spec.description or "")
    assert load_receipt_asset_specs("pay/*/*", store=store) == []


def test_names_and_patterns_say_whose_an_asset_is_and_what_it_is(
    store: ReceiptStore, put: Put
) -> None:
    monthly = dg.MonthlyPartitionsDefinition("2026-01-01")
    put()
    put(task=SEND)
    put(task="news/daily/load")
    specs = by_key(
        load_receipt_asset_specs(
            store=store,
            owners={"*/*/*": "team:data", "pay/*/*": ["Payroll crew!", "thandi@example.com"]},
            descriptions={CALC: "What everybody is paid."},
            partitions={"pay/monthly/*": monthly},
            exclude=[SEND],
            group_name="elsewhere",
        )
    )
    assert sorted(specs) == ["news/daily/load", CALC]
    assert specs[CALC].owners == ["team:Payroll-crew", "thandi@example.com"]
    assert specs["news/daily/load"].owners == ["team:data"]
    assert specs[CALC].description == "What everybody is paid."
    assert specs[CALC].partitions_def == monthly
    assert specs["news/daily/load"].partitions_def is None
    assert {spec.group_name for spec in specs.values()} == {"elsewhere"}


def test_an_asset_of_another_name_is_the_same_to_those_that_depend_on_it(
    store: ReceiptStore, put: Put, pinned: Any
) -> None:
    put()
    pinned(SEND, CALC)
    keys: Any = {CALC: ["money", "calculated"], SEND: dg.AssetKey("sent")}
    specs = by_key(load_receipt_asset_specs(store=store, asset_keys=keys))
    assert sorted(specs) == ["money/calculated", "sent"]
    assert deps(specs["sent"]) == ["money/calculated"]


def test_names_that_dagster_refuses_are_mended(
    store: ReceiptStore, put: Put, pinned: Any, receipts: Any
) -> None:
    long = "x" * 70
    task = f"pay-roll.v2/{long}/calc-1.b"
    pinned(task, by="My Scheduler (2)!")
    specs = load_receipt_asset_specs(store=store)
    (spec,) = specs
    assert spec.key == dg.AssetKey(["pay-roll.v2", long, "calc-1.b"])
    assert spec.group_name == "pay_roll_v2"
    assert spec.kinds == {"my-scheduler-2"}
    assert "ubunye/package" not in spec.tags

    @dg.asset(deps=[spec])
    def pays() -> None: ...

    checks = [*build_upstream_checks({"task": task, "variables": []}), *build_health_checks([task])]
    defs = dg.Definitions(
        assets=[*specs, pays],
        asset_checks=checks,
        jobs=[define_gated_job("pay", [pays], checks)],
        resources=receipts,
    )
    dg.Definitions.validate_loadable(defs)
    result = defs.resolve_job_def("pay").execute_in_process(raise_on_error=False)
    assert not result.success  # it has not succeeded
    assert len(result.get_asset_check_evaluations()) == 2


def test_tasks_that_wait_for_each_other_are_told_and_drawn_one_way(
    store: ReceiptStore, pinned: Any
) -> None:
    pinned(CALC, CALC, SEND)
    pinned(SEND, "bank/daily/rates")
    pinned("bank/daily/rates", CALC)
    with pytest.warns(UserWarning, match="wait for each other") as told:
        specs = load_receipt_asset_specs(store=store)
    assert len(told) == 1
    found = by_key(specs)
    edges = {name: deps(spec) for name, spec in found.items()}
    assert edges == {"bank/daily/rates": [CALC], CALC: [SEND], SEND: []}


def test_receipts_that_cannot_be_read_are_named(store: ReceiptStore, put: Put, url: str) -> None:
    put()
    (Path(url) / "pay" / "monthly" / "calc" / "damaged.json").write_text("{")
    with pytest.warns(UserWarning, match=r"damaged\.json"):
        (spec,) = load_receipt_asset_specs(store=store)
    assert spec.key.to_user_string() == CALC


def test_a_store_that_cannot_be_read_is_said_aloud(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError):
        load_receipt_asset_specs(store=str(tmp_path / "gone"))
    with pytest.raises(ConfigError, match="pattern of tasks"):
        load_receipt_asset_specs("pay/*", store=str(tmp_path))
