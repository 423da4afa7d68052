"""The code of the other pages on Dagster runs, and says what they say."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster.components.testing import create_defs_folder_sandbox

from tests.dagster.conftest import Put
from ubunye_core import ReceiptStore
from ubunye_dagster import ReceiptGatesComponent, gated, partition_format, recorded

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
Page = Callable[[str], dict[str, Any]]


def blocks(name: str, language: str) -> list[str]:
    text = (PAGES / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str) -> Page:
    """The names that a page's blocks of code make."""
    monkeypatch.setenv("UBUNYE_STORE", url)

    def run(name: str) -> dict[str, Any]:
        file = tmp_path / "page.py"
        file.write_text("\n\n".join(blocks(name, "python")))
        made: dict[str, Any] = {"__name__": "page"}
        exec(compile(file.read_text(), str(file), "exec", dont_inherit=True), made)
        return made

    return run


def test_the_page_on_the_catalog_reports_as_it_says(
    page: Page, put: Put, capsys: pytest.CaptureFixture[str]
) -> None:
    put(task="pay/monthly/send")
    made = page("dagster-catalog.md")
    dg.Definitions.validate_loadable(made["defs"])
    keys = sorted(spec.key.to_user_string() for spec in made["specs"])
    assert keys == ["pay/monthly/send"]  # calc has run after the store was read
    assert capsys.readouterr().out.splitlines() == [
        "AssetMaterialization pay/monthly/calc",
        "AssetCheckEvaluation pay/monthly/calc",
        "AssetCheckEvaluation pay/monthly/calc",
    ]


def test_the_page_on_checks_names_them_as_they_are(page: Page) -> None:
    made = page("dagster-checks.md")
    dg.Definitions.validate_loadable(made["defs"])
    names = {key.name for check in made["checks"] for key in check.check_keys}
    text = (PAGES / "dagster-checks.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(receipt_\w+)`", text))
    assert names == told


def test_the_component_of_the_page_loads_beside_an_asset(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAY_RECEIPTS", url)
    (text,) = blocks("dagster-component.md", "yaml")
    monthly = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=12)

    @dg.asset(partitions_def=monthly, deps=[["pay", "monthly", "calc"]])
    @recorded("pay/monthly/send", variables={"month": partition_format("%Y-%m")}, store=url)
    @gated("pay/monthly/calc", store=url)
    def send(context: dg.AssetExecutionContext) -> None: ...

    with warnings.catch_warnings(), create_defs_folder_sandbox() as sandbox:
        warnings.simplefilter("ignore", dg.BetaWarning)
        path = sandbox.scaffold_component(component_cls=ReceiptGatesComponent)
        (path / "defs.yaml").write_text(text)
        with sandbox.load_component_and_build_defs(defs_path=path) as (_, defs):
            whole = dg.Definitions.merge(defs, dg.Definitions(assets=[send]))
    dg.Definitions.validate_loadable(whole)
    assert sorted(sensor.name for sensor in whole.sensors or ()) == [
        "pay_send_catches_up",
        "pay_send_when_calculated",
        "receipts_are_ended",
        "receipts_to_catalog",
    ]


def test_a_task_that_moved_keeps_its_gate_its_guard_and_its_past(
    page: Page, store: ReceiptStore, put: Put, instance: dg.DagsterInstance
) -> None:
    made = page("move-from-airflow-to-dagster.md")
    before, after = made["before"], made["after"]
    for definitions in (before, after):
        dg.Definitions.validate_loadable(definitions)

    def launch(asset: str, month: str) -> bool:
        job = after.get_implicit_global_asset_job_def()
        result = job.execute_in_process(
            asset_selection=[dg.AssetKey.from_user_string(asset)],
            partition_key=f"{month}-01",
            instance=instance,
            resources=after.resources,
            raise_on_error=False,
        )
        return bool(result.success)

    put(month="2026-09")  # by Airflow
    assert not launch("pay/monthly/calc", "2026-09")
    assert launch("pay/monthly/send", "2026-09")
    assert not launch("pay/monthly/send", "2026-10")
    assert launch("pay/monthly/calc", "2026-10")
    assert launch("pay/monthly/send", "2026-10")
    context = dg.build_sensor_context(
        instance=instance, repository_def=after.get_repository_def(), resources=after.resources
    )
    reported = made["catalog"].evaluate_tick(context).asset_events
    send = dg.AssetKey(["pay", "monthly", "send"])
    assert send not in [each.asset_key for each in reported]  # Dagster has made it itself
    assert [run.status for run in store.list_runs("pay/monthly/calc")] == [
        "success",
        "skipped",
        "success",
    ]
